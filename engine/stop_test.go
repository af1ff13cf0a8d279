package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/feeds"
)

// stoppable is a graph whose n-th hit calls stop.
func stoppable(t *testing.T, pages int, n int32, stop func()) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	var hits atomic.Int32
	inner := graph(t, pages)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hits.Add(1) == n {
			stop()
		}
		inner.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv, &hits
}

func TestStopAndResume(t *testing.T) {
	for _, cut := range []bool{false, true} {
		t.Run(fmt.Sprintf("cut=%v", cut), func(t *testing.T) {
			dir := t.TempDir()
			out := filepath.Join(dir, "out.jsonl")
			ctx, cancel := context.WithCancel(t.Context())
			var first *engine.Engine
			srv, hits := stoppable(t, 400, 90, func() {
				cancel()
				if cut {
					first.Cut()
				}
			})
			o := options(t, linkSpec(srv.URL+"/p/0"), "JOBDIR="+filepath.Join(dir, "job"), "CONCURRENT_REQUESTS=4")
			o.Feeds = []feeds.Target{target(t, out)}
			first, err := engine.New(o)
			if err != nil {
				t.Fatal(err)
			}
			res, err := first.Run(ctx)
			if err != nil || res.Reason != "shutdown" {
				t.Fatalf("first run: %+v, %v", res, err)
			}
			n := len(items(t, out))
			if n == 0 || n >= 400 {
				t.Fatalf("first run wrote %d items", n)
			}
			if res := run(t.Context(), t, o); res.Reason != "finished" {
				t.Fatalf("second run: %+v", res)
			}
			if got := len(items(t, out)); got != 400 {
				t.Errorf("%d items after both runs, want 400", got)
			}
			if !cut && hits.Load() != 400 {
				t.Errorf("%d downloads, want 400: what was on the wire may finish", hits.Load())
			}
		})
	}
}

func TestFinishedJobRunsAnotherRound(t *testing.T) {
	srv := graph(t, 20)
	dir := t.TempDir()
	for round, c := range []struct {
		when string
		want int64 // responses
	}{{"again", 20}, {"again", 1}, {"stop", 0}, {"fresh", 20}, {"again", 1}} {
		o := options(t, linkSpec(srv.URL+"/p/0"), "JOBDIR="+filepath.Join(dir, "job"), "JOB_WHEN_FINISHED="+c.when)
		var got atomic.Int64
		o.Spec.New = func() crawl.Spider { return &counting{linkSpider{srv.URL + "/p/0"}, &got} }
		if res := run(t.Context(), t, o); res.Reason != "finished" {
			t.Fatalf("round %d: %+v", round, res)
		}
		if got.Load() != c.want {
			t.Errorf("round %d (%s): %d pages, want %d", round, c.when, got.Load(), c.want)
		}
	}
}

type counting struct {
	linkSpider
	n *atomic.Int64
}

func (c *counting) Parse(ctx context.Context, r *crawl.Response, out crawl.Out) error {
	c.n.Add(1)
	for l := range r.Links() {
		out.Follow(l.URL, c.Parse)
	}
	return nil
}

// A job goes on although its spider's start is not finished, and passes over
// what was accepted: LOOP, scrapy/scrapy#4479.
func TestStartCutShort(t *testing.T) {
	dir := t.TempDir()
	srv := graph(t, 1000)
	o := options(t, crawl.Spec{}, "JOBDIR="+filepath.Join(dir, "job"), "CONCURRENT_REQUESTS=2", "SCHEDULER_MAX_PENDING=5")
	o.Feeds = []feeds.Target{target(t, filepath.Join(dir, "out.jsonl"))}
	ctx, cancel := context.WithCancel(t.Context())
	var pages, emitted atomic.Int64
	newSpec := func(onPage func(int64)) crawl.Spec {
		return crawl.Spec{Name: "list", New: func() crawl.Spider {
			return &listSpider{base: srv.URL, n: 200, emitted: &emitted, onPage: func() { onPage(pages.Add(1)) }}
		}}
	}
	o.Spec = newSpec(func(n int64) {
		if n == 40 {
			cancel()
		}
	})
	if res := run(ctx, t, o); res.Reason != "shutdown" {
		t.Fatalf("first run: %+v", res)
	}
	if emitted.Load() > 60 {
		t.Errorf("Start emitted %d entries by page 40: SCHEDULER_MAX_PENDING=5 did not hold it back", emitted.Load())
	}
	o.Spec = newSpec(func(int64) {})
	if res := run(t.Context(), t, o); res.Reason != "finished" {
		t.Fatalf("second run: %+v", res)
	}
	// 200 pages and the item that Start emits in front of them.
	if got := len(items(t, filepath.Join(dir, "out.jsonl"))); got != 201 {
		t.Errorf("%d items, want 201", got)
	}
	if pages.Load() != 200 {
		t.Errorf("%d pages, want 200", pages.Load())
	}
}

type listSpider struct {
	base    string
	n       int
	emitted *atomic.Int64
	onPage  func()
}

func (s *listSpider) Start(_ context.Context, out crawl.Out) error {
	out.Item(crawl.Record{{Name: "url", Value: "start"}})
	for i := range s.n {
		out.Request(&crawl.Request{URL: fmt.Sprintf("%s/p/%d", s.base, i), DontFilter: true})
		if out.Err() != nil {
			return out.Err()
		}
		s.emitted.Add(1)
	}
	return nil
}

func (s *listSpider) Parse(_ context.Context, r *crawl.Response, out crawl.Out) error {
	s.onPage()
	out.Item(crawl.Record{{Name: "url", Value: r.URL}})
	return nil
}
