package downloader

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/weburl"
)

// The flags of a response that is not all that its server meant to send.
const (
	// FlagPartial marks a body of unannounced length that ended with its
	// connection: it may be whole.
	FlagPartial = "partial"

	// FlagDataLoss marks a body that is shorter than announced.
	FlagDataLoss = "dataloss"
)

// HTTPConfig is what the handler for http and https takes from the settings.
type HTTPConfig struct {
	// Timeout bounds a download as a whole, from the DNS query to the last byte.
	Timeout time.Duration `setting:"DOWNLOAD_TIMEOUT"`

	// MaxSize is the largest body that is read, in bytes. 0 is no limit.
	MaxSize int64 `setting:"DOWNLOAD_MAXSIZE"`

	// WarnSize is the size in bytes above which a body is warned of. 0 is never.
	WarnSize int64 `setting:"DOWNLOAD_WARNSIZE"`

	// FailOnDataLoss makes an error of a body that is shorter than announced;
	// else it is passed on with [FlagDataLoss].
	FailOnDataLoss bool `setting:"DOWNLOAD_FAIL_ON_DATALOSS"`

	// VerifyCertificates refuses servers whose certificate is not valid.
	VerifyCertificates bool `setting:"DOWNLOAD_VERIFY_CERTIFICATES"`

	// MaxIdle bounds the idle connections over all hosts.
	MaxIdle int `setting:"DOWNLOAD_MAX_IDLE_CONNECTIONS"`

	// MaxPerHost bounds the connections to one host, since net/http may open one
	// more than it needs. 0 is no limit.
	MaxPerHost int `setting:"CONCURRENT_REQUESTS"`

	// MaxIdlePerHost bounds the idle connections to one host.
	MaxIdlePerHost int `setting:"CONCURRENT_REQUESTS_PER_DOMAIN"`

	// Log takes the warnings. The zero value is silent.
	Log zerolog.Logger
}

// HTTP is the download handler for http and https: HTTP/1.1, and HTTP/2 where
// the server offers it. It sends a request as it is and returns the response as
// it is: redirects, cookies, retries and compression are the business of the
// middlewares. It is safe for concurrent use.
type HTTP struct {
	cfg       HTTPConfig
	transport *http.Transport // for what goes directly
	proxied   *http.Transport
	dialer    *dialer
	buffers   Buffers
	lossTold  atomic.Bool
}

var _ crawl.Fetcher = (*HTTP)(nil)

// NewHTTP returns a handler. [HTTP.Close] ends it. Timeout defaults to 180 s.
func NewHTTP(cfg HTTPConfig) *HTTP {
	if cfg.Timeout <= 0 {
		cfg.Timeout = 180 * time.Second
	}
	h := &HTTP{cfg: cfg}
	h.transport, h.proxied, h.dialer = newTransports(cfg)
	return h
}

// Close closes the idle connections. No Fetch may follow; one that is still
// running goes on, and its connection is closed when it ends.
func (h *HTTP) Close() {
	h.dialer.closeIdle()
}

// fetch is one download.
type fetch struct {
	r       *crawl.Request
	caller  context.Context //nolint:containedctx // a fetch lives as long as one call.
	ctx     context.Context //nolint:containedctx // the same, with the timeout.
	timeout time.Duration
	reading bool // the headers are there
}

