package crawl_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// Callbacks that change state, and errbacks, are tested through a Collector.
func TestCollector(t *testing.T) {
	t.Parallel()
	type state struct{ Pages int }
	s := &state{Pages: 1}
	c := &crawl.Collector{State: s}
	errback := func(_ context.Context, f *crawl.Failure, out crawl.Out) error {
		crawl.UpdateState(out, func(s *state) { s.Pages++ })
		crawl.ReadState(out, func(s *state) { out.Item(s.Pages) })
		out.Request(f.Request)
		return out.Err()
	}
	f := &crawl.Failure{Request: &crawl.Request{URL: "http://a.test/"}, Err: errors.New("refused")}
	if err := errback(t.Context(), f, c.Out(t.Context(), nil)); err != nil {
		t.Fatal(err)
	}
	if s.Pages != 2 || len(c.Items) != 1 || c.Items[0] != 2 || len(c.Requests) != 1 {
		t.Errorf("state %+v, items %v, requests %v", s, c.Items, c.Requests)
	}
	out := (&crawl.Collector{}).Out(t.Context(), nil)
	crawl.UpdateState(out, func(*state) {})
	if err := out.Err(); err == nil || !strings.Contains(err.Error(), "no state") {
		t.Errorf("without state: got %v", err)
	}
}

func TestNilItem(t *testing.T) {
	t.Parallel()
	out := (&crawl.Collector{}).Out(t.Context(), nil)
	out.Item(nil)
	if out.Err() == nil {
		t.Error("a nil item is no error")
	}
}

// DQ-18: a value that holds itself is an error that names its key.
func TestCyclicMeta(t *testing.T) {
	t.Parallel()
	m := map[string]any{}
	m["self"] = m
	if _, err := crawl.CopyMeta(map[string]any{"m": m}); err == nil || !strings.Contains(err.Error(), `Meta["m"]["self"]`) {
		t.Errorf("got %v, want an error that names the key", err)
	}
}
