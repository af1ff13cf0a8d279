package engine_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/feeds"
)

// site answers by path with a status and a body.
func site(t *testing.T, pages map[string]string) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		switch {
		case !ok:
			http.NotFound(w, r)
		case len(body) > 3 && body[:3] == "->/":
			http.Redirect(w, r, body[2:], http.StatusFound)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, body)
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

// script is a spider made of functions.
type script struct {
	start func(s *script, out crawl.Out)
	parse func(ctx context.Context, s *script, r *crawl.Response, out crawl.Out) error

	mu  sync.Mutex
	log []string
}

func (s *script) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *script) notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.log))
}

func (s *script) Start(_ context.Context, out crawl.Out) error { s.start(s, out); return nil }

func (s *script) Parse(ctx context.Context, r *crawl.Response, out crawl.Out) error {
	return s.parse(ctx, s, r, out)
}

type shelf struct{ Name string }

// ParseShelf is a callback with arguments.
func (s *script) ParseShelf(_ context.Context, r *crawl.Response, _ crawl.Out, a shelf) error {
	s.note("shelf %s: %s", a.Name, r.CSS("h1::text").Get())
	return nil
}

// OnError is an errback.
func (s *script) OnError(_ context.Context, f *crawl.Failure, out crawl.Out) error {
	a, _ := crawl.ArgsOf[shelf](f.Request)
	s.note("failed %s %s %s", f.Kind, a.Name, f.Request.URL[len(f.Request.URL)-2:])
	out.Item(crawl.Record{{Name: "url", Value: "failed " + f.Request.URL}})
	return nil
}

func runScript(t *testing.T, s *script, assign ...string) (map[string]any, string) {
	t.Helper()
	o := options(t, crawl.Spec{Name: "script", New: func() crawl.Spider { return s }}, assign...)
	file := filepath.Join(t.TempDir(), "out.jsonl")
	o.Feeds = []feeds.Target{target(t, file)}
	e := mustNew(t, o)
	res, err := e.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.note("reason %s", res.Reason)
	return e.Stats(), file
}

func TestCallbacks(t *testing.T) {
	srv := site(t, map[string]string{"/": "<h1>root</h1>", "/a": "<h1>A</h1>", "/b": "->/a?x", "/c": "<h1>C</h1>", "/e": "<h1>E</h1>"})
	for _, dir := range []string{"", "job"} {
		t.Run("jobdir="+dir, func(t *testing.T) {
			s := &script{}
			s.start = func(s *script, out crawl.Out) { out.Request(&crawl.Request{URL: srv.URL + "/"}) }
			s.parse = func(_ context.Context, s *script, _ *crawl.Response, out crawl.Out) error {
				out.Request(&crawl.Request{URL: "/a", Callback: crawl.With(s.ParseShelf, shelf{"first"})})
				out.Request(&crawl.Request{URL: "/b", Callback: crawl.With(s.ParseShelf, shelf{"moved"})})
				out.Request(&crawl.Request{URL: "/c", Callback: func(_ context.Context, r *crawl.Response, _ crawl.Out) error {
					s.note("closure %s", r.CSS("h1::text").Get())
					return nil
				}})
				out.Request(&crawl.Request{URL: "/d", Errback: s.OnError, Callback: crawl.With(s.ParseShelf, shelf{"lost"})})
				out.Follow("/e", func(context.Context, *crawl.Response, crawl.Out) error { panic("ouch") })
				return errors.New("after all was emitted")
			}
			var assign []string
			if dir != "" {
				assign = append(assign, "JOBDIR="+filepath.Join(t.TempDir(), dir))
			}
			stats, file := runScript(t, s, assign...)
			want := []string{"closure C", "failed status lost /d", "reason finished", "shelf first: A", "shelf moved: A"}
			if got := s.notes(); !slices.Equal(got, want) {
				t.Errorf("got %q\nwant %q", got, want)
			}
			if got := len(items(t, file)); got != 1 {
				t.Errorf("%d items, want that of the errback", got)
			}
			if n := stats["spider_exceptions/count"]; n != int64(2) {
				t.Errorf("spider_exceptions/count = %v, want 2: an error and a panic", n)
			}
			if n := stats["scheduler/unserializable"]; dir != "" && n != int64(2) {
				t.Errorf("scheduler/unserializable = %v, want 2", n)
			}
		})
	}
}

// A fetch within a step goes through slots and middlewares, follows redirects,
// and does not wait for the place that its own step gave back.
func TestFetchWithinStep(t *testing.T) {
	srv := site(t, map[string]string{"/": "root", "/x": "->/y", "/y": "<h1>inner</h1>"})
	s := &script{}
	s.start = func(_ *script, out crawl.Out) { out.Request(&crawl.Request{URL: srv.URL + "/"}) }
	s.parse = func(ctx context.Context, s *script, _ *crawl.Response, out crawl.Out) error {
		r, err := out.Fetch(ctx, &crawl.Request{URL: "/x"})
		if err != nil {
			return err
		}
		s.note("%s", r.CSS("h1::text").Get())
		return nil
	}
	runScript(t, s, "CONCURRENT_REQUESTS=1", "CONCURRENT_REQUESTS_PER_DOMAIN=1", "CONCURRENT_PARSES=1")
	if got, want := s.notes(), []string{"inner", "reason finished"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCloseSpider(t *testing.T) {
	srv := site(t, map[string]string{"/": "root"})
	s := &script{}
	s.start = func(_ *script, out crawl.Out) { out.Request(&crawl.Request{URL: srv.URL + "/"}) }
	s.parse = func(context.Context, *script, *crawl.Response, crawl.Out) error { return crawl.CloseSpider("") }
	stats, _ := runScript(t, s)
	if got, want := s.notes(), []string{"reason cancelled"}; !slices.Equal(got, want) {
		t.Errorf("CLOSE-08: got %q, want %q", got, want)
	}
	if n := stats["spider_exceptions/count"]; n != nil {
		t.Errorf("spider_exceptions/count = %v, want none", n)
	}
}
