package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/feeds"
)

// ENG-01, ENG-02: a small site with redirects, a page that is not there and items
// of four types. Scheduled are all that Start and the callback emit, and each is
// refused or answered.
func TestWholeSite(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/static/":
			fmt.Fprint(w, `<a href=/item1.html>1</a><a href=/item2.html>2</a><a href=/item999.html>3</a>`)
		case "/redirect":
			http.Redirect(w, r, "/redirected", http.StatusFound)
		case "/item999.html":
			http.NotFound(w, r)
		default:
			fmt.Fprint(w, "x")
		}
	})
	for name, c := range map[string]struct {
		filtered                    bool
		scheduled, dropped, answers int64
	}{
		"ENG-01 start URLs are not filtered": {false, 9, 0, 9},
		"ENG-02 start URLs are filtered":     {true, 8, 1, 7},
	} {
		t.Run(name, func(t *testing.T) {
			p := &probe{}
			p.begin = func(_ context.Context, out crawl.Out) error {
				for _, path := range []string{"/static/", "/redirect", "/redirect", "/numbers"} {
					out.Request(&crawl.Request{URL: srv.URL + path, DontFilter: !c.filtered})
				}
				return nil
			}
			p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
				p.note("%s", strings.TrimPrefix(r.URL, srv.URL))
				for l := range r.Links() {
					out.Follow(l.URL, nil)
				}
				switch {
				case strings.HasSuffix(r.URL, "/item1.html"):
					out.Item(record(r.URL))
					out.Item(map[string]string{"url": r.URL + "#map"})
				case strings.HasSuffix(r.URL, "/item2.html"):
					out.Item(struct {
						URL string `json:"url"`
					}{r.URL})
					out.Item(&badItem{})
				}
				return nil
			}
			p.connect = func(env *crawl.Env) {
				crawl.On(env.Signals, func(context.Context, crawl.RequestScheduled) error { env.Stats.Inc("scheduled"); return nil })
				crawl.On(env.Signals, func(context.Context, crawl.RequestDropped) error { env.Stats.Inc("dropped"); return nil })
			}
			file := filepath.Join(t.TempDir(), "out.jsonl")
			o := probeOptions(t, p, p)
			o.Feeds = []feeds.Target{target(t, file)}
			end := finish(t.Context(), t, o)
			end.want(t, "finished", map[string]int64{
				"scheduled": c.scheduled, "dropped": c.dropped, "downloader/response_count": c.answers, "item_scraped_count": 4,
			})
			if got := items(t, file); len(got) != 4 {
				t.Errorf("items %v, want 4", got)
			}
		})
	}
}

// CRAWL-04: the Referer of a start request, of a link, of one that is to have
// none and of one with its own.
func TestRefererOnTheWire(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Referer", strings.Join(r.Header["Referer"], "|"))
	})
	p := (&probe{}).starts(srv.URL + "/start")
	p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		p.note("%s %s", strings.TrimPrefix(r.URL, srv.URL), r.Header.Get("X-Referer"))
		if strings.HasSuffix(r.URL, "/start") {
			out.Request(&crawl.Request{URL: "/link"})
			out.Request(&crawl.Request{URL: "/none", Header: http.Header{"Referer": {}}})
			out.Request(&crawl.Request{URL: "/own", Header: http.Header{"Referer": {"http://example.com"}}})
		}
		return nil
	}
	p.crawl(t).want(t, "finished", nil)
	want := []string{"/link " + srv.URL + "/start", "/none ", "/own http://example.com", "/start "}
	if got := p.notes(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// heir has everything from the spider that it embeds.
type heir struct{ *probe }

// LOOP-13: the Start of an embedded spider is that of the spider.
func TestInheritedStart(t *testing.T) {
	p := (&probe{fetch: always}).starts("http://a.test/1", "http://a.test/2")
	finish(t.Context(), t, probeOptions(t, p, heir{p})).want(t, "finished", map[string]int64{"response_received_count": 2})
}

// ENG-07, ENG-08: an engine that never runs holds nothing, and a component that
// can not be built is the error of New.
func TestNewFails(t *testing.T) {
	p := &probe{}
	job, feed, file := inJob(t)
	o := probeOptions(t, p, p, job)
	o.Feeds = feed
	mustNew(t, o)
	if left, err := filepath.Glob(filepath.Dir(file) + "/*"); err != nil || len(left) > 0 {
		t.Errorf("New made %q, %v", left, err)
	}
	t.Setenv("http_proxy", "gopher://p:1")
	if _, err := engine.New(o); err == nil || !strings.Contains(err.Error(), "http_proxy in the environment") {
		t.Errorf("New with a middleware that can not be built: %v", err)
	}
}
