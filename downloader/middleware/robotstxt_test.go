package middleware

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
)

// A robotsWorld is a middleware with servers that it asks.
type robotsWorld struct {
	env     *crawl.Env
	log     *strings.Builder
	f       crawl.Fetcher
	pages   atomic.Int32 // requests that got through
	mu      sync.Mutex
	fetched []string
}

// newRobots returns a middleware whose fetches beside the queue answer does.
func newRobots(t testing.TB, values map[string]any, answer func(ctx context.Context, r *crawl.Request) (*crawl.Response, error)) *robotsWorld {
	t.Helper()
	w := &robotsWorld{}
	all := map[string]any{"ROBOTSTXT_OBEY": true}
	maps.Copy(all, values)
	w.env, w.log = newEnv(t, all)
	w.env.Log = zerolog.New(zerolog.SyncWriter(w.log))
	handler := respond(&crawl.Response{Status: 200})
	w.f = wrap(t, "robotstxt", w.env, crawl.FetcherFunc(func(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
		w.pages.Add(1)
		return handler.Fetch(ctx, r)
	}))
	w.env.Fetcher = crawl.FetcherFunc(func(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
		if !r.Options.NoRobots || !r.DontFilter || r.Callback != nil {
			t.Errorf("the request for robots.txt is checked itself: %+v", r)
		}
		w.mu.Lock()
		w.fetched = append(w.fetched, r.URL)
		w.mu.Unlock()
		return answer(ctx, r)
	})
	return w
}

func (w *robotsWorld) fetch(t testing.TB, r *crawl.Request) error {
	t.Helper()
	_, err := w.f.Fetch(t.Context(), r)
	return err
}

// allowed reports whether a page may be fetched, so far as that is known; other
// errors fail the test.
func (w *robotsWorld) allowed(t testing.TB, r *crawl.Request) bool {
	t.Helper()
	err := w.fetch(t, r)
	if err != nil && !strings.Contains(err.Error(), "/robots.txt could not be read: ") && (crawl.KindOf(err) != crawl.FailIgnored || err.Error() != "Forbidden by robots.txt") {
		t.Errorf("%v: %v", r, err)
	}
	return err == nil
}

// body answers with a robots.txt.
func body(text string) func(context.Context, *crawl.Request) (*crawl.Response, error) {
	return func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
		return &crawl.Response{URL: r.URL, Status: 200, Body: []byte(text)}, nil
	}
}

func statusOf(code int) func(context.Context, *crawl.Request) (*crawl.Response, error) {
	return func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
		return &crawl.Response{URL: r.URL, Status: code, Body: []byte("User-agent: *\nDisallow: /")}, nil
	}
}

func get(url string) *crawl.Request { return &crawl.Request{URL: url} }

// RB-01, RB-02: one fetch an origin, whatever comes after.
func TestRobotsTxt(t *testing.T) {
	t.Parallel()
	w := newRobots(t, nil, body("User-agent: *\nDisallow: /admin/\nDisallow: /wiki/Käyttäjä:\n"))
	for url, want := range map[string]bool{
		"http://site.local/allowed":                       true,
		"http://site.local/admin/main":                    false,
		"http://site.local/x/../admin/main":               false,
		"http://site.local/./admin/main":                  false,
		"http://site.local/x/%2E%2e/admin/main":           false,
		`http://site.local/x\..\admin/main`:               false,
		"http://site.local/wiki/K%C3%A4ytt%C3%A4j%C3%A4:": false,
		"http://site.local/?q=/admin/":                    true,
		"http://site.local/robots.txt":                    true,
		"http://SITE.local:80/admin/":                     false,
	} {
		if got := w.allowed(t, get(url)); got != want {
			t.Errorf("%s is allowed = %v, want %v", url, got, want)
		}
	}
	if len(w.fetched) != 1 || w.fetched[0] != "http://site.local/robots.txt" {
		t.Errorf("fetched %q", w.fetched)
	}
	w.allowed(t, get("https://site.local/"))
	w.allowed(t, get("http://site.local:8080/"))
	if len(w.fetched) != 3 {
		t.Errorf("fetched %q, want one for each origin", w.fetched)
	}
	wantStats(t, w.env, map[string]int64{
		"robotstxt/request_count": 3, "robotstxt/response_count": 3, "robotstxt/response_status_count/200": 3, "robotstxt/forbidden": 7,
	})
	wantLog(t, w.log, "Forbidden by robots.txt: <GET http://site.local/admin/main>", 1)
}

// RB-04, RB-09, and the setting.
func TestRobotsTxtNotAsked(t *testing.T) {
	t.Parallel()
	w := newRobots(t, nil, body("User-agent: *\nDisallow: /"))
	free := get("http://a.test/")
	free.Options.NoRobots = true
	for _, r := range []*crawl.Request{free, get("data:,x"), get("file:///x"), get("foo://a.test/")} {
		if !w.allowed(t, r) {
			t.Errorf("%v is refused", r)
		}
	}
	off := newRobots(t, map[string]any{"ROBOTSTXT_OBEY": false}, body("User-agent: *\nDisallow: /"))
	if !off.allowed(t, get("http://a.test/")) {
		t.Error("robots.txt is obeyed although that is off")
	}
	if len(w.fetched)+len(off.fetched) != 0 {
		t.Errorf("fetched %q, %q", w.fetched, off.fetched)
	}
}

