package crawl_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// What goes with a request that has to stay in memory is a copy, and the copy of
// a copy is one too (scrapy/scrapy#6120).
func TestCopy(t *testing.T) {
	t.Parallel()
	s := newShop(1)
	c := crawl.NewCallbacks(s)
	closure := func(context.Context, *crawl.Failure, crawl.Out) error { return nil }
	inline := func(_ context.Context, _ *crawl.Response, out crawl.Out, args map[string]int) error {
		out.Item(args["a"])
		return nil
	}
	for _, tc := range []struct {
		what string
		cb   func(map[string]int) crawl.Callback
		want any
	}{
		{"a closure", func(m map[string]int) crawl.Callback { return crawl.With(inline, m) }, 1},
		{"a method, with a closure as errback", func(m map[string]int) crawl.Callback { return crawl.With(s.ParseMap, m) }, "ParseMap 1 map[a:1]"},
		{"a method that was stored", func(m map[string]int) crawl.Callback {
			return store(t, c, &crawl.Request{URL: "u", Callback: crawl.With(s.ParseMap, m)}).Callback
		}, "ParseMap 1 map[a:1]"},
	} {
		args := map[string]int{"a": 1}
		r := &crawl.Request{URL: "u", Callback: tc.cb(args), Errback: closure, Header: map[string][]string{"A": {"1"}}}
		once, err := c.Copy(r)
		if err != nil {
			t.Fatalf("%s: %v", tc.what, err)
		}
		twice, err := c.Copy(once)
		if err != nil {
			t.Fatalf("%s: %v", tc.what, err)
		}
		args["a"], r.Header["A"][0] = 2, "2"
		for _, got := range []*crawl.Request{once, twice} {
			if item := call(t, got.Callback); item != tc.want || got.Header["A"][0] != "1" {
				t.Errorf("%s: the copy's callback emitted %v, its header is %v", tc.what, item, got.Header)
			}
			if a, err := crawl.ArgsOf[map[string]int](got); err != nil || a["a"] != 1 {
				t.Errorf("%s: ArgsOf the copy = %v, %v", tc.what, a, err)
			}
		}
		changed, _ := crawl.ArgsOf[map[string]int](once)
		changed["a"] = 3
		if a, _ := crawl.ArgsOf[map[string]int](twice); a["a"] != 1 {
			t.Errorf("%s: the second copy shares the first one's arguments", tc.what)
		}
	}
}

func TestCopyErrors(t *testing.T) {
	t.Parallel()
	c := crawl.NewCallbacks(newShop(1))
	inline := func(context.Context, *crawl.Response, crawl.Out, any) error { return nil }
	for _, tc := range []struct {
		r    *crawl.Request
		want string
	}{
		{&crawl.Request{URL: "u", Args: make(chan int)}, "arguments of <GET u> can not be stored"},
		{&crawl.Request{URL: "u", Callback: crawl.With(inline, any(make(chan int)))}, "arguments of <GET u> can not be stored"},
		{&crawl.Request{URL: "u", Meta: map[string]any{"x": uint(1)}}, `Meta["x"] is a uint`},
	} {
		if r, err := c.Copy(tc.r); err == nil || !strings.Contains(err.Error(), tc.want) || errors.Is(err, crawl.ErrUnserializable) {
			t.Errorf("Copy = %v, %v, want %q", r, err, tc.want)
		}
	}
}
