package middleware

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/settings"
)

func init() { downloader.Middlewares.Register("httpcompression", newCompression) }

// The flags of a response whose encoding was not what it said.
const (
	// FlagTruncated marks a compressed body that breaks off or is damaged; the
	// body holds what could be decoded.
	FlagTruncated = "truncated"

	// FlagNotGzip marks a body that is not compressed although its header says
	// so; the body is as it came.
	FlagNotGzip = "notgzip"
)

type compressionConfig struct {
	Enabled  bool  `setting:"COMPRESSION_ENABLED"`
	MaxSize  int64 `setting:"DOWNLOAD_MAXSIZE"`
	WarnSize int64 `setting:"DOWNLOAD_WARNSIZE"`
	Strict   bool  `setting:"HTTP_STRICT"`
}

// newCompression asks for compressed responses and decodes them.
func newCompression(env *crawl.Env) (downloader.Middleware, error) {
	cfg := settings.Decode[compressionConfig](env.Settings)
	if !cfg.Enabled {
		return nil, nil
	}
	log, stats := env.Logger("httpcompression"), env.Stats
	return func(next crawl.Fetcher) crawl.Fetcher {
		d := &decoder{next: next, cfg: cfg, log: log, stats: stats, codings: newCodings()}
		return setHeaders(http.Header{"Accept-Encoding": {"gzip, deflate, br, zstd"}}, d)
	}, nil
}

type decoder struct {
	next  crawl.Fetcher
	cfg   compressionConfig
	log   zerolog.Logger
	stats *crawl.Stats

	responses, bytes counter
	buffers          downloader.Buffers
	codings          map[string]*coding
}

func (d *decoder) inner() crawl.Fetcher { return d.next }

// Fetch decodes the response to r in place.
func (d *decoder) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	resp, err := d.next.Fetch(ctx, r)
	if err != nil || r.Method == http.MethodHead || len(resp.Body) == 0 || len(resp.Header["Content-Encoding"]) == 0 {
		return resp, err
	}
	encoded := len(resp.Body)
	if err := d.decode(ctx, r, resp); err != nil {
		return nil, err
	}
	d.responses.add(d.stats, "httpcompression/response_count", 1)
	d.bytes.add(d.stats, "httpcompression/response_bytes", int64(len(resp.Body)))
	if w := int(d.cfg.WarnSize); w > 0 && encoded < w && len(resp.Body) >= w {
		d.log.Warn().Msgf("%v body size after decompression (%d B) is larger than the download warning size (%d B).", resp, len(resp.Body), w)
	}
	return resp, nil
}

// maxCodings is how many codings a body may be in, one around the other. Servers
// that mean well use one; more cost a decoding of up to DOWNLOAD_MAXSIZE each.
const maxCodings = 10

// decode undoes the codings of a response from the last back to the first that
// it does not know.
func (d *decoder) decode(ctx context.Context, r *crawl.Request, resp *crawl.Response) error {
	codings := split(resp.Header["Content-Encoding"])
	if len(codings) > maxCodings {
		return undecodable(resp, fmt.Errorf("it has %d content codings, more than %d", len(codings), maxCodings))
	}
	for len(codings) > 0 {
		last := codings[len(codings)-1]
		if c := d.codings[last]; c != nil {
			if err := d.undo(ctx, c, r, resp); err != nil {
				return err
			}
		} else if last != "identity" {
			break
		}
		codings = codings[:len(codings)-1]
	}
	if len(codings) == 0 {
		resp.Header.Del("Content-Encoding")
		return nil
	}
	resp.Header["Content-Encoding"] = codings
	d.log.Warn().Msgf("httpcompression cannot decode the response for %s from unsupported encoding(s) '%s'.", resp.URL, strings.Join(codings, ","))
	return nil
}

// split returns the codings of all lines of a Content-Encoding header, in lower
// case and in the order in which they were applied.
func split(lines []string) []string {
	var all []string
	for _, line := range lines {
		for coding := range strings.SplitSeq(line, ",") {
			if coding = strings.ToLower(strings.TrimSpace(coding)); coding != "" {
				all = append(all, coding)
			}
		}
	}
	return all
}

// undo decodes the first compressed stream of a body. What follows it is junk
// that browsers ignore as well.
func (d *decoder) undo(ctx context.Context, c *coding, r *crawl.Request, resp *crawl.Response) error {
	if len(resp.Body) == 0 {
		return nil
	}
	if c.magic != "" && !strings.HasPrefix(string(resp.Body[:min(len(resp.Body), len(c.magic))]), c.magic) {
		return d.mend(resp, FlagNotGzip, errors.New("it is not compressed although its Content-Encoding says so"))
	}
	limit := d.limit(r)
	body, err := c.read(ctx, &d.buffers, resp.Body, limit)
	switch {
	case err == nil:
	case errors.Is(err, downloader.ErrTooLarge):
		return d.tooLarge(r, resp, len(body), limit)
	case ctx.Err() != nil: // it had to wait for memory
		return fmt.Errorf("decode %v: %w", resp, context.Cause(ctx))
	case len(body) == 0:
		return undecodable(resp, err)
	default:
		if err := d.mend(resp, FlagTruncated, err); err != nil {
			return err
		}
	}
	resp.Body = body
	downloader.Holds(ctx, len(body))
	return nil
}

// mend flags a response that does not keep its Content-Encoding. Where only what
// is right may pass, it returns the error for it.
func (d *decoder) mend(resp *crawl.Response, f string, why error) error {
	if d.cfg.Strict {
		return undecodable(resp, why)
	}
	flag(resp, f)
	return nil
}

func undecodable(resp *crawl.Response, why error) error {
	return downloader.Malformed(fmt.Errorf("decode %v: %w", resp, why))
}

func (d *decoder) limit(r *crawl.Request) int64 {
	if r.Options.MaxSize != 0 {
		return max(r.Options.MaxSize, 0)
	}
	return d.cfg.MaxSize
}

func (d *decoder) tooLarge(r *crawl.Request, resp *crawl.Response, size int, limit int64) error {
	text := fmt.Sprintf("%v Ignored response %v because its body (%d B compressed, %d B decompressed so far) "+
		"exceeded DOWNLOAD_MAXSIZE (%d B) during decompression.", r, resp, len(resp.Body), size, limit)
	d.log.Warn().Msg(text)
	return downloader.TooLarge(errors.New(text))
}

// flag adds a flag once.
func flag(r *crawl.Response, f string) {
	if !slices.Contains(r.Flags, f) {
		r.Flags = append(slices.Clip(r.Flags), f)
	}
}
