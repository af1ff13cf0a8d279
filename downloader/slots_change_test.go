package downloader

import (
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

func mustChange(t *testing.T, s *Slots, name string, c crawl.SlotChange, now float64, want ...string) {
	t.Helper()
	got, err := s.Change(name, c, at(now))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("change of %s: %q, %v; want %q", name, got, err, want)
	}
}

// A change counts at once, for the delay that runs too.
func TestSlotsChange(t *testing.T) {
	t.Parallel()
	s := NewSlots(SlotsConfig{Concurrency: 1, Delay: 10 * time.Second})
	s.Take("a.test", at(0))
	s.Sent("a.test", at(0))
	mustChange(t, s, "a.test", crawl.SlotChange{Concurrency: 2}, 0, "a.test")
	wantBusy(t, s, "a.test", 0, 10)
	mustChange(t, s, "A.test", crawl.SlotChange{Delay: new(4 * time.Second)}, 1, "a.test")
	wantBusy(t, s, "a.test", 1, 4)
	mustChange(t, s, "a.test", crawl.SlotChange{Delay: new(time.Duration(0))}, 1, "a.test")
	wantReady(t, s, "a.test", 1)
	s.Take("a.test", at(1))
	wantBusy(t, s, "a.test", 1, -1) // two are active
	mustChange(t, s, "a.test", crawl.SlotChange{Concurrency: 3}, 1, "a.test")
	wantReady(t, s, "a.test", 1)

	s.rand = func() float64 { return 0 }
	mustChange(t, s, "b.test", crawl.SlotChange{Randomize: new(true)}, 1)
	s.Take("b.test", at(1))
	s.Sent("b.test", at(1))
	wantBusy(t, s, "b.test", 1, -1) // the concurrency of all
	s.Free("b.test", at(1), Ended{Sent: true})
	wantBusy(t, s, "b.test", 1, 6)
}

// A slot without delay that gets one begins with it at once: the last request may
// have been sent just now.
func TestSlotsChangeFromNoDelay(t *testing.T) {
	t.Parallel()
	s := NewSlots(SlotsConfig{Concurrency: 8})
	s.Take("a", at(0))
	mustChange(t, s, "a", crawl.SlotChange{Delay: new(5 * time.Second)}, 3, "a")
	wantBusy(t, s, "a", 3, 8)
	s.Free("a", at(4), Ended{})
	wantBusy(t, s, "a", 4, 8)
	if !s.Take("a", at(8)) {
		t.Error("the next request is not paced")
	}
}

