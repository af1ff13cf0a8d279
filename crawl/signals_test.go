package crawl_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

type event struct{ n int }

func TestSignalsOrderAndErrors(t *testing.T) {
	t.Parallel()
	var s crawl.Signals
	var got []int
	first := errors.New("first")
	crawl.On(&s, func(_ context.Context, e event) error { got = append(got, e.n); return first })
	crawl.On(&s, func(context.Context, event) error { got = append(got, 10); panic(io.EOF) })
	crawl.On(&s, func(context.Context, crawl.EngineStarted) error { got = append(got, 99); return nil })
	crawl.On(&s, func(context.Context, event) error { got = append(got, 20); return nil })
	err := crawl.Send(t.Context(), &s, event{1})
	if want := []int{1, 10, 20}; !slices.Equal(got, want) {
		t.Errorf("handlers ran as %v, want %v", got, want)
	}
	var p *crawl.PanicError
	if !errors.Is(err, first) || !errors.Is(err, io.EOF) || !errors.As(err, &p) || len(p.Stack) == 0 {
		t.Errorf("got %v, want both errors, the panic with its stack", err)
	}
	if err := crawl.Send(t.Context(), &s, crawl.EngineStopped{}); err != nil {
		t.Errorf("an event without handlers: %v", err)
	}
}

func TestSignalsContext(t *testing.T) {
	t.Parallel()
	var s crawl.Signals
	type key struct{}
	crawl.On(&s, func(ctx context.Context, _ event) error {
		if ctx.Value(key{}) != 1 {
			t.Error("the handler has another context than the sender")
		}
		return crawl.ErrDontClose
	})
	if err := crawl.Send(context.WithValue(t.Context(), key{}, 1), &s, event{}); !errors.Is(err, crawl.ErrDontClose) {
		t.Errorf("got %v, want ErrDontClose", err)
	}
}

// TestOnDuringSend adds a handler from a handler: it is called from the next
// event on.
func TestOnDuringSend(t *testing.T) {
	t.Parallel()
	var s crawl.Signals
	added := 0
	crawl.On(&s, func(context.Context, event) error {
		crawl.On(&s, func(context.Context, event) error { added++; return nil })
		return nil
	})
	for _, want := range []int{0, 1, 3} {
		if err := crawl.Send(t.Context(), &s, event{}); err != nil || added != want {
			t.Errorf("added handlers ran %d times, %v, want %d", added, err, want)
		}
	}
}

func TestSignalsConcurrently(t *testing.T) {
	t.Parallel()
	var s crawl.Signals
	stats := crawl.NewStats()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			crawl.On(&s, func(context.Context, event) error { stats.Inc("calls"); return nil })
			for range 10 {
				if err := crawl.Send(t.Context(), &s, event{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := stats.Count("calls"); n < 8*10 || n > 8*8*10 {
		t.Errorf("handlers ran %d times, want from 80 to 640", n)
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	want := errors.New("x")
	if err := crawl.Guard(func() error { return want }); !errors.Is(err, want) {
		t.Errorf("got %v, want the error as it is", err)
	}
	var none []int
	err := crawl.Guard(func() error { none[0] = 1; return nil })
	if err == nil || !strings.HasPrefix(err.Error(), "panic: runtime error: index out of range") {
		t.Errorf("got %v, want the panic", err)
	}
	err = crawl.Guard(func() error { panic("text") })
	if err == nil || errors.Unwrap(err) != nil || err.Error() != "panic: text" {
		t.Errorf("got %v, want panic: text", err)
	}
}

// TestStats is SS-01, but for what there is no call for: a minimum, and a clear.
func TestStats(t *testing.T) {
	t.Parallel()
	s := crawl.NewStats()
	s.Inc("a")
	s.Add("a", 4)
	s.Max("m", 3)
	s.Max("m", 2)
	s.Set("reason", "finished")
	for key, want := range map[string]any{"a": int64(5), "m": int64(3), "reason": "finished", "none": nil} {
		if got := s.Get(key); got != want {
			t.Errorf("Get(%s) = %v, want %v", key, got, want)
		}
	}
	if s.Count("none") != 0 || s.Count("reason") != 0 || s.Count("a") != 5 {
		t.Errorf("Count = %d, %d, %d, want 0, 0, 5", s.Count("none"), s.Count("reason"), s.Count("a"))
	}
	snap := s.Snapshot()
	s.Inc("a")
	if len(snap) != 3 || snap["a"] != int64(5) || snap["reason"] != "finished" {
		t.Errorf("Snapshot = %v, want the three figures as they were", snap)
	}
}

// Counters tells which counters add up over several crawls.
func TestStatsCounters(t *testing.T) {
	t.Parallel()
	s := crawl.NewStats()
	s.Counter("zero")
	s.Add("a", 4)
	s.Max("m", 3)
	s.Max("low", -1)
	s.Set("reason", "finished")
	sums, maxima := s.Counters()
	s.Inc("a")
	if want := map[string]int64{"zero": 0, "a": 4}; !maps.Equal(sums, want) {
		t.Errorf("sums %v, want %v", sums, want)
	}
	if want := map[string]int64{"m": 3, "low": 0}; !maps.Equal(maxima, want) {
		t.Errorf("maxima %v, want %v", maxima, want)
	}
}

func TestStatsConcurrently(t *testing.T) {
	t.Parallel()
	s := crawl.NewStats()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 100 {
				s.Inc("n")
				s.Max("max", int64(i*100+n))
				s.Set("last", n)
				s.Snapshot()
				s.Get("last")
			}
		})
	}
	wg.Wait()
	if s.Count("n") != 800 || s.Count("max") != 799 {
		t.Errorf("n = %d, max = %d, want 800, 799", s.Count("n"), s.Count("max"))
	}
}
