package extensions

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

type divisionError struct{}

func (*divisionError) Error() string { return "division by zero" }

// SS-02.
func TestCoreStats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env, _ := testEnv(t)
		if ext := build(t, "corestats", env); ext != nil {
			t.Errorf("corestats has something to run: %v", ext)
		}
		start := time.Now().UTC()
		send(t, env, crawl.SpiderOpened{})
		send(t, env, crawl.ItemScraped{Item: 1})
		send(t, env, crawl.ResponseReceived{})
		send(t, env, crawl.ItemDropped{Err: &divisionError{}})
		send(t, env, crawl.ItemDropped{Err: fmt.Errorf("price: %w", crawl.Drop("missing"))})
		time.Sleep(1500 * time.Millisecond)
		send(t, env, crawl.SpiderClosed{Reason: "finished"})
		want := map[string]any{
			"start_time": start, "finish_time": start.Add(1500 * time.Millisecond), "elapsed_time_seconds": 1.5,
			"item_scraped_count": int64(1), "response_received_count": int64(1), "item_dropped_count": int64(2),
			"item_dropped_reasons_count/divisionError": int64(1), "item_dropped_reasons_count/DropItem": int64(1),
			"finish_reason": "finished",
		}
		if got := env.Stats.Snapshot(); !maps.Equal(got, want) {
			t.Errorf("stats:\n got %v\nwant %v", got, want)
		}
	})
}

func TestCoreStatsListsNothingThatDidNotHappen(t *testing.T) {
	t.Parallel()
	env, _ := testEnv(t)
	build(t, "corestats", env)
	if got := env.Stats.Snapshot(); len(got) != 0 {
		t.Errorf("stats before the first event: %v", got)
	}
	send(t, env, crawl.SpiderClosed{Reason: "start_error"}) // a crawl that never opened
	if got := env.Stats.Get("elapsed_time_seconds"); got != nil {
		t.Errorf("elapsed_time_seconds = %v without a start", got)
	}
}

func TestCoreStatsCountsFromManyGoroutines(t *testing.T) {
	t.Parallel()
	env, _ := testEnv(t)
	build(t, "corestats", env)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				_ = crawl.Send(t.Context(), env.Signals, crawl.ItemScraped{})
			}
		})
	}
	wg.Wait()
	if got := env.Stats.Count("item_scraped_count"); got != 800 {
		t.Errorf("item_scraped_count = %d, want 800", got)
	}
}

func BenchmarkItemScraped(b *testing.B) {
	env := &crawl.Env{Stats: crawl.NewStats(), Signals: &crawl.Signals{}}
	if _, err := NewCoreStats(env); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = crawl.Send(b.Context(), env.Signals, crawl.ItemScraped{})
	}
}
