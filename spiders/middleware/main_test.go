package middleware

import (
	"context"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

// newEnv returns an Env with some settings, and its log.
func newEnv(t testing.TB, values map[string]any) (*crawl.Env, *strings.Builder) {
	t.Helper()
	s, _, err := settings.New().Spider("test", values).Build()
	if err != nil {
		t.Fatalf("settings: %v", err)
	}
	log := &strings.Builder{}
	return &crawl.Env{Settings: s, Stats: crawl.NewStats(), Signals: &crawl.Signals{}, Log: zerolog.New(log)}, log
}

// wrap puts a registered middleware around a handler.
func wrap(t testing.TB, name string, env *crawl.Env, next crawl.Handler) crawl.Handler {
	t.Helper()
	build, err := Registry.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := build(env)
	if err != nil || m == nil {
		t.Fatalf("%s: %v", name, err)
	}
	return m(next)
}

// handle calls a handler and returns what it emitted.
func handle(t testing.TB, h crawl.Handler, r *crawl.Response, f *crawl.Failure) (*crawl.Collector, error) {
	t.Helper()
	c := &crawl.Collector{}
	out := crawl.NewOut(t.Context(), nil, c, nil)
	err := h(t.Context(), r, f, out)
	if err == nil {
		err = out.Err()
	}
	return c, err
}

// emit is a handler that emits values, whatever it is called with.
func emit(values ...any) crawl.Handler {
	return func(_ context.Context, _ *crawl.Response, _ *crawl.Failure, out crawl.Out) error {
		for _, v := range values {
			if r, ok := v.(*crawl.Request); ok {
				out.Request(r)
			} else {
				out.Item(v)
			}
		}
		return nil
	}
}

// page is a response to a request at a depth.
func page(status, depth int, o crawl.Options) *crawl.Response {
	r := &crawl.Request{URL: "http://a.test/", Options: o, Trail: crawl.Trail{Depth: depth}}
	return &crawl.Response{Request: r, URL: r.URL, Status: status}
}

func wantStats(t testing.TB, env *crawl.Env, want map[string]int64) {
	t.Helper()
	for key, n := range want {
		if got := env.Stats.Count(key); got != n {
			t.Errorf("%s = %d, want %d", key, got, n)
		}
	}
}

func wantLog(t testing.TB, log *strings.Builder, text string, times int) {
	t.Helper()
	if got := strings.Count(log.String(), text); got != times {
		t.Errorf("log has %q %d times, want %d:\n%s", text, got, times, log)
	}
}

// The settings name the middlewares that are built in.
func TestRegistered(t *testing.T) {
	env, _ := newEnv(t, nil)
	for _, c := range env.Settings.Components("SPIDER_MIDDLEWARES") {
		if _, err := Registry.Lookup(c.Name); err != nil {
			t.Error(err)
		}
	}
}

func TestStart(t *testing.T) {
	env, _ := newEnv(t, nil)
	marked := &crawl.Request{URL: "http://a.test/2", Trail: crawl.Trail{Start: true}}
	r := &crawl.Request{URL: "http://a.test/1"}
	h := wrap(t, "start", env, emit(r, marked, "item"))
	c, err := handle(t, h, nil, nil)
	if err != nil || len(c.Items) != 1 || len(c.Requests) != 2 {
		t.Fatalf("emitted %+v, %v", c, err)
	}
	if !c.Requests[0].Trail.Start || c.Requests[1] != marked || r.Trail.Start {
		t.Errorf("marks = %v %v, of the request itself %v", c.Requests[0].Trail, c.Requests[1].Trail, r.Trail)
	}
	for name, f := range map[string]*crawl.Failure{"response": nil, "failure": {Request: r}} {
		resp := page(200, 0, crawl.Options{})
		if f != nil {
			resp = nil
		}
		if c, _ = handle(t, h, resp, f); c.Requests[0] != r {
			t.Errorf("a request of a %s became %+v", name, c.Requests[0])
		}
	}
}
