package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/crawltest"
)

// CRAWL-01: a site is crawled as a whole, each page once.
func TestFollowAll(t *testing.T) {
	s := crawltest.NewSite(crawltest.Config{Pages: 11, Links: 4})
	srv := serve(t, s.ServeHTTP)
	p := (&probe{}).starts(srv.URL + "/p/0")
	p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		for l := range r.Links() {
			out.Follow(l.URL, nil)
		}
		return nil
	}
	p.crawl(t).want(t, "finished", map[string]int64{"response_received_count": 11})
	for path, n := range s.Hits() {
		if n != 1 {
			t.Errorf("%s was fetched %d times", path, n)
		}
	}
}

// CRAWL-02: two retries, and then the request is given up.
func TestRetries(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/503":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/before":
			drop(w, r)
		case "/after":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "half")
			drop(w, r)
		}
	})
	for name, c := range map[string]struct {
		url  string
		none bool // no response at all
	}{
		"503": {srv.URL + "/503", false}, "refused": {"http://127.0.0.1:1/", true}, "no host": {"http://no-such-host.invalid/", true},
		"dropped before data": {srv.URL + "/before", true}, "dropped after data": {srv.URL + "/after", true},
	} {
		t.Run(name, func(t *testing.T) {
			p := (&probe{}).starts(c.url)
			end := p.crawl(t)
			end.want(t, reasonFor(c.none), map[string]int64{"downloader/request_count": 3, "retry/count": 2, "retry/max_reached": 1})
			p.wantLogged(t, map[string]int{"Retrying <": 2, "Gave up retrying <": 1})
			if end.NoResponse != c.none {
				t.Errorf("NoResponse %v, want %v", end.NoResponse, c.none)
			}
		})
	}
}

// reasonFor is the finish reason of a crawl that ends by itself.
func reasonFor(noResponse bool) string {
	if noResponse {
		return "no_response"
	}
	return "finished"
}

