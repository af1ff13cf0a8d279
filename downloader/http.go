package downloader

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/weburl"
	"github.com/skeincrawl/skein/settings"
)

// The flags of a response that is not all that its server meant to send.
const (
	// FlagPartial marks a body of unannounced length that ended with its
	// connection: it may be whole.
	FlagPartial = "partial"

	// FlagDataLoss marks a body that is shorter than announced.
	FlagDataLoss = "dataloss"
)

const defaultTimeout = 180 * time.Second

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

	// Strict makes an error of a response that breaks the rules of HTTP/1; else
	// what browsers can read is mended and flagged.
	Strict bool `setting:"HTTP_STRICT"`

	// MaxIdle bounds the idle connections over all hosts.
	MaxIdle int `setting:"DOWNLOAD_MAX_IDLE_CONNECTIONS"`

	// MaxPerHost bounds the connections to one host, since net/http may open one
	// more than it needs. 0 is no limit.
	MaxPerHost int `setting:"CONCURRENT_REQUESTS"`

	// MaxIdlePerHost bounds the idle connections to one host.
	MaxIdlePerHost int `setting:"CONCURRENT_REQUESTS_PER_DOMAIN"`

	// TLS is the configuration of connections over TLS, see [NewTLS]. Nil is that
	// of Go.
	TLS *tls.Config

	// Dial opens connections, as [Dialer.Dial] does. Nil is a [Dialer] without a
	// cache.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// Log takes the warnings. The zero value is silent.
	Log zerolog.Logger
}

// HTTP is the download handler for http and https: HTTP/1.1, and HTTP/2 where
// the server offers it. It sends a request as it is and returns the response as
// it is: redirects, cookies, retries and compression are the business of the
// middlewares. It is safe for concurrent use.
type HTTP struct {
	cfg      HTTPConfig
	sizes    sizes
	pools    *pools
	buffers  Buffers
	lossTold atomic.Bool
}

var _ crawl.Fetcher = (*HTTP)(nil)

// NewHTTP returns a handler. [HTTP.Close] ends it. Timeout defaults to 180 s.
func NewHTTP(cfg HTTPConfig) *HTTP {
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.Dial == nil {
		cfg.Dial = plainDialer().Dial
	}
	return &HTTP{cfg: cfg, sizes: sizes{max: cfg.MaxSize, warn: cfg.WarnSize, log: cfg.Log}, pools: newPools(cfg)}
}

// httpFromSettings returns the handler that a crawl's settings ask for.
func httpFromSettings(env *crawl.Env) (crawl.Fetcher, error) {
	cfg := settings.Decode[HTTPConfig](env.Settings)
	if perAddress := env.Settings.Int("CONCURRENT_REQUESTS_PER_IP"); perAddress > 0 {
		cfg.MaxIdlePerHost = perAddress
	}
	cfg.Dial, cfg.Log = env.Dial, env.Logger("downloader")
	var err error
	cfg.TLS, err = tlsFromSettings(env)
	return NewHTTP(cfg), err
}

// Close closes the idle connections; it never fails. No Fetch may follow; one that
// is still running goes on, and its connection is closed when it ends.
func (h *HTTP) Close() error {
	h.pools.closeIdle()
	return nil
}

// fetch is one download.
type fetch struct {
	r       *crawl.Request
	caller  context.Context //nolint:containedctx // a fetch lives as long as one call.
	ctx     context.Context //nolint:containedctx // the same, with the timeout.
	timeout time.Duration
	reading bool // the headers are there
}

// begin returns a download that ends with ctx or when its time is over, and the
// context of it.
func begin(ctx context.Context, r *crawl.Request, timeout time.Duration) (*fetch, context.Context, context.CancelFunc) {
	f := &fetch{r: r, caller: ctx, timeout: timeout}
	if r.Options.Timeout > 0 {
		f.timeout = r.Options.Timeout
	}
	var cancel context.CancelFunc
	f.ctx, cancel = context.WithTimeoutCause(ctx, f.timeout, errTimeout)
	return f, f.ctx, cancel
}

// Fetch downloads r. An error is a [crawl.DownloadError], or wraps the cause of
// ctx if that ended first: [crawl.ErrStopped] when the crawl stops. The
// latency of the response counts from the writing of the request if the
// context is of [WithSent], else from the beginning.
func (h *HTTP) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	f, ctx, cancel := begin(ctx, r, h.cfg.Timeout)
	defer cancel()
	req, err := newRequest(r)
	if err != nil {
		return nil, unsupported(err)
	}
	a := &awaited{head: r.Method == http.MethodHead}
	ctx, sent := trace(context.WithValue(ctx, fetchKey{}, ctx), a)
	defer sent.end()
	ctx, transport, err := h.route(ctx, req, &r.Options)
	if err != nil {
		return nil, unsupported(err)
	}
	h.pools.dialer.fetches.Add(1)
	defer h.pools.dialer.fetches.Add(-1)
	start := time.Now()
	resp, err := transport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, f.failure(err)
	}
	defer resp.Body.Close() //nolint:errcheck // what can fail here was read already, or is not wanted.
	latency := sent.since(start)
	if err := h.refuses(a); err != nil {
		return nil, err
	}
	body, flags, err := h.body(f, resp)
	if err == nil {
		err = h.refuses(a)
	}
	if err != nil {
		return nil, err
	}
	return &crawl.Response{
		Request: r, URL: weburl.TrimFragment(r.URL), Status: resp.StatusCode, Header: resp.Header,
		Body: body, Flags: append(a.flags(), flags...), Proto: resp.Proto, Latency: latency,
	}, nil
}

// refuses returns the error for a response in which something was mended, if that
// is none to be passed on.
func (h *HTTP) refuses(a *awaited) error {
	if !h.cfg.Strict || a.notes == 0 {
		return nil
	}
	return Malformed(fmt.Errorf("the response breaks the rules of HTTP/1: %s (HTTP_STRICT)", strings.Join(a.flags(), ", ")))
}

// body reads the body of a response within its limits.
func (h *HTTP) body(f *fetch, resp *http.Response) ([]byte, []string, error) {
	if resp.Body == http.NoBody || f.r.Method == http.MethodHead || resp.StatusCode == http.StatusSwitchingProtocols {
		return nil, nil, nil
	}
	f.reading = true
	limit := h.sizes.limit(f.r)
	if size := resp.ContentLength; limit > 0 && size > limit {
		return nil, nil, h.sizes.tooLarge(f.r, "Expected to receive", size)
	}
	h.sizes.check(f.r, "Expected to receive", resp.ContentLength)
	body, err := h.buffers.Read(f.ctx, resp.Body, resp.ContentLength, limit)
	switch {
	case err == nil:
	case errors.Is(err, ErrTooLarge):
		return nil, nil, h.sizes.tooLarge(f.r, "Received", int64(len(body)))
	default:
		return h.broken(f, resp, body, err)
	}
	if resp.ContentLength < 0 {
		h.sizes.check(f.r, "Received", int64(len(body)))
	}
	if endsWithConnection(resp) {
		return body, []string{FlagPartial}, nil
	}
	return body, nil, nil
}

// broken decides what becomes of a body that could not be read to its end. A
// compressed body that is whole by its own checksum is no loss: servers exist
// that announce the length before compression.
func (h *HTTP) broken(f *fetch, resp *http.Response, body []byte, err error) ([]byte, []string, error) {
	err = f.failure(err)
	switch {
	case crawl.KindOf(err) != crawl.FailDataLoss:
		return nil, nil, err
	case !h.cfg.Strict && wholeGzip(resp.Header, body, h.sizes.limit(f.r)):
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
