package downloader

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// probe is a handler that tells what was done with it.
type probe struct {
	mu            sync.Mutex
	built, closed int
	fetched       []string
	err           error // of the constructor
	closing       error
}

func (p *probe) Fetch(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fetched = append(p.fetched, r.URL)
	return &crawl.Response{Request: r, URL: r.URL, Status: 200}, nil
}

func (p *probe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed++
	return p.closing
}

func init() {
	Handlers.Register("probe", func(env *crawl.Env) (crawl.Fetcher, error) {
		p := env.Spider.(*probeSpider).probe
		p.built++
		return p, p.err
	})
	Handlers.Register("nothing", func(*crawl.Env) (crawl.Fetcher, error) { return nil, nil })
	Handlers.Register("panics", func(*crawl.Env) (crawl.Fetcher, error) { panic("oops") })
}

type probeSpider struct {
	crawl.Spider
	probe *probe
}

// newRouter returns the router for DOWNLOAD_HANDLERS, whose handler "probe" is p.
func newRouter(t *testing.T, p *probe, values map[string]any) (Router, error) {
	t.Helper()
	env, _ := newEnv(t, values)
	env.Spider, env.Dial = &probeSpider{probe: p}, plainDialer().Dial
	return NewRouter(env)
}

// A handler is built when it is first needed, once for all its schemes and for
// all who ask at once, and closed once.
func TestHandlers(t *testing.T) {
	p := &probe{closing: errors.New("stuck")}
	router, err := newRouter(t, p, map[string]any{"DOWNLOAD_HANDLERS": map[string]any{
		"s3": "probe", "gopher": "probe", "ftp": nil, "https": "scrapy.core.downloader.handlers.http2.H2DownloadHandler",
	}})
	if err != nil || p.built != 0 {
		t.Fatalf("built %d, %v, want nothing built", p.built, err)
	}
	var wg sync.WaitGroup
	for _, u := range []string{"s3://bucket/key", "GOPHER://a.test/", "s3://bucket/other"} {
		wg.Go(func() { mustFetch(t, router, &crawl.Request{URL: u}) })
	}
	wg.Wait()
	if p.built != 1 || len(p.fetched) != 3 {
		t.Errorf("built %d, fetched %v, want one handler for all", p.built, p.fetched)
	}
	_, err = router.Fetch(t.Context(), &crawl.Request{URL: "ftp://a.test/"})
	wantFailure(t, err, crawl.FailUnsupported, "UnsupportedURLSchemeError")
	if router["https"] != router["http"] {
		t.Error("http and https have different handlers")
	}
	mustFetch(t, router, &crawl.Request{URL: "data:,x"})
	if err := router.Close(); err == nil || err.Error() != "close the download handler probe: stuck" || p.closed != 1 {
		t.Errorf("closed %d times, %v", p.closed, err)
	}
}

// What was never needed is neither built nor closed.
func TestHandlersUnused(t *testing.T) {
	p := &probe{}
	router, err := newRouter(t, p, map[string]any{"DOWNLOAD_HANDLERS": map[string]any{"s3": "probe"}})
	if err = errors.Join(err, router.Close()); err != nil || p.built != 0 || p.closed != 0 {
		t.Errorf("built %d, closed %d, %v", p.built, p.closed, err)
	}
}

// A handler that can not be built fails its requests, each time, and no other.
func TestHandlersBroken(t *testing.T) {
	p := &probe{err: errors.New("no key")}
	router, err := newRouter(t, p, map[string]any{"DOWNLOAD_HANDLERS": map[string]any{"s3": "probe", "x": "nothing", "y": "panics"}})
	if err != nil {
		t.Fatal(err)
	}
	for u, want := range map[string]string{
		"s3://b/k": "build the download handler probe: no key", "x://b/k": "build the download handler nothing: its settings turn it off",
		"y://b/k": "build the download handler panics: panic: oops",
	} {
		for range 2 {
			_, err := router.Fetch(t.Context(), &crawl.Request{URL: u})
			wantFailure(t, err, crawl.FailUnsupported, "UnsupportedURLSchemeError")
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: error = %v, want %s", u, err, want)
			}
		}
	}
	if err := router.Close(); err != nil || p.built != 1 || p.closed != 0 {
		t.Errorf("built %d, closed %d, %v", p.built, p.closed, err)
	}
}

// What handlers could not be built with is told before the first request, all at
// once and with what there is.
func TestHandlersRefused(t *testing.T) {
	_, err := newRouter(t, &probe{}, map[string]any{
		"DOWNLOAD_HANDLERS": map[string]any{"http": "htpp", "s3": "scrapy.core.downloader.handlers.s3.S3DownloadHandler"}, "DOWNLOADER_CLIENT_TLS_CIPHERS": "HIGH",
		"DOWNLOAD_TLS_MIN_VERSION": "TLSv1.3",
	})
	for _, want := range []string{
		`DOWNLOADER_CLIENT_TLS_CIPHERS="HIGH": there is no cipher "HIGH" in Go`,
		`DOWNLOAD_HANDLERS of http URLs: there is no download handler "htpp" (this binary has data, file, ftp, http, `, `did you mean "http"?`,
		`DOWNLOAD_HANDLERS of s3 URLs: there is no download handler "scrapy.core.downloader.handlers.s3.S3DownloadHandler"`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %s", err, want)
		}
	}
}

// Scrapy's class paths name the same handlers.
func TestHandlersOfScrapy(t *testing.T) {
	for class, want := range map[string]string{
		"datauri.DataURIDownloadHandler": "data", "file.FileDownloadHandler": "file", "ftp.FTPDownloadHandler": "ftp",
		"http.HTTPDownloadHandler": "http", "http11.HTTP11DownloadHandler": "http", "http2.H2DownloadHandler": "http", "_httpx.HttpxDownloadHandler": "http",
	} {
		router, err := newRouter(t, &probe{}, map[string]any{"DOWNLOAD_HANDLERS": map[string]any{"x": "scrapy.core.downloader.handlers." + class, "y": want}})
		if err != nil {
			t.Errorf("%s: %v", class, err)
			continue
		}
		x, y := router["x"].(*lazy), router["y"].(*lazy)
		fx, errX := x.build()
		fy, errY := y.build()
		if errX != nil || errY != nil || typeName(fx) != typeName(fy) {
			t.Errorf("%s is a %s (%v), want a %s (%v)", class, typeName(fx), errX, typeName(fy), errY)
		}
	}
}

func typeName(f crawl.Fetcher) string { return fmt.Sprintf("%T", f) }

// What a handler of another kind does counts as use of the wire, so that its
// servers are treated politely too; but not what [Local] ones do.
func TestHandlersTried(t *testing.T) {
	router, err := newRouter(t, &probe{}, map[string]any{"DOWNLOAD_HANDLERS": map[string]any{"s3": "probe"}})
	if err != nil {
		t.Fatal(err)
	}
	for u, want := range map[string]bool{"s3://b/k": true, "data:,x": false, "file:///nowhere": false, "gopher://a.test/": false} {
		ctx := WithSent(t.Context(), func(time.Time) {})
		_, _ = router.Fetch(ctx, &crawl.Request{URL: u, Trail: fromStart})
		if got := Tried(ctx); got != want {
			t.Errorf("%s: Tried = %v, want %v", u, got, want)
		}
	}
}