// CRAWL-03: a body that ends with its connection is whole, with a flag.
func TestPartialBody(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it")
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	p := (&probe{}).starts("http://" + l.Addr().String() + "/")
	p.page = func(_ context.Context, r *crawl.Response, _ crawl.Out) error {
		p.note("%d %s %v", r.Status, r.Body, r.Flags)
		return nil
	}
	p.crawl(t).want(t, "finished", nil)
	if got, want := p.notes(), []string{"200 all of it [partial]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// CRAWL-06.
func TestUnknownScheme(t *testing.T) {
	p := (&probe{}).starts("foo://bar/")
	p.crawl(t).want(t, "no_response", map[string]int64{"spider_exceptions/count": 0})
	p.wantLogged(t, map[string]int{"Unsupported URL scheme 'foo'": 1, "Error downloading <GET foo://bar/>": 1})
}

// CRAWL-07 to CRAWL-13: what an errback may make of a response that is none, and
// of a connection that broke.
func TestErrbacks(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/400":
			w.WriteHeader(http.StatusBadRequest)
		case "/drop":
			drop(w, r)
		}
	})
	handled := map[string]int{"Ignoring response": 0, "Error downloading": 0, "Spider error processing": 0}
	spiderError := map[string]int{"Ignoring response": 0, "Error downloading": 0, "Spider error processing": 1}
	for _, c := range []struct {
		name, path string
		errback    func(f *crawl.Failure, out crawl.Out) error
		logged     map[string]int
		stats      map[string]int64
	}{
		{"CRAWL-07", "/400", func(f *crawl.Failure, _ crawl.Out) error { return f }, map[string]int{"Ignoring response <400": 1, "Error downloading": 0, "Spider error processing": 0}, nil},
		{"CRAWL-08", "/400", func(*crawl.Failure, crawl.Out) error { return nil }, handled, nil},
		{"CRAWL-09", "/400", func(*crawl.Failure, crawl.Out) error { return errors.New("bad") }, spiderError, map[string]int64{"spider_exceptions/count": 1}},
		{"CRAWL-09 panic", "/400", func(*crawl.Failure, crawl.Out) error { panic("bad") }, spiderError, map[string]int64{"spider_exceptions/PanicError": 1}},
		{"CRAWL-10 item", "/400", func(f *crawl.Failure, out crawl.Out) error { out.Item(record(f.Request.URL)); return nil }, handled, map[string]int64{"item_scraped_count": 1}},
		{"CRAWL-10 request", "/400", another, handled, map[string]int64{"downloader/response_status_count/200": 1}},
		{"CRAWL-11", "/drop", func(f *crawl.Failure, _ crawl.Out) error { return f }, map[string]int{"Error downloading": 1, "Spider error processing": 0}, nil},
		// Scrapy logs the download beside it; here the errback's own error tells.
		{"CRAWL-12", "/drop", func(*crawl.Failure, crawl.Out) error { return errors.New("bad") }, spiderError, map[string]int64{"spider_exceptions/count": 1}},
		{"CRAWL-12 wrapped", "/drop", func(f *crawl.Failure, _ crawl.Out) error { return fmt.Errorf("no: %w", f) }, map[string]int{"Error downloading": 1, "Spider error processing": 0}, nil},
		{"CRAWL-13 item", "/drop", func(f *crawl.Failure, out crawl.Out) error { out.Item(record(f.Request.URL)); return nil }, handled, map[string]int64{"item_scraped_count": 1}},
		{"CRAWL-13 request", "/drop", another, handled, map[string]int64{"downloader/response_status_count/200": 1}},
		{"CloseSpider", "/drop", func(*crawl.Failure, crawl.Out) error { return crawl.CloseSpider("enough") }, handled, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &probe{}
			p.begin = func(_ context.Context, out crawl.Out) error {
				out.Request(&crawl.Request{URL: srv.URL + c.path, Errback: func(_ context.Context, f *crawl.Failure, out crawl.Out) error {
					p.note("errback")
					return c.errback(f, out)
				}})
				return nil
			}
			reason := reasonFor(c.path == "/drop" && c.stats["downloader/response_status_count/200"] == 0)
			if c.name == "CloseSpider" {
				reason = "enough"
			}
			p.crawl(t, "RETRY_ENABLED=False").want(t, reason, c.stats)
			p.wantLogged(t, c.logged)
			if got := p.notes(); len(got) != 1 {
				t.Errorf("%d calls of the errback", len(got))
			}
		})
	}
}

// another is an errback that asks for another page.
func another(f *crawl.Failure, out crawl.Out) error {
	out.Request(&crawl.Request{URL: strings.TrimSuffix(f.Request.URL, f.Request.URL[strings.LastIndexByte(f.Request.URL, '/'):]) + "/other"})
	return nil
}

// CRAWL-17, CRAWL-23: the items before an error or a panic count.
func TestItemsBeforeError(t *testing.T) {
	for name, end := range map[string]func() error{
		"error": func() error { return errors.New("late") },
		"panic": func() error { panic("late") },
	} {
		t.Run(name, func(t *testing.T) {
			p := (&probe{fetch: always}).starts("http://a.test/")
			p.page = func(_ context.Context, _ *crawl.Response, out crawl.Out) error {
				for i := range 7 {
					out.Item(record(fmt.Sprint(i)))
				}
				return end()
			}
			p.crawl(t).want(t, "finished", map[string]int64{"item_scraped_count": 7, "spider_exceptions/count": 1})
			p.wantLogged(t, map[string]int{"Spider error processing <GET http://a.test/>": 1})
		})
	}
}

// CRAWL-22: a 404 without errback is silent.
func TestNotFoundIsNoError(t *testing.T) {
	srv := site(t, nil)
	p := (&probe{}).starts(srv.URL + "/none")
	p.page = func(context.Context, *crawl.Response, crawl.Out) error { p.note("called"); return nil }
	end := p.crawl(t)
	end.want(t, "finished", map[string]int64{"downloader/response_status_count/404": 1, "httperror/response_ignored_count": 1})
	p.wantLogged(t, map[string]int{`"level":"error"`: 0})
	if end.NoResponse || len(p.notes()) > 0 {
		t.Errorf("NoResponse %v, callback %q", end.NoResponse, p.notes())
	}
}

