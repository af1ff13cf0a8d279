package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/crawltest"
	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/settings"
	_ "github.com/skeincrawl/skein/spiders/site"
)

// robotsSite answers /robots.txt with a text, or by redirecting to another host,
// and everything else with a page. It counts.
type robotsSite struct {
	mu     sync.Mutex
	hits   map[string]int
	robots string
	to     string // where robots.txt is, if elsewhere
}

func (s *robotsSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hits == nil {
		s.hits = map[string]int{}
	}
	s.hits[r.Host[:strings.IndexByte(r.Host, ':')]+r.URL.Path]++
	switch {
	case r.URL.Path != "/robots.txt":
		fmt.Fprint(w, "<html>page")
	case s.to != "" && !strings.HasPrefix(s.to, "http://"+r.Host):
		http.Redirect(w, r, s.to+"/robots.txt", http.StatusFound)
	default:
		fmt.Fprint(w, s.robots)
	}
}

// RB-02 through the whole engine: with one place for everything, with a delay,
// with a robots.txt on another host that has its own place and delay, and with
// fetches within a callback, nothing waits for itself.
func TestRobotsNeverDeadlocks(t *testing.T) {
	for _, assign := range [][]string{
		{"CONCURRENT_REQUESTS=1", "CONCURRENT_REQUESTS_PER_DOMAIN=1", "CONCURRENT_PARSES=1"},
		{"CONCURRENT_REQUESTS=2", "CONCURRENT_REQUESTS_PER_DOMAIN=1", "DOWNLOAD_DELAY=20ms"},
		{"CONCURRENT_REQUESTS=16", "AUTOTHROTTLE_ENABLED=True", "AUTOTHROTTLE_START_DELAY=10ms"},
	} {
		t.Run(strings.Join(assign, " "), func(t *testing.T) {
			t.Parallel()
			site := &robotsSite{robots: "User-agent: *\nDisallow: /no\n"}
			srv, third := serve(t, site.ServeHTTP), serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "User-agent: *\nDisallow: /no\n") })
			other := strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)
			site.to = other
			p := (&probe{}).starts(srv.URL+"/1", other+"/2", srv.URL+"/no/3", srv.URL+"/4", other+"/no/5")
			p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
				for i, u := range []string{srv.URL, other, third.URL} { // nobody has asked the third before
					if _, err := out.Fetch(ctx, &crawl.Request{URL: fmt.Sprintf("%s/no/in/%d", u, i)}); crawl.KindOf(err) != crawl.FailIgnored {
						t.Errorf("a forbidden fetch within a callback: %v", err)
					}
					if _, err := out.Fetch(ctx, &crawl.Request{URL: r.URL + "/inner"}); err != nil {
						t.Error(err)
					}
				}
				return nil
			}
			p.crawl(t, append(assign, "ROBOTSTXT_OBEY=True")...).want(t, "finished", map[string]int64{
				"robotstxt/request_count": 3, "robotstxt/response_count": 3, "robotstxt/forbidden": 11, "response_received_count": 3,
			})
			for path, n := range site.hits {
				if strings.HasSuffix(path, "/robots.txt") && n != map[string]int{"127.0.0.1/robots.txt": 1, "localhost/robots.txt": 2}[path] || strings.Contains(path, "/no") {
					t.Errorf("%s was fetched %d times", path, n)
				}
			}
		})
	}
}

// A server whose robots.txt fails is left alone, and the crawl ends so that it
// can be tried again.
func TestRobotsUnreachable(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	p := (&probe{}).starts(srv.URL+"/1", srv.URL+"/2")
	p.crawl(t, "ROBOTSTXT_OBEY=True").want(t, "no_response", map[string]int64{
		"robotstxt/response_status_count/503": 1, "robotstxt/unavailable": 2, "retry/count": 2, "response_received_count": 0,
	})
}

