package middleware

import (
	"context"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// sentHeader returns the header that reaches the handler behind some
// middlewares, the outermost first.
func sentHeader(t testing.TB, env *crawl.Env, r *crawl.Request, names ...string) http.Header {
	t.Helper()
	var got http.Header
	var f crawl.Fetcher = crawl.FetcherFunc(func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
		got = r.Header
		return &crawl.Response{Request: r, Status: 200}, nil
	})
	for _, name := range slices.Backward(names) {
		f = wrap(t, name, env, f)
	}
	if _, err := f.Fetch(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestDefaultHeaders(t *testing.T) {
	env, _ := newEnv(t, map[string]any{
		"DEFAULT_REQUEST_HEADERS": map[string]any{"accept": "a", "X-None": nil, "X-Two": []any{"1", "2"}},
		"USER_AGENT":              "bot",
	})
	for _, tt := range []struct {
		name       string
		have, want http.Header
	}{
		{"none", nil, http.Header{"Accept": {"a"}, "X-Two": {"1", "2"}, "User-Agent": {"bot"}, "Accept-Encoding": {"gzip, deflate, br, zstd"}}},
		{"some", header("X-Own", "1"), http.Header{"X-Own": {"1"}, "Accept": {"a"}, "X-Two": {"1", "2"}, "User-Agent": {"bot"}, "Accept-Encoding": {"gzip, deflate, br, zstd"}}},
		{"one is set", header("Accept", "own"), http.Header{"Accept": {"own"}, "X-Two": {"1", "2"}, "User-Agent": {"bot"}, "Accept-Encoding": {"gzip, deflate, br, zstd"}}},
		{
			"another case",
			http.Header{"user-agent": {"own"}, "accept-encoding": {}},
			http.Header{"User-Agent": {"own"}, "Accept-Encoding": {}, "Accept": {"a"}, "X-Two": {"1", "2"}},
		},
		{
			"suppressed",
			http.Header{"User-Agent": {}, "Accept": nil, "X-Two": {}, "Accept-Encoding": {"br"}},
			http.Header{"User-Agent": {}, "Accept": nil, "X-Two": {}, "Accept-Encoding": {"br"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := maps.Clone(tt.have)
			got := sentHeader(t, env, &crawl.Request{Header: tt.have}, "defaultheaders", "useragent", "retry", "httpcompression", "redirect", "stats")
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("header = %v, want %v", got, tt.want)
			}
			if !reflect.DeepEqual(tt.have, before) {
				t.Errorf("the request's own header became %v", tt.have)
			}
		})
	}
}

// The outer middleware wins, as in Scrapy, whatever stands between them.
func TestDefaultHeadersOrder(t *testing.T) {
	env, _ := newEnv(t, map[string]any{"DEFAULT_REQUEST_HEADERS": map[string]any{"User-Agent": "outer"}, "USER_AGENT": "inner"})
	if got := sentHeader(t, env, &crawl.Request{}, "defaultheaders", "offsite", "useragent").Get("User-Agent"); got != "outer" {
		t.Errorf("User-Agent = %q, want outer", got)
	}
	if got := sentHeader(t, env, &crawl.Request{}, "useragent", "defaultheaders").Get("User-Agent"); got != "inner" {
		t.Errorf("User-Agent = %q, want inner", got)
	}
}

func TestDefaultHeadersOff(t *testing.T) {
	env, _ := newEnv(t, map[string]any{"DEFAULT_REQUEST_HEADERS": map[string]any{}, "USER_AGENT": ""})
	if got := sentHeader(t, env, &crawl.Request{}, "defaultheaders", "useragent"); len(got) != 0 {
		t.Errorf("header = %v, want none", got)
	}
}

// One page costs one copy of its header at most, and none if it has none.
func TestDefaultHeadersAllocs(t *testing.T) {
	env, _ := newEnv(t, nil)
	f := respond(&crawl.Response{Status: 200})
	base := testing.AllocsPerRun(100, func() { _, _ = f.Fetch(t.Context(), &crawl.Request{}) })
	for _, name := range []string{"httpcompression", "retry", "useragent", "defaultheaders"} {
		f = wrap(t, name, env, f)
	}
	for name, tt := range map[string]struct {
		h    http.Header
		most float64
	}{"no header": {nil, 1}, "own header": {header("Referer", "http://a.test/"), 4}} {
		r := &crawl.Request{URL: "http://a.test/", Header: tt.h}
		if got := testing.AllocsPerRun(100, func() { _, _ = f.Fetch(t.Context(), r) }) - base; got > tt.most {
			t.Errorf("%s: %v allocations, want %v at most", name, got, tt.most)
		}
	}
}