// CRAWL-26, CRAWL-27, ENG-30: an error of a spider middleware in front of the callback is
// an error of the step; a middleware turns it into a failure if it wants the
// errback to see it.
func TestSpiderMiddlewareFails(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		wrap  crawl.SpiderMiddleware
		notes []string
		stats map[string]int64
	}{
		"CRAWL-26 error": {func(next crawl.Handler) crawl.Handler {
			return func(ctx context.Context, r *crawl.Response, f *crawl.Failure, out crawl.Out) error {
				if r != nil {
					return boom
				}
				return next(ctx, r, f, out)
			}
		}, nil, map[string]int64{"spider_exceptions/count": 1}},
		"panic": {func(next crawl.Handler) crawl.Handler {
			return func(ctx context.Context, r *crawl.Response, f *crawl.Failure, out crawl.Out) error {
				if r != nil {
					panic(boom)
				}
				return next(ctx, r, f, out)
			}
		}, nil, map[string]int64{"spider_exceptions/PanicError": 1}},
		"CRAWL-27 failure": {func(next crawl.Handler) crawl.Handler {
			return func(ctx context.Context, r *crawl.Response, f *crawl.Failure, out crawl.Out) error {
				if r != nil {
					return next(ctx, nil, &crawl.Failure{Request: r.Request, Response: r, Err: boom, Kind: crawl.FailOther}, out)
				}
				return next(ctx, r, f, out)
			}
		}, []string{"errback boom"}, map[string]int64{"spider_exceptions/count": 0, "item_scraped_count": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &probe{fetch: always, wrap: c.wrap}
			p.page = func(context.Context, *crawl.Response, crawl.Out) error { p.note("callback"); return nil }
			p.begin = func(_ context.Context, out crawl.Out) error {
				out.Request(&crawl.Request{URL: "http://a.test/", Errback: func(_ context.Context, f *crawl.Failure, out crawl.Out) error {
					p.note("errback %v", f.Err)
					out.Item(record("x"))
					return nil
				}})
				return nil
			}
			p.crawl(t).want(t, "finished", c.stats)
			if got := p.notes(); !slices.Equal(got, c.notes) {
				t.Errorf("got %q, want %q", got, c.notes)
			}
		})
	}
}

// A downloader middleware that panics, refuses or fails ends one request, not
// the crawl.
func TestDownloaderMiddlewareFails(t *testing.T) {
	for name, c := range map[string]struct {
		end    func() error
		kind   string
		logged int
	}{
		"panic":  {func() error { panic("mw") }, "other", 1},
		"error":  {func() error { return errors.New("mw") }, "other", 1},
		"ignore": {func() error { return crawl.Ignore("not here") }, "ignored", 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := &probe{}
			p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
				if strings.HasSuffix(r.URL, "/good") {
					return answer(r, ""), nil
				}
				return nil, c.end()
			}
			p.page = func(context.Context, *crawl.Response, crawl.Out) error { p.note("good"); return nil }
			p.begin = func(_ context.Context, out crawl.Out) error {
				out.Request(&crawl.Request{URL: "http://a.test/1", Errback: func(_ context.Context, f *crawl.Failure, _ crawl.Out) error {
					p.note("errback %s", f.Kind)
					return nil
				}})
				out.Request(&crawl.Request{URL: "http://a.test/2"})
				out.Request(&crawl.Request{URL: "http://a.test/good"})
				return nil
			}
			p.crawl(t, "RETRY_ENABLED=False").want(t, "finished", nil)
			p.wantLogged(t, map[string]int{"Error downloading <GET http://a.test/2>": c.logged, "Error downloading": c.logged})
			if got, want := p.notes(), []string{"errback " + c.kind, "good"}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
