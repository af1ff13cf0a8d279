package middleware

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

func init() {
	ReferrerPolicies.Register("custom", func(from, to string) string { return "custom:" + from + "|" + to })
}

// refererFor returns the Referer of a request that a page emits.
func refererFor(t testing.TB, env *crawl.Env, from string, h http.Header, r *crawl.Request) []string {
	t.Helper()
	resp := &crawl.Response{Request: &crawl.Request{URL: from}, URL: from, Status: 200, Header: h}
	c, err := handle(t, wrap(t, "referer", env, emit(r)), resp, nil)
	if err != nil || len(c.Requests) != 1 {
		t.Fatalf("emitted %+v, %v", c, err)
	}
	return c.Requests[0].Header["Referer"]
}

func TestReferer(t *testing.T) {
	const page = "http://u:p@a.test/page#f"
	policy := func(s string) map[string]any { return map[string]any{"REFERRER_POLICY": s} }
	for _, tt := range []struct {
		id       string
		settings map[string]any
		header   []string
		option   string
		want     string
		warnings int
	}{
		{id: "RP-01, RP-02", want: "http://a.test/page"},
		{id: "RP-11", settings: policy("custom"), want: "custom:" + page + "|http://b.test/"},
		{id: "RP-12", settings: policy("no-referrer"), option: "origin", want: "http://a.test/"},
		{id: "RP-12, class path", option: "scrapy.spidermiddlewares.referer.OriginPolicy", want: "http://a.test/"},
		{id: "RP-13", settings: policy("origin-when-cross-origin"), header: []string{"unsafe-url"}, option: "unknown", want: "http://a.test/", warnings: 1},
		{id: "RP-14", settings: policy("no-referrer"), header: []string{"unsafe-url"}, want: "http://a.test/page"},
		{id: "RP-14", settings: policy("origin"), header: []string{"unknown"}, want: "http://a.test/", warnings: 1},
		{id: "RP-15", settings: policy("unknown,same-origin,strict-origin-when-cross-origin,other"), want: "http://a.test/"},
		{id: "RP-15", settings: policy("unknown, same-origin, Strict-Origin-When-Cross-Origin, other"), want: "http://a.test/"},
		{id: "RP-15, header", header: []string{"no-referrer, unknown", "Origin"}, want: "http://a.test/"},
		{id: "RP-16", settings: policy("no-referrer"), header: []string{"UNSAFE-url"}, want: "http://a.test/page"},
		{id: "RP-16", settings: policy("no-referrer"), header: []string{""}, want: "http://a.test/page"},
		{id: "RP-17", header: []string{"scrapy.spidermiddlewares.referer.OriginPolicy"}, want: "http://a.test/page", warnings: 1},
		{id: "RP-18", settings: map[string]any{"REFERRER_POLICIES": map[string]any{"no-referrer": nil}}, header: []string{"no-referrer"}, want: "http://a.test/page", warnings: 1},
		{id: "RP-18", settings: map[string]any{"REFERRER_POLICIES": map[string]any{"Mine": "custom"}}, header: []string{"mine"}, want: "custom:" + page + "|http://b.test/"},
		{id: "RP-18", settings: map[string]any{"REFERRER_POLICIES": map[string]any{"": "scrapy.spidermiddlewares.referer.NoReferrerPolicy"}}, header: []string{""}},
	} {
		t.Run(tt.id, func(t *testing.T) {
			env, log := newEnv(t, tt.settings)
			h := http.Header{}
			if tt.header != nil {
				h["Referrer-Policy"] = tt.header
			}
			r := &crawl.Request{URL: "http://b.test/", Options: crawl.Options{ReferrerPolicy: tt.option}}
			if got := strings.Join(refererFor(t, env, page, h, r), "|"); got != tt.want {
				t.Errorf("Referer %q, want %q", got, tt.want)
			}
			wantLog(t, log, "Could not load referrer policy", tt.warnings)
		})
	}
}

// A header of the request's own stays, also one that is not to be sent; and no
// request is changed.
func TestRefererKeeps(t *testing.T) {
	env, _ := newEnv(t, nil)
	for _, h := range []http.Header{{"Referer": {"http://own.test/"}}, {"referer": {"http://own.test/"}}, {"Referer": {}}} {
		r := &crawl.Request{URL: "http://b.test/", Header: h}
		if got := refererFor(t, env, "http://a.test/", nil, r); !slices.Equal(got, h["Referer"]) {
			t.Errorf("%v became %q", h, got)
		}
	}
	r := &crawl.Request{URL: "http://b.test/", Header: http.Header{"X-A": {"1"}}}
	c, err := handle(t, wrap(t, "referer", env, emit(r, "item")), page(200, 0, crawl.Options{}), nil)
	if err != nil || len(c.Items) != 1 || len(r.Header) != 1 || !maps.EqualFunc(c.Requests[0].Header, http.Header{"X-A": {"1"}, "Referer": {"http://a.test/"}}, slices.Equal) {
		t.Errorf("emitted %+v, %v; the request has %v", c, err, r.Header)
	}
	if c, _ := handle(t, wrap(t, "referer", env, emit(r)), nil, nil); c.Requests[0] != r {
		t.Errorf("a request of Start became %+v", c.Requests[0])
	}
	f := &crawl.Failure{Request: r}
	if c, _ := handle(t, wrap(t, "referer", env, emit(r)), nil, f); c.Requests[0] != r {
		t.Errorf("a request of a failure without a page became %+v", c.Requests[0])
	}
	f.Response = page(404, 0, crawl.Options{})
	if c, _ := handle(t, wrap(t, "referer", env, emit(r)), nil, f); c.Requests[0].Header.Get("Referer") != "http://a.test/" {
		t.Errorf("a request of a failure became %+v", c.Requests[0])
	}
}

// RP-15 and RP-19.
func TestRefererBuild(t *testing.T) {
	build, err := Registry.Lookup("referer")
	if err != nil {
		t.Fatal(err)
	}
	env, _ := newEnv(t, map[string]any{"REFERER_ENABLED": false})
	if m, err := build(env); m != nil || err != nil {
		t.Errorf("switched off it is %v, %v", reflect.ValueOf(m), err)
	}
	for want, values := range map[string]map[string]any{
		`REFERRER_POLICY="unknown,other" (spider test): there is no referrer policy`:                   {"REFERRER_POLICY": "unknown,other"},
		`REFERRER_POLICIES="{\"a\":\"x\",\"b\":\"y\"}" (spider test): there is no referrer policy "x"`: {"REFERRER_POLICIES": map[string]any{"b": "y", "a": "x"}},
	} {
		env, _ := newEnv(t, values)
		if _, err := build(env); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A bad policy on every page of a site is worth a hundred lines at most.
func TestRefererWarnsOnce(t *testing.T) {
	env, log := newEnv(t, nil)
	h := wrap(t, "referer", env, emit())
	for range 3 {
		for i := range 150 {
			r := page(200, 0, crawl.Options{})
			r.Header = http.Header{"Referrer-Policy": {strings.Repeat("x", i+1)}}
			if _, err := handle(t, h, r, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	wantLog(t, log, "Could not load referrer policy", 100)
}

// BenchmarkReferer is a page with 20 links.
func BenchmarkReferer(b *testing.B) {
	env, _ := newEnv(b, nil)
	links := make([]any, 20)
	for i := range links {
		links[i] = &crawl.Request{URL: "http://a.test/1"}
	}
	h, r := wrap(b, "referer", env, emit(links...)), page(200, 2, crawl.Options{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := handle(b, h, r, nil); err != nil {
			b.Fatal(err)
		}
	}
}
