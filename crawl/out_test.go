package crawl_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// step is a Step whose Emit fails for some values, and that has state if state
// is set.
type step struct {
	crawl.Collector
	fail map[any]error
}

func (s *step) Emit(ctx context.Context, v any) error {
	if err := s.fail[v]; err != nil {
		return err
	}
	return s.Collector.Emit(ctx, v)
}

type stateful struct {
	step
	state any
}

func (s *stateful) Update(change func(any)) error { change(s.state); return nil }
func (s *stateful) Read(f func(any)) error        { f(s.state); return nil }

func urls(rs []*crawl.Request) []string {
	var all []string
	for _, r := range rs {
		all = append(all, r.URL)
	}
	return all
}

func TestOutRequest(t *testing.T) {
	t.Parallel()
	var col crawl.Collector
	out := crawl.NewOut(t.Context(), htmlPage("http://example.com/dir/", ""), &col, nil)
	relative := &crawl.Request{URL: "a", Priority: 3}
	absolute := &crawl.Request{URL: "http://example.org/"}
	out.Request(relative)
	out.Request(absolute)
	out.Request(&crawl.Request{URL: "http://[/"})
	if got, want := urls(col.Requests), []string{"http://example.com/dir/a", "http://example.org/"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if relative.URL != "a" || col.Requests[0].Priority != 3 {
		t.Errorf("the caller's request is %+v, the emitted one %+v: want the former as it was", relative, col.Requests[0])
	}
	if col.Requests[1] != absolute {
		t.Error("an absolute request was copied")
	}
	if out.Err() == nil {
		t.Error("Err = nil, want the unusable URL")
	}
}

// TestOutFollow is RS-11 and RS-14: what has no address is passed over.
func TestOutFollow(t *testing.T) {
	t.Parallel()
	s := newShop(1)
	var col crawl.Collector
	out := crawl.NewOut(t.Context(), htmlPage("http://example.com/", `<a href=/1><a href="http://[/"><a href=/2>`), &col, nil)
	out.Follow("", s.Parse)
	out.Follow("http://[/", s.Parse)
	out.Follow("x", s.Parse)
	out.FollowAll(slices.Values([]string{"/1", "", "/2"}), nil)
	want := []string{"http://example.com/x", "http://example.com/1", "http://example.com/2"}
	if got := urls(col.Requests); !slices.Equal(got, want) || out.Err() != nil {
		t.Errorf("got %q, %v, want %q", got, out.Err(), want)
	}
	if col.Requests[0].Callback == nil || col.Requests[1].Callback != nil {
		t.Error("the callbacks are not those that were passed")
	}
}

// TestOutWithoutPage is what Start gets.
func TestOutWithoutPage(t *testing.T) {
	t.Parallel()
	var col crawl.Collector
	out := crawl.NewOut(t.Context(), nil, &col, nil)
	out.Request(&crawl.Request{URL: "http://example.com/1"})
	out.Follow("http://example.com/2", nil)
	out.Follow("relative", nil)
	if got, want := urls(col.Requests), []string{"http://example.com/1", "http://example.com/2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := out.Err(); err != nil {
		t.Errorf("Err = %v, want nil", err)
	}
}

func TestOutKeepsTheFirstError(t *testing.T) {
	t.Parallel()
	first, second := errors.New("first"), errors.New("second")
	s := &step{fail: map[any]error{"bad": first, "worse": second}}
	out := crawl.NewOut(t.Context(), nil, s, nil)
	for _, item := range []any{"a", "bad", "b", "worse", "c"} {
		out.Item(item)
	}
	if want := []any{"a", "b", "c"}; !reflect.DeepEqual(s.Items, want) {
		t.Errorf("emitted %v, want %v", s.Items, want)
	}
	if !errors.Is(out.Err(), first) || errors.Is(out.Err(), second) {
		t.Errorf("Err = %v, want the first", out.Err())
	}
}

func TestOutStopped(t *testing.T) {
	t.Parallel()
	stopped := errors.Join(errors.New("cut"), crawl.ErrStopped)
	s := &step{fail: map[any]error{"bad": errors.New("bad"), "cut": stopped}}
	out := crawl.NewOut(t.Context(), nil, s, nil)
	for _, item := range []any{"bad", "cut", "late"} {
		out.Item(item)
	}
	out.Request(&crawl.Request{URL: "http://example.com/"})
	if s.Items != nil || s.Requests != nil {
		t.Errorf("emitted %v, %v after the stop, want nothing", s.Items, s.Requests)
	}
	if !errors.Is(out.Err(), crawl.ErrStopped) {
		t.Errorf("Err = %v, want ErrStopped in place of the first", out.Err())
	}
}

func TestOutThrough(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	s := &step{fail: map[any]error{"BAD": bad}}
	out := crawl.NewOut(t.Context(), htmlPage("http://example.com/", ""), s, nil)
	inner := out.Through(func(v any) any {
		if item, ok := v.(string); ok {
			return strings.ToUpper(item)
		}
		if r := v.(*crawl.Request); r.URL == "http://example.com/no" {
			return nil
		}
		return v
	})
	inner.Item("a")
	inner.Follow("/no", nil)
	inner.Follow("/yes", nil)
	out.Item("b")
	if want := []any{"A", "b"}; !reflect.DeepEqual(s.Items, want) {
		t.Errorf("items %v, want %v", s.Items, want)
	}
	if got, want := urls(s.Requests), []string{"http://example.com/yes"}; !slices.Equal(got, want) {
		t.Errorf("requests %q, want %q", got, want)
	}
	inner.Item("bad")
	inner.Item("c")
	if want := []any{"A", "b", "C"}; !errors.Is(out.Err(), bad) || !errors.Is(inner.Err(), bad) || !reflect.DeepEqual(s.Items, want) {
		t.Errorf("after an error: %v, %v, %v, want it in both and %v", out.Err(), inner.Err(), s.Items, want)
	}
}

// TestOutThroughErrors has errors that never reach the outer Step.
func TestOutThroughErrors(t *testing.T) {
	t.Parallel()
	pass := func(v any) any { return v }
	out := crawl.NewOut(t.Context(), htmlPage("http://example.com/", ""), &step{}, nil)
	out.Through(pass).Through(pass).Request(&crawl.Request{URL: "http://[/"})
	if out.Err() == nil {
		t.Error("Err = nil, want the unusable URL of the inner Out")
	}
	out = crawl.NewOut(t.Context(), nil, &step{}, nil)
	crawl.ReadState(out.Through(pass), func(*int) { t.Error("read a state that there is not") })
	if err := out.Err(); err == nil || !strings.Contains(err.Error(), "no state") {
		t.Errorf("Err = %v, want no state", err)
	}
}

func TestOutFetch(t *testing.T) {
	t.Parallel()
	base := htmlPage("http://example.com/dir/", "")
	if _, err := crawl.NewOut(t.Context(), base, &step{}, nil).Fetch(t.Context(), &crawl.Request{URL: "a"}); err == nil {
		t.Error("Fetch without a downloader: no error")
	}
	fetch := crawl.FetcherFunc(func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
		return &crawl.Response{Request: r, URL: r.URL}, nil
	})
	r := &crawl.Request{URL: "a"}
	got, err := crawl.NewOut(t.Context(), base, &step{}, fetch).Fetch(t.Context(), r)
	if err != nil || got.URL != "http://example.com/dir/a" || r.URL != "a" {
		t.Errorf("Fetch = %v, %v of %q, want the resolved URL and r as it was", got, err, r.URL)
	}
	if _, err := crawl.NewOut(t.Context(), base, &step{}, fetch).Fetch(t.Context(), &crawl.Request{URL: "http://[/"}); err == nil {
		t.Error("Fetch of an unusable URL: no error")
	}
	got, err = crawl.NewOut(t.Context(), nil, &step{}, fetch).Fetch(t.Context(), &crawl.Request{URL: "http://example.com/"})
	if err != nil || got.URL != "http://example.com/" {
		t.Errorf("Fetch in Start = %v, %v, want the page", got, err)
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	n := 1
	s := &stateful{state: &n}
	out := crawl.NewOut(t.Context(), nil, s, nil)
	inner := out.Through(func(v any) any { return v })
	crawl.UpdateState(out, func(n *int) { *n++ })
	crawl.UpdateState(inner, func(n *int) { *n *= 10 })
	got := 0
	crawl.ReadState(inner, func(n *int) { got = *n })
	if got != 20 || out.Err() != nil {
		t.Errorf("the state is %d, %v, want 20", got, out.Err())
	}
	crawl.UpdateState(out, func(*string) { t.Error("changed a state of another type") })
	if err := out.Err(); err == nil || !strings.Contains(err.Error(), "is a *int, not a *string") {
		t.Errorf("Err = %v, want both types", err)
	}
}

func TestStateOfSpiderWithout(t *testing.T) {
	t.Parallel()
	for what, do := range map[string]func(crawl.Out){
		"UpdateState": func(o crawl.Out) { crawl.UpdateState(o, func(*int) {}) },
		"ReadState":   func(o crawl.Out) { crawl.ReadState(o, func(*int) {}) },
	} {
		out := crawl.NewOut(t.Context(), nil, &step{}, nil)
		do(out)
		if err := out.Err(); err == nil || !strings.Contains(err.Error(), "no state") {
			t.Errorf("%s: Err = %v, want no state", what, err)
		}
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	got, err := crawl.Run(t.Context(), func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		out.Item(r.CSS("a[").Len())
		out.Follow("/x", nil)
		out.Request(&crawl.Request{URL: "http://[/"})
		return failed
	}, htmlPage("http://example.com/", ""))
	if len(got.Items) != 1 || len(got.Requests) != 1 {
		t.Errorf("got %+v, want what was emitted before the error", got)
	}
	if !errors.Is(err, failed) || !strings.Contains(err.Error(), "invalid CSS selector") || !strings.Contains(err.Error(), "[/") {
		t.Errorf("got %v, want all three errors", err)
	}
}
