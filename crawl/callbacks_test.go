package crawl_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// store encodes a request and decodes it again for a running spider.
func store(t *testing.T, c *crawl.Callbacks, r *crawl.Request) *crawl.Request {
	t.Helper()
	b, err := c.AppendRequest(nil, r)
	if err != nil {
		t.Fatalf("AppendRequest: %v", err)
	}
	got, err := c.DecodeRequest(b)
	if err != nil {
		t.Fatalf("DecodeRequest(%s): %v", b, err)
	}
	return got
}

// call runs a callback and returns the one thing that it emitted.
func call(t *testing.T, cb crawl.Callback) any {
	t.Helper()
	c, err := crawl.Run(t.Context(), cb, &crawl.Response{URL: "http://example.com/"})
	if err != nil {
		t.Fatalf("the callback failed: %v", err)
	}
	if len(c.Items) != 1 {
		t.Fatalf("the callback emitted %v, want one item", c.Items)
	}
	return c.Items[0]
}

// withOf binds arguments in a function of its own, where the compiler can inline
// nothing.
//
//go:noinline
func withOf[A any](cb func(context.Context, *crawl.Response, crawl.Out, A) error, a A) crawl.Callback {
	return crawl.With(cb, a)
}

// TestCallbackNames proves that a method value of the spider has a name, and that
// the name leads to the method of the running spider. The values are those of
// another instance (1) than the running one (2). Promoted methods are what Scrapy
// has as methods of a mixin (SER-08).
func TestCallbackNames(t *testing.T) {
	t.Parallel()
	s, running := newShop(1), newShop(2)
	c := crawl.NewCallbacks(running)
	for _, tc := range []struct {
		what, name, want string
		cb               crawl.Callback
	}{
		{"pointer receiver", "Parse", "Parse 2", s.Parse},
		{"value receiver", "ByValue", "ByValue 2", s.ByValue},
		{"value receiver of a value", "ByValue", "ByValue 2", (*s).ByValue},
		{"promoted", "Promoted", "Promoted 2", s.Promoted},
		{"promoted value receiver", "PromotedValue", "PromotedValue 2", s.PromotedValue},
		{"promoted, taken of the embedded value", "Promoted", "Promoted 2", s.plain.Promoted}, //nolint:staticcheck // what is selected is the point.
		{"promoted by two embeddings", "Deep", "Deep 2", s.Deep},
		{"promoted by a pointer", "Middle", "byPointer.Middle 2", s.Middle},
		{"overridden, the outer one", "Overridden", "shop.Overridden 2", s.Overridden},
		{"generic embedded", "NextPage", "NextPage 2", s.NextPage},
		{"generic embedded value", "PageValue", "PageValue 2", s.PageValue},
		{"struct arguments", "ParseBook", "ParseBook 2 {3 Go}", crawl.With(s.ParseBook, book{3, "Go"})},
		{"struct arguments, not inlined", "ParseBook", "ParseBook 2 {3 Go}", withOf(s.ParseBook, book{3, "Go"})},
		{"pointer arguments", "ParseBookP", "ParseBookP 2 &{4 }", crawl.With(s.ParseBookP, &book{Shelf: 4})},
		{"pointer arguments, not inlined", "ParseBookP", "ParseBookP 2 &{4 }", withOf(s.ParseBookP, &book{Shelf: 4})},
		{"nil pointer as arguments", "ParseBookP", "ParseBookP 2 <nil>", crawl.With(s.ParseBookP, nil)},
		{"string", "ParseWord", `ParseWord 2 "a<b>é"`, crawl.With(s.ParseWord, "a<b>é")},
		{"string, not inlined", "ParseWord", `ParseWord 2 "a<b>é"`, withOf(s.ParseWord, "a<b>é")},
		{"map", "ParseMap", "ParseMap 2 map[a:1]", crawl.With(s.ParseMap, map[string]int{"a": 1})},
		{"map, not inlined", "ParseMap", "ParseMap 2 map[a:1]", withOf(s.ParseMap, map[string]int{"a": 1})},
		{"generic type", "ParsePair", "ParsePair 2 {x 7}", crawl.With(s.ParsePair, pair[string, int]{"x", 7})},
		{"generic type, not inlined", "ParsePair", "ParsePair 2 {x 7}", withOf(s.ParsePair, pair[string, int]{"x", 7})},
		{"arguments of a generic method", "PageArgs", "PageArgs 2 9", crawl.With(s.PageArgs, 9)},
		{"interface", "ParseAny", "ParseAny 2 [1 2]", crawl.With(s.ParseAny, any([]int{1, 2}))},
		{"nil interface", "ParseAny", "ParseAny 2 <nil>", crawl.With[any](s.ParseAny, nil)},
	} {
		t.Run(tc.what, func(t *testing.T) {
			t.Parallel()
			r := &crawl.Request{URL: "http://example.com/", Callback: tc.cb}
			if name, _, err := c.Names(r); name != tc.name || err != nil {
				t.Fatalf("Names = %q, %v, want %q", name, err, tc.name)
			}
			// A decoded callback was found by reflection: it must have its name
			// still, or a retry could not be stored.
			once := store(t, c, r)
			twice := store(t, c, once)
			for i, r := range []*crawl.Request{once, twice} {
				if got := call(t, r.Callback); got != tc.want {
					t.Errorf("stored %d times, the callback emitted %q, want %q", i+1, got, tc.want)
				}
			}
		})
	}
}

