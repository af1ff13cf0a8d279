package downloader

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// teach lets a slot learn a delay: a first response that took as long.
func teach(s *Slots, slot string, now float64, delay time.Duration) {
	s.Take(slot, at(now))
	s.Sent(slot, at(now))
	s.get(slot, at(now)).delay = delay
	s.Free(slot, at(now), Ended{Sent: true, Latency: delay, Status: 200})
}

// What AutoThrottle and Retry-After have taught goes on in the next run, within
// the bounds of its settings.
func TestSlotsRestore(t *testing.T) {
	t.Parallel()
	now := time.Now()
	first := throttled(nil)
	teach(first, "slow", 0, 20*time.Second)
	teach(first, "quick", 0, time.Second)
	first.Take("held", now)
	first.Free("held", now, Ended{Sent: true, BackOff: now.Add(30 * time.Second)})
	saved := first.Save()
	if saved == nil {
		t.Fatal("nothing is saved")
	}
	if again := first.Save(); again != nil {
		t.Errorf("saved again although nothing is new: %s", again)
	}
	for _, c := range []struct {
		name        string
		change      func(*SlotsConfig)
		slow, quick time.Duration
	}{
		{"as before", func(*SlotsConfig) {}, 20 * time.Second, time.Second},
		{"a higher floor", func(cfg *SlotsConfig) { cfg.Delay = 2 * time.Second }, 20 * time.Second, 2 * time.Second},
		{"a floor above all", func(cfg *SlotsConfig) { cfg.Delay = 2 * time.Minute }, 2 * time.Minute, 2 * time.Minute},
		{"a lower maximum", func(cfg *SlotsConfig) { cfg.MaxDelay = 9 * time.Second }, 9 * time.Second, time.Second},
		{"its own delay", func(cfg *SlotsConfig) {
			cfg.Slots = map[string]any{"quick": map[string]any{"delay": 4}}
		}, 20 * time.Second, 4 * time.Second},
		{"without AutoThrottle", func(cfg *SlotsConfig) { cfg.AutoThrottle = false }, 0, 0},
	} {
		s := throttled(c.change)
		if err := s.Restore(saved, now); err != nil {
			t.Fatal(err)
		}
		if slow, quick := s.get("slow", now).delay, s.get("quick", now).delay; slow != c.slow || quick != c.quick {
			t.Errorf("%s: delays %v and %v, want %v and %v", c.name, slow, quick, c.slow, c.quick)
		}
		if ok, until := s.Ready("held", now); ok || until.Sub(now).Round(time.Millisecond) != 30*time.Second {
			t.Errorf("%s: the slot that is held is ready = %v in %v, want in 30s", c.name, ok, until.Sub(now))
		}
		if s.Save() != nil {
			t.Errorf("%s: what was restored is saved again", c.name)
		}
	}
}

// A back-off that is over is forgotten, and one that a jump of the clock has put
// far ahead counts as an hour.
func TestSlotsRestoreBackOff(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, c := range map[string]struct{ left, want time.Duration }{
		"over":      {-time.Second, 0},
		"long over": {-1000 * time.Hour, 0},
		"soon":      {time.Minute, time.Minute},
		"a jump":    {1000 * time.Hour, time.Hour},
	} {
		saved, err := json.Marshal([]lesson{{Slot: "a", BackOff: now.Add(c.left)}})
		if err != nil {
			t.Fatal(err)
		}
		s := NewSlots(SlotsConfig{Concurrency: 1})
		if err := s.Restore(saved, now); err != nil {
			t.Fatal(err)
		}
		ok, until := s.Ready("a", now)
		if ok != (c.want == 0) || !ok && until.Sub(now).Round(time.Second) != c.want {
			t.Errorf("%s: ready = %v in %v, want in %v", name, ok, until.Sub(now), c.want)
		}
		if ok, _ := s.Ready("a", now.Add(c.want)); !ok {
			t.Errorf("%s: not ready after %v", name, c.want)
		}
		for range 3 {
			s.sweep(now.Add(2 * time.Hour))
		}
		if len(s.m) != 0 {
			t.Errorf("%s: the slot stays for ever", name)
		}
	}
}

func TestSlotsRestoreErrors(t *testing.T) {
	t.Parallel()
	s := throttled(nil)
	if err := s.Restore(nil, at(0)); err != nil {
		t.Errorf("nothing to restore: %v", err)
	}
	if err := s.Restore([]byte(`{"slot":1}`), at(0)); err == nil || !strings.Contains(err.Error(), "learned delays") {
		t.Errorf("another form: %v, want an error that says what was read", err)
	}
	if err := s.Restore([]byte(`[{"slot":"a","delay":1e300},{"slot":"b","delay":-1}]`), at(0)); err != nil {
		t.Error(err)
	}
	if a, b := s.get("a", at(0)).delay, s.get("b", at(0)).delay; a != time.Minute || b != sec(5) {
		t.Errorf("senseless delays gave %v and %v, want the longest and the first", a, b)
	}
	if s.Save() != nil {
		t.Error("there is something to save before anything was learned")
	}
}

// The memory has a bound: the slots that taught nothing for the longest time give
// way. What is saved has their order.
func TestSlotsMemoryIsBounded(t *testing.T) {
	t.Parallel()
	s := throttled(nil)
	for i := range maxRemembered + 100 {
		teach(s, fmt.Sprint("host", i), float64(i), time.Millisecond)
		teach(s, "often", float64(i), 2*time.Millisecond)
	}
	if n := len(s.memory.m); n != maxRemembered || s.memory.order.Len() != n {
		t.Errorf("%d slots are remembered, want %d", n, maxRemembered)
	}
	if n := len(s.m); n > 100 {
		t.Errorf("%d slots are in use, want those of the last moments", n)
	}
	for name, want := range map[string]time.Duration{"often": 2 * time.Millisecond, "host0": 0, fmt.Sprint("host", maxRemembered+99): time.Millisecond} {
		if got := s.memory.recall(name); got.delay() != want {
			t.Errorf("%s: %v, want %v", name, got.delay(), want)
		}
	}
	saved := s.Save()
	again := throttled(nil)
	if err := again.Restore(saved, at(0)); err != nil {
		t.Fatal(err)
	}
	teach(again, "new", 0, time.Millisecond)
	if got := again.memory.recall(again.memory.order.Front().Value.(*lesson).Slot); got.Delay == 0 || len(again.memory.m) != maxRemembered {
		t.Error("the restored memory is not bounded")
	}
	if _, there := again.memory.m["host101"]; there {
		t.Error("the oldest of the restored slots did not give way")
	}
}

// The form in which the job keeps it.
func TestSlotsSave(t *testing.T) {
	t.Parallel()
	s := throttled(nil)
	teach(s, "a.test", 0, 1500*time.Millisecond)
	var got []map[string]any
	if err := json.Unmarshal(s.Save(), &got); err != nil {
		t.Fatal(err)
	}
	if want := []map[string]any{{"slot": "a.test", "delay": 1.5}}; !reflect.DeepEqual(got, want) {
		t.Errorf("saved %v, want %v", got, want)
	}
}