// As in DOWNLOAD_SLOTS: a name goes before a pattern, a longer pattern before a
// shorter one; what a change does not name stays.
func TestSlotsChangePattern(t *testing.T) {
	t.Parallel()
	s := NewSlots(SlotsConfig{Concurrency: 8, Slots: map[string]any{
		"own.example.com": map[string]any{"concurrency": 1}, "*.a.example.com": map[string]any{"delay": 7},
	}})
	for _, name := range []string{"own.example.com", "www.example.com", "www.a.example.com", "example.com", "other.test"} {
		s.Take(name, at(0))
	}
	mustChange(t, s, "*.example.com", crawl.SlotChange{Concurrency: 3, Delay: new(2 * time.Second)}, 0, "www.example.com")
	mustChange(t, s, "*.a.example.com", crawl.SlotChange{Concurrency: 4}, 0, "www.a.example.com")
	mustChange(t, s, "own.example.com", crawl.SlotChange{Delay: new(time.Second)}, 0, "own.example.com")
	mustChange(t, s, "later.test", crawl.SlotChange{Concurrency: 5}, 0)
	for name, want := range map[string]slotParams{
		"own.example.com":   {1, time.Second, true, false, true},
		"www.example.com":   {3, 2 * time.Second, true, false, true},
		"new.example.com":   {3, 2 * time.Second, true, false, true},
		"www.a.example.com": {4, 7 * time.Second, true, false, true},
		"example.com":       {8, 0, false, false, true},
		"later.test":        {5, 0, false, false, true},
	} {
		if got := *s.get(name, at(0)).params; got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// AutoThrottle goes on from the delay that is set, and not below it; what it had
// learned before is forgotten.
func TestSlotsChangeThrottled(t *testing.T) {
	t.Parallel()
	s := throttled(nil)
	teach(s, "a", 0, 20*time.Second)
	mustChange(t, s, "a", crawl.SlotChange{Delay: new(2 * time.Second)}, 0, "a")
	if got := s.Delay("a"); got != 2*time.Second {
		t.Errorf("delay %v, want 2s", got)
	}
	s.Take("a", at(30))
	s.Free("a", at(30), Ended{Sent: true, Latency: time.Millisecond, Status: 200})
	if got := s.Delay("a"); got != 2*time.Second {
		t.Errorf("delay %v after a quick answer, want 2s", got)
	}
	teach(s, "b", 0, 20*time.Second)
	s.memory.unlearn("b")
	if got := s.memory.recall("b").Delay; got != 0 {
		t.Errorf("%v is remembered", got)
	}
}

// A delay beyond all bounds is one nevertheless, whatever it is multiplied by.
func TestSlotsEndlessDelays(t *testing.T) {
	t.Parallel()
	const endless = time.Duration(math.MaxInt64)
	for name, cfg := range map[string]SlotsConfig{
		"Delay":       {Delay: endless},
		"Slots":       {Slots: map[string]any{"a": map[string]any{"delay": 9e9}}},
		"StartDelay":  {AutoThrottle: true, Target: 1, StartDelay: endless, MaxDelay: time.Minute},
		"MaxDelay":    {AutoThrottle: true, Target: 1e-12, MaxDelay: endless},
		"crawl delay": {Obey: true, CrawlDelay: "enforce", MaxCrawlDelay: endless},
		"Change":      {},
	} {
		cfg.Randomize = true
		s := NewSlots(cfg)
		s.rand = func() float64 { return 0.9 }
		if name == "Change" {
			delay := endless
			if _, err := s.Change("a", crawl.SlotChange{Delay: &delay}, at(0)); err != nil {
				t.Fatal(err)
			}
		}
		s.SlowDown("a", endless, at(0))
		for range 2 { // also what AutoThrottle makes of an endless one
			s.Take("a", at(0))
			s.Sent("a", at(0))
			s.Free("a", at(0), Ended{Sent: true, Status: 503, Latency: time.Second})
		}
		until := 15 * 365 * 24 * 3600.0
		switch name {
		case "StartDelay": // which MaxDelay bounds
			until = 50
		case "crawl delay": // which counts for a day
			until = 24*3600 - 1
		}
		if ok, _ := s.Ready("a", at(until)); ok {
			t.Errorf("%s: the slot is ready after %g s", name, until)
		}
	}
}

func TestSlotsChangeErrors(t *testing.T) {
	t.Parallel()
	s := NewSlots(SlotsConfig{Concurrency: 8})
	for _, c := range []struct {
		name   string
		change crawl.SlotChange
		want   string
	}{
		{"a.test", crawl.SlotChange{Concurrency: -1}, `change slot "a.test": concurrency -1: want a count`},
		{"a.test", crawl.SlotChange{Delay: new(-time.Second)}, "delay -1s: want a time that is not negative"},
		{"www.*.test", crawl.SlotChange{Concurrency: 1}, "only * in front of a domain"},
		{"*.", crawl.SlotChange{Concurrency: 1}, "only * in front of a domain"},
		{"", crawl.SlotChange{Concurrency: 1}, `change slot "": want a host`},
		{"http://a.test/", crawl.SlotChange{Concurrency: 1}, "want a host without scheme"},
	} {
		if _, err := s.Change(c.name, c.change, at(0)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: %v, want %q", c.name, c.change, err, c.want)
		}
	}
}

// The list has what is in use, by name.
func TestSlotsList(t *testing.T) {
	t.Parallel()
	s := enforcing(func(cfg *SlotsConfig) {
		cfg.Delay, cfg.Slots = time.Second, map[string]any{"queued": map[string]any{"concurrency": 2, "randomize_delay": true}}
	})
	s.Take("held", at(0))
	s.Free("held", at(0), Ended{Sent: true, BackOff: at(60)})
	s.Take("busy", at(0))
	s.SlowDown("busy", 5*time.Second, at(0))
	s.Sent("busy", at(0))
	s.Take("idle", at(-20))
	s.Free("idle", at(-20), Ended{})
	want := []crawl.SlotStatus{
		{Name: "busy", Concurrency: 8, Delay: time.Second, CrawlDelay: 5 * time.Second, Active: 1, Queued: 7},
		{Name: "held", Concurrency: 8, Delay: time.Second, BackOff: at(60)},
		{Name: "queued", Concurrency: 2, Delay: time.Second, Randomize: true, Queued: 3},
	}
	if got := s.List(map[string]int{"busy": 7, "queued": 3}, at(1)); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// All methods may be called at once. The race detector is the judge.
func TestSlotsTogether(t *testing.T) {
	t.Parallel()
	s := enforcing(nil)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 200 {
				now := at(float64(i))
				s.Ready("a", now)
				s.Take("a", now)
				s.SlowDown("a", time.Second, now)
				s.Sent("a", now)
				s.Delay("a")
				s.Active("a")
				s.DelayOnly("a", now)
				s.List(nil, now)
				if _, err := s.Change("a", crawl.SlotChange{Concurrency: i + 1}, now); err != nil {
					t.Error(err)
				}
				s.Free("a", now, Ended{Sent: true})
				s.Save()
			}
		})
	}
	wg.Wait()
	if got := s.Active("a"); got != 0 {
		t.Errorf("%d are active at the end", got)
	}
}