// TestCallbackLeaf is a callback whose body is inlined into its method value.
func TestCallbackLeaf(t *testing.T) {
	t.Parallel()
	s := newShop(1)
	c := crawl.NewCallbacks(s)
	if name, _, err := c.Names(&crawl.Request{Callback: s.Leaf, Errback: s.Fail}); name != "Leaf" || err != nil {
		t.Errorf("Names = %q, %v, want Leaf", name, err)
	}
}

// TestCallbacksWithoutName is SER-10 (a closure) and SER-11 (a method of another
// type than the spider's).
func TestCallbacksWithoutName(t *testing.T) {
	t.Parallel()
	s := newShop(1)
	c := crawl.NewCallbacks(s)
	var iface crawl.Spider = s
	for _, tc := range []struct {
		what, want string
		cb         crawl.Callback
	}{
		{"closure", "closure", func(context.Context, *crawl.Response, crawl.Out) error { return nil }},
		{"function", "parseFunc is a function", parseFunc},
		{"arguments bound to a closure", "closure", crawl.With(func(context.Context, *crawl.Response, crawl.Out, int) error { return nil }, 1)},
		{"method of an interface", "crawl.Spider.Parse is a method of another type than *crawl_test.shop", iface.Parse},
		{"method of another type", "stranger.Parse", stranger{}.Parse},
		{"overridden by the spider", "plain).Overridden", s.plain.Overridden},
		{"overridden on the way", "plainDeep).Middle", s.plainDeep.Middle},
		{"not exported", "shop).unexported", s.unexported},
		{"inside a generic type", "inside a generic type", s.inside()},
	} {
		t.Run(tc.what, func(t *testing.T) {
			t.Parallel()
			b, err := c.AppendRequest([]byte("x"), &crawl.Request{URL: "http://example.com/", Callback: tc.cb})
			if !errors.Is(err, crawl.ErrUnserializable) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("AppendRequest: %v, want ErrUnserializable with %q", err, tc.want)
			}
			if string(b) != "x" {
				t.Errorf("AppendRequest returned %q with its error, want %q", b, "x")
			}
		})
	}
}

func TestCallbackOfEmbeddedInterface(t *testing.T) {
	t.Parallel()
	d := &decorated{newShop(1)}
	_, _, err := crawl.NewCallbacks(d).Names(&crawl.Request{Callback: d.Parse})
	if !errors.Is(err, crawl.ErrUnserializable) || !strings.Contains(err.Error(), "through an interface") {
		t.Errorf("got %v, want ErrUnserializable through an interface", err)
	}
}

func TestCallbackOfRecursiveType(t *testing.T) {
	t.Parallel()
	s := &recursive{}
	if name, _, err := crawl.NewCallbacks(s).Names(&crawl.Request{Callback: s.Parse}); name != "Parse" || err != nil {
		t.Errorf("Names = %q, %v, want Parse", name, err)
	}
}

func TestCallbacksHas(t *testing.T) {
	t.Parallel()
	c := crawl.NewCallbacks(newShop(1))
	for name, want := range map[string]bool{
		"Parse": true, "Fail": true, "ParseBook": true, "Deep": true, "NextPage": true,
		"Total": false, "ParseMany": false, "unexported": false, "": false,
	} {
		if got := c.Has(name); got != want {
			t.Errorf("Has(%q) = %t, want %t", name, got, want)
		}
	}
}