// The spider site obeys robots.txt unless it is told otherwise.
func TestSiteObeysRobots(t *testing.T) {
	srv := httptest.NewServer(crawltest.NewSite(crawltest.Config{Pages: 30, Robots: "User-agent: skein\nDisallow: /p/1\n"}))
	t.Cleanup(srv.Close)
	site, err := crawl.FindSpec("site")
	if err != nil {
		t.Fatal(err)
	}
	for assign, want := range map[string]map[string]int64{
		"ROBOTSTXT_OBEY=False":      {"robotstxt/request_count": 0, "response_received_count": 30},
		"LOG_LEVEL=INFO":            {"robotstxt/request_count": 1, "response_received_count": 19, "robotstxt/forbidden": 11}, // 1, 10 to 19
		"ROBOTSTXT_USER_AGENT=else": {"robotstxt/request_count": 1, "response_received_count": 30},
	} {
		s, _, err := settings.New().Spider(site.Name, site.Settings).Assign(assign).Build()
		if err != nil {
			t.Fatal(err)
		}
		o := engine.Options{Spec: site, Settings: s, Args: map[string]string{"start": srv.URL + "/p/0"}, Log: zerolog.Nop()}
		finish(t.Context(), t, o).want(t, "finished", want)
	}
}

// A start request may be a file; what a page links to may not, however the
// spider follows it.
func TestFilesOfStartOnly(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(page, []byte("<h1>local</h1>"), 0o600); err != nil {
		t.Fatal(err)
	}
	local := "file://" + filepath.ToSlash(page)
	var seen []string
	p := (&probe{}).starts(local, "data:text/html,<h1>inline</h1>")
	p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
		seen = append(seen, r.CSS("h1::text").Get())
		if strings.HasPrefix(r.URL, "data:") {
			return nil
		}
		again := r.Request.Clone()
		again.URL, again.DontFilter = local+"?again", true
		out.Request(again)
		out.Request(&crawl.Request{URL: local + "?link"})
		_, err := out.Fetch(ctx, &crawl.Request{URL: local + "?fetch"})
		if crawl.KindOf(err) != crawl.FailUnsupported {
			t.Errorf("a fetch within a callback: %v", err)
		}
		return nil
	}
	p.crawl(t, "CONCURRENT_PARSES=1").want(t, "finished", map[string]int64{
		"response_received_count": 2, "downloader/exception_type_count/UnsupportedURLSchemeError": 3,
	})
	if len(seen) != 2 {
		t.Errorf("pages %q", seen)
	}
	inline := (&probe{}).starts("data:,1", "data:,2", local) // nobody is asked for them, so nobody needs rest
	inline.crawl(t, "DOWNLOAD_DELAY=1h").want(t, "finished", map[string]int64{"response_received_count": 3})
}

// SLOT-02 and AutoThrottle reach the slots of a crawl.
func TestSlotSettings(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "abc") })
	p := (&probe{}).starts(urls(srv.URL, 3)...)
	p.crawl(t, "AUTOTHROTTLE_ENABLED=True", "AUTOTHROTTLE_DEBUG=True", `DOWNLOAD_SLOTS={"127.0.0.1": {"concurrency": 1, "delay": 0.02}}`).
		want(t, "finished", map[string]int64{"response_received_count": 3})
	p.wantLogged(t, map[string]int{"slot: 127.0.0.1 | conc: 1 | delay:": 3, "size:     3 bytes": 3, `"logger":"slots"`: 3})
	p = (&probe{}).starts(urls(srv.URL, 3)...)
	p.begin = func(_ context.Context, out crawl.Out) error {
		out.Request(&crawl.Request{URL: srv.URL, Options: crawl.Options{NoThrottle: true}})
		return nil
	}
	p.crawl(t, "AUTOTHROTTLE_ENABLED=True", "AUTOTHROTTLE_DEBUG=True").want(t, "finished", nil)
	p.wantLogged(t, map[string]int{"slot:": 0})
}