// RB-08: the setting, then the header of the request, then USER_AGENT.
func TestRobotsTxtUserAgent(t *testing.T) {
	t.Parallel()
	text := "User-agent: examplebot\nDisallow: /e\nUser-agent: mozilla\nDisallow: /m\nUser-agent: other\nDisallow: /o"
	for _, tt := range []struct {
		setting, agent string
		header         http.Header
		refused        string
	}{
		{"Examplebot", "Mozilla/5.0 (X11; Linux x86_64)", nil, "/e"},
		{"Examplebot", "Mozilla/5.0", header("User-Agent", "other"), "/e"},
		{"", "Mozilla/5.0 (X11)", nil, "/m"},
		{"", "Mozilla/5.0", header("User-Agent", "Other/2"), "/o"},
		{"", "Mozilla/5.0", http.Header{"User-Agent": {}}, ""},
		{"", "", nil, ""},
	} {
		w := newRobots(t, map[string]any{"ROBOTSTXT_USER_AGENT": tt.setting, "USER_AGENT": tt.agent}, body(text))
		for _, path := range []string{"/e", "/m", "/o"} {
			r := get("http://a.test" + path)
			r.Header = tt.header
			if got := w.allowed(t, r); got == (path == tt.refused) {
				t.Errorf("%+v: %s is allowed = %v", tt, path, got)
			}
		}
	}
}

// RFC 9309 §2.3.1: what each answer means.
func TestRobotsTxtStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{200: false, 204: false, 301: true, 304: true, 401: true, 403: true, 404: true, 410: true, 429: true, 500: false, 503: false, 599: false} {
		w := newRobots(t, nil, statusOf(status))
		for range 2 {
			if got := w.allowed(t, get("http://a.test/x")); got != want {
				t.Errorf("after %d a page is allowed = %v, want %v", status, got, want)
			}
		}
		if len(w.fetched) != 1 {
			t.Errorf("after %d robots.txt was fetched %d times", status, len(w.fetched))
		}
	}
}

// RFC 9309 §2.3.1.2: redirects are followed, also to another host, five times.
func TestRobotsTxtRedirects(t *testing.T) {
	t.Parallel()
	for hops, want := range map[int]bool{1: false, 5: false, 6: true, 100: true} {
		left := hops
		w := newRobots(t, map[string]any{"REDIRECT_ENABLED": false}, func(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
			if left--; left < 0 {
				return body("User-agent: *\nDisallow: /")(ctx, r)
			}
			return &crawl.Response{URL: r.URL, Status: 302, Header: header("Location", "https://b.test/"+strings.Repeat("x", left))}, nil
		})
		if got := w.allowed(t, get("http://a.test/x")); got != want {
			t.Errorf("after %d redirects a page is allowed = %v, want %v", hops, got, want)
		}
		if len(w.fetched) != min(hops, robotsHops)+1 {
			t.Errorf("%d redirects: %d fetches", hops, len(w.fetched))
		}
	}
	w := newRobots(t, nil, func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
		return &crawl.Response{URL: r.URL, Status: 302, Header: header("Location", "file:///etc/passwd")}, nil
	})
	if !w.allowed(t, get("http://a.test/")) || len(w.fetched) != 1 {
		t.Errorf("a redirect to nowhere: fetched %q", w.fetched)
	}
}

// RB-05 to RB-07, and what differs from Scrapy: a server that can not be asked
// is left alone for a while (RFC 9309 §2.3.1.4).
func TestRobotsTxtFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := true
		w := newRobots(t, nil, func(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
			if down {
				return nil, &crawl.DownloadError{Kind: crawl.FailDNS, Name: "CannotResolveHostError", Err: errors.New("no such host")}
			}
			return body("GIF89a\xd3\xfe")(ctx, r)
		})
		for range 3 {
			err := w.fetch(t, get("http://a.test/"))
			if crawl.KindOf(err) != crawl.FailDNS || downloader.ErrorName(err) != "CannotResolveHostError" || err.Error() != "http://a.test/robots.txt could not be read: no such host" {
				t.Errorf("error = %v, want that of robots.txt", err)
			}
		}
		wantLog(t, w.log, "Error downloading <GET http://a.test/robots.txt>: no such host", 1)
		wantStats(t, w.env, map[string]int64{"robotstxt/exception_count/CannotResolveHostError": 1, "robotstxt/request_count": 1, "robotstxt/forbidden": 0, "robotstxt/unavailable": 3})
		down = false
		time.Sleep(robotsPenance)
		if !w.allowed(t, get("http://a.test/")) {
			t.Error("RB-05: a page is refused by a picture")
		}
	})
	w := newRobots(t, nil, func(context.Context, *crawl.Request) (*crawl.Response, error) { return nil, crawl.Ignore("mine") })
	if !w.allowed(t, get("http://a.test/")) {
		t.Error("RB-07: a page is refused because robots.txt was ignored")
	}
	wantLog(t, w.log, `"level":"error"`, 0)
	wantStats(t, w.env, map[string]int64{"robotstxt/exception_count/IgnoreRequest": 1})
}

// BenchmarkRobotsTxt is a request to a host whose file is known.
func BenchmarkRobotsTxt(b *testing.B) {
	w := newRobots(b, nil, body("User-agent: *\nDisallow: /admin\nDisallow: /*?sort=\nDisallow: /search\nAllow: /search/about\n"))
	r := get("http://a.test/catalogue/page-2.html?x=1")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.f.Fetch(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