// TestWithLive calls a bound callback that was never stored: it is bound to the
// instance it was taken of, and its error is the callback's.
func TestWithLive(t *testing.T) {
	t.Parallel()
	if got, want := call(t, crawl.With(newShop(1).ParseWord, "w")), `ParseWord 1 "w"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	failed := errors.New("failed")
	cb := crawl.With(func(context.Context, *crawl.Response, crawl.Out, int) error { return failed }, 1)
	if _, err := crawl.Run(t.Context(), cb, &crawl.Response{URL: "u"}); !errors.Is(err, failed) {
		t.Errorf("got %v, want the callback's error", err)
	}
}

// TestDecodedCallbackFails has the error of a callback that reflection calls.
func TestDecodedCallbackFails(t *testing.T) {
	t.Parallel()
	s := newShop(1)
	c := crawl.NewCallbacks(s)
	r := store(t, c, &crawl.Request{URL: "u", Callback: crawl.With(s.FailWith, "reason")})
	if _, err := crawl.Run(t.Context(), r.Callback, &crawl.Response{URL: "u"}); err == nil || err.Error() != "reason" {
		t.Errorf("got %v, want reason", err)
	}
}

func TestCallbacksOfValueSpider(t *testing.T) {
	t.Parallel()
	c := crawl.NewCallbacks(stranger{})
	if !c.Has("Parse") {
		t.Fatal("Has(Parse) = false, want true")
	}
	store(t, c, &crawl.Request{URL: "http://example.com/", Callback: stranger{}.Parse})
}

// TestErrbackNames also covers a request without any callback (SER-04).
func TestErrbackNames(t *testing.T) {
	t.Parallel()
	s, running := newShop(1), newShop(2)
	c := crawl.NewCallbacks(running)
	r := store(t, c, &crawl.Request{URL: "http://example.com/", Errback: s.Fail})
	r = store(t, c, r)
	if r.Callback != nil {
		t.Error("a nil callback came back as something")
	}
	var col crawl.Collector
	if err := r.Errback(t.Context(), &crawl.Failure{}, crawl.NewOut(t.Context(), nil, &col, nil)); err != nil {
		t.Fatal(err)
	}
	if want := []any{"Fail 2"}; !reflect.DeepEqual(col.Items, want) {
		t.Errorf("the errback emitted %v, want %v", col.Items, want)
	}
	_, err := c.AppendRequest(nil, &crawl.Request{Errback: func(context.Context, *crawl.Failure, crawl.Out) error { return nil }})
	if !errors.Is(err, crawl.ErrUnserializable) {
		t.Errorf("errback that is a closure: %v, want ErrUnserializable", err)
	}
}

func TestArgsOf(t *testing.T) {
	t.Parallel()
	s := newShop(1)
	c := crawl.NewCallbacks(s)
	bound := &crawl.Request{URL: "http://example.com/", Callback: crawl.With(s.ParseBook, book{3, "Go"})}
	own := &crawl.Request{URL: "http://example.com/", Args: book{5, "C"}}
	for _, tc := range []struct {
		what string
		r    *crawl.Request
		want book
	}{
		{"bound, live", bound, book{3, "Go"}},
		{"bound, decoded", store(t, c, bound), book{3, "Go"}},
		{"bound, decoded twice", store(t, c, store(t, c, bound)), book{3, "Go"}},
		{"own, live", own, book{5, "C"}},
		{"own, decoded", store(t, c, own), book{5, "C"}},
		{"own, decoded twice", store(t, c, store(t, c, own)), book{5, "C"}},
		{"bound above own", &crawl.Request{Args: book{5, "C"}, Callback: bound.Callback}, book{3, "Go"}},
	} {
		t.Run(tc.what, func(t *testing.T) {
			t.Parallel()
			if got, err := crawl.ArgsOf[book](tc.r); got != tc.want || err != nil {
				t.Errorf("ArgsOf = %v, %v, want %v", got, err, tc.want)
			}
		})
	}
}

func TestArgsOfErrors(t *testing.T) {
	t.Parallel()
	c := crawl.NewCallbacks(newShop(1))
	r := &crawl.Request{URL: "http://example.com/", Args: "text"}
	if _, err := crawl.ArgsOf[int](r); err == nil || !strings.Contains(err.Error(), "are string, not int") {
		t.Errorf("live: got %v, want both types", err)
	}
	if _, err := crawl.ArgsOf[int](store(t, c, r)); err == nil || !strings.Contains(err.Error(), "<GET http://example.com/>") {
		t.Errorf("decoded: got %v, want the request named", err)
	}
	if _, err := crawl.ArgsOf[error](&crawl.Request{}); err == nil || !strings.Contains(err.Error(), "not error") {
		t.Errorf("none: got %v, want the type named", err)
	}
	if got, err := crawl.ArgsOf[any](store(t, c, r)); got != "text" || err != nil {
		t.Errorf("ArgsOf[any] = %v, %v, want text", got, err)
	}
}

// TestStoredCallbackGone is SER-13, a queue of another version of the program; and
// huntr#1596: what is stored chooses among the callbacks of the spider, and runs
// nothing else.
func TestStoredCallbackGone(t *testing.T) {
	t.Parallel()
	c := crawl.NewCallbacks(newShop(1))
	for _, tc := range []struct{ stored, want string }{
		{`{"url":"u","callback":"ParseGone"}`, `no callback "ParseGone"`},
		{`{"url":"u","callback":"Fail"}`, `no callback "Fail"`},
		{`{"url":"u","errback":"FailGone"}`, `no errback "FailGone"`},
		{`{"url":"u","errback":"Parse"}`, `no errback "Parse"`},
		{`{"url":"u","callback":"ParseBook"}`, "arguments of callback ParseBook: none were stored"},
		{`{"url":"u","callback":"ParseBook","args":"x"}`, "arguments of callback ParseBook"},
	} {
		if _, err := c.DecodeRequest([]byte(tc.stored)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("DecodeRequest(%s): %v, want %q", tc.stored, err, tc.want)
		}
	}
}