// Fetch downloads r. An error is a [crawl.DownloadError], or wraps the cause of
// ctx if that ended first: [crawl.ErrStopped] when the crawl stops. The
// latency of the response counts from the writing of the request if the
// context is of [WithSent], else from the beginning.
func (h *HTTP) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	f := &fetch{r: r, caller: ctx, timeout: h.cfg.Timeout}
	if r.Options.Timeout > 0 {
		f.timeout = r.Options.Timeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, errTimeout)
	defer cancel()
	f.ctx = ctx
	req, err := newRequest(r)
	if err != nil {
		return nil, unsupported(err)
	}
	ctx, sent := trace(context.WithValue(ctx, fetchKey{}, ctx))
	defer sent.end()
	ctx, transport, err := h.route(ctx, req, &r.Options)
	if err != nil {
		return nil, unsupported(err)
	}
	h.dialer.fetches.Add(1)
	defer h.dialer.fetches.Add(-1)
	start := time.Now()
	resp, err := transport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, f.failure(err)
	}
	defer resp.Body.Close() //nolint:errcheck // what can fail here was read already, or is not wanted.
	latency := sent.since(start)
	body, flags, err := h.body(f, resp)
	if err != nil {
		return nil, err
	}
	return &crawl.Response{
		Request: r, URL: weburl.TrimFragment(r.URL), Status: resp.StatusCode, Header: resp.Header,
		Body: body, Flags: flags, Proto: resp.Proto, Latency: latency,
	}, nil
}

// body reads the body of a response within its limits.
func (h *HTTP) body(f *fetch, resp *http.Response) ([]byte, []string, error) {
	if resp.Body == http.NoBody || f.r.Method == http.MethodHead || resp.StatusCode == http.StatusSwitchingProtocols {
		return nil, nil, nil
	}
	f.reading = true
	limit := limitOf(f.r, h.cfg.MaxSize)
	if size := resp.ContentLength; limit > 0 && size > limit {
		return nil, nil, h.tooLarge(f.r, "Expected to receive", size, limit)
	}
	h.warnSize(f.r, "Expected to receive", resp.ContentLength)
	body, err := h.buffers.Read(resp.Body, resp.ContentLength, limit)
	switch {
	case err == nil:
	case errors.Is(err, ErrTooLarge):
		return nil, nil, h.tooLarge(f.r, "Received", int64(len(body)), limit)
	default:
		return h.broken(f, resp, body, err)
	}
	if resp.ContentLength < 0 {
		h.warnSize(f.r, "Received", int64(len(body)))
	}
	if endsWithConnection(resp) {
		return body, []string{FlagPartial}, nil
	}
	return body, nil, nil
}

// limitOf returns the largest size of the body for a request, 0 if there is none.
func limitOf(r *crawl.Request, all int64) int64 {
	if r.Options.MaxSize != 0 {
		return max(r.Options.MaxSize, 0)
	}
	return all
}

func (h *HTTP) tooLarge(r *crawl.Request, what string, size, limit int64) error {
	text := fmt.Sprintf("%s %d bytes which is larger than download max size (%d) in request %v.", what, size, limit, r)
	h.cfg.Log.Warn().Msg(text)
	return TooLarge(errors.New(text))
}

func (h *HTTP) warnSize(r *crawl.Request, what string, size int64) {
	if h.cfg.WarnSize > 0 && size > h.cfg.WarnSize {
		h.cfg.Log.Warn().Msgf("%s %d bytes which is larger than download warn size (%d) in request %v.", what, size, h.cfg.WarnSize, r)
	}
}

// broken decides what becomes of a body that could not be read to its end. A
// compressed body that is whole by its own checksum is no loss: servers exist
// that announce the length before compression.
func (h *HTTP) broken(f *fetch, resp *http.Response, body []byte, err error) ([]byte, []string, error) {
	err = f.failure(err)
	switch {
	case crawl.KindOf(err) != crawl.FailDataLoss:
		return nil, nil, err
	case wholeGzip(resp.Header, body, limitOf(f.r, h.cfg.MaxSize)):
		return body, nil, nil
	case !h.cfg.FailOnDataLoss:
		return body, []string{FlagDataLoss}, nil
	}
	if h.lossTold.CompareAndSwap(false, true) {
		h.cfg.Log.Warn().Msgf("Got data loss in %s. If you want to process broken responses set the setting "+
			"DOWNLOAD_FAIL_ON_DATALOSS = False -- This message won't be shown in further requests", f.r.URL)
	}
	return nil, nil, err
}

// endsWithConnection reports whether nothing but the end of the connection told
// where the body ends.
func endsWithConnection(resp *http.Response) bool {
	return resp.ProtoMajor == 1 && resp.ContentLength < 0 && len(resp.TransferEncoding) == 0
}
