package middleware

import (
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// DP-01.
func TestDepthLimit(t *testing.T) {
	env, _ := newEnv(t, map[string]any{"DEPTH_LIMIT": 1, "DEPTH_STATS_VERBOSE": true})
	r := &crawl.Request{URL: "http://a.test/1"}
	h := wrap(t, "depth", env, emit(r, "item"))
	c, err := handle(t, h, page(200, 0, crawl.Options{}), nil)
	if err != nil || len(c.Requests) != 1 || c.Requests[0].Trail.Depth != 1 || len(c.Items) != 1 {
		t.Errorf("from depth 0: %+v, %v", c, err)
	}
	if r.Trail.Depth != 0 {
		t.Error("the request itself was changed")
	}
	c, err = handle(t, h, page(200, 1, crawl.Options{}), nil)
	if err != nil || len(c.Requests) != 0 || len(c.Items) != 1 {
		t.Errorf("from depth 1: %+v, %v", c, err)
	}
	wantStats(t, env, map[string]int64{
		"request_depth_count/0": 1, "request_depth_count/1": 1, "request_depth_count/2": 0,
		"request_depth_max": 1, "depth/request_ignored_count": 1,
	})
}

// DP-03: requests of Start stay at depth 0.
func TestDepthStart(t *testing.T) {
	env, _ := newEnv(t, map[string]any{"DEPTH_PRIORITY": 1, "DEPTH_STATS_VERBOSE": true})
	r := &crawl.Request{URL: "http://a.test/1"}
	if c, err := handle(t, wrap(t, "depth", env, emit(r)), nil, nil); err != nil || c.Requests[0] != r {
		t.Errorf("emitted %+v, %v", c, err)
	}
	if n := len(env.Stats.Snapshot()); n != 0 {
		t.Errorf("%d stats", n)
	}
}

// What an errback emits is as deep as what the callback would have.
func TestDepthOfFailure(t *testing.T) {
	env, _ := newEnv(t, nil)
	f := &crawl.Failure{Request: &crawl.Request{Trail: crawl.Trail{Depth: 3}}}
	c, err := handle(t, wrap(t, "depth", env, emit(&crawl.Request{URL: "http://a.test/1"})), nil, f)
	if err != nil || c.Requests[0].Trail.Depth != 4 {
		t.Errorf("emitted %+v, %v", c, err)
	}
}

// DP-04.
func TestDepthLog(t *testing.T) {
	env, log := newEnv(t, map[string]any{"DEPTH_LIMIT": 1})
	h := wrap(t, "depth", env, emit(&crawl.Request{URL: "http://a.test/1"}, &crawl.Request{URL: "http://a.test/2"}, &crawl.Request{URL: "http://a.test/3"}))
	if c, err := handle(t, h, page(200, 1, crawl.Options{}), nil); err != nil || len(c.Requests) != 0 {
		t.Errorf("emitted %+v, %v", c, err)
	}
	wantStats(t, env, map[string]int64{"depth/request_ignored_count": 3, "request_depth_max": 0})
	wantLog(t, log, `Ignoring link (depth > 1): http://a.test/1 - no more ignored links will be shown`, 1)
	wantLog(t, log, "http://a.test/2", 0)
}

// DP-05.
func TestDepthPriority(t *testing.T) {
	env, _ := newEnv(t, map[string]any{"DEPTH_PRIORITY": 10})
	h := wrap(t, "depth", env, emit(&crawl.Request{URL: "http://a.test/1"}, &crawl.Request{URL: "http://a.test/2", Priority: 5}))
	c, err := handle(t, h, page(200, 2, crawl.Options{}), nil)
	if err != nil || len(c.Requests) != 2 {
		t.Fatalf("emitted %+v, %v", c, err)
	}
	for i, want := range []int{-30, -25} {
		if r := c.Requests[i]; r.Priority != want || r.Trail.Depth != 3 {
			t.Errorf("request %d has priority %d and depth %d, want %d and 3", i, r.Priority, r.Trail.Depth, want)
		}
	}
	wantStats(t, env, map[string]int64{"request_depth_max": 3, "request_depth_count/3": 0})
}

// BenchmarkDepth is a page with 20 links.
func BenchmarkDepth(b *testing.B) {
	env, _ := newEnv(b, nil)
	links := make([]any, 20)
	for i := range links {
		links[i] = &crawl.Request{URL: "http://a.test/1"}
	}
	h, r := wrap(b, "depth", env, emit(links...)), page(200, 2, crawl.Options{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := handle(b, h, r, nil); err != nil {
			b.Fatal(err)
		}
	}
}
