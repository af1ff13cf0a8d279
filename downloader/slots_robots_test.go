package downloader

import (
	"testing"
	"time"
)

// enforcing returns slots that keep the delays of robots.txt.
func enforcing(change func(*SlotsConfig)) *Slots {
	return throttled(func(cfg *SlotsConfig) {
		cfg.AutoThrottle, cfg.Obey, cfg.CrawlDelay, cfg.MaxCrawlDelay = false, true, "enforce", 30*time.Second
		if change != nil {
			change(cfg)
		}
	})
}

// The first request of a slot goes alone: robots.txt may ask for a delay, which
// counts from when the request is sent.
func TestSlowDown(t *testing.T) {
	t.Parallel()
	s := enforcing(nil)
	if !s.Take("a", at(0)) {
		t.Error("the first request is not paced")
	}
	wantBusy(t, s, "a", 0, -1)
	if ok, _ := s.DelayOnly("a", at(0)); !ok {
		t.Error("robots.txt itself waits")
	}
	if !s.SlowDown("a", 10*time.Second, at(1)) {
		t.Error("a delay changes nothing")
	}
	wantBusy(t, s, "a", 1, -1) // not sent
	s.Sent("a", at(2))
	wantBusy(t, s, "a", 11.9, 12)
	if s.SlowDown("a", 10*time.Second, at(3)) || s.SlowDown("a", 4*time.Second, at(3)) || s.SlowDown("a", 0, at(3)) {
		t.Error("what is known, shorter or nothing changes something")
	}
	wantReady(t, s, "a", 12)
	s.Take("a", at(12))
	s.Sent("a", at(12))
	s.Free("a", at(13), Ended{Sent: true})
	s.Free("a", at(13), Ended{Sent: true})
	wantBusy(t, s, "a", 13, 22)
	wantReady(t, s, "b", 13)
}

// A slot whose robots.txt asks for nothing goes on as before.
func TestSlowDownNothing(t *testing.T) {
	t.Parallel()
	s := enforcing(nil)
	s.Take("a", at(0))
	if !s.SlowDown("a", 0, at(0)) {
		t.Error("it is not told that others may start")
	}
	s.Sent("a", at(0))
	wantReady(t, s, "a", 0)
	if s.Take("a", at(0)) {
		t.Error("the second request is paced")
	}
	if s.SlowDown("never used", 0, at(0)) || len(s.m) != 1 {
		t.Error("a slot that is asked for nothing comes into use")
	}
	off := enforcing(func(cfg *SlotsConfig) { cfg.CrawlDelay = "observe" })
	if off.Take("a", at(0)) || off.SlowDown("a", time.Minute, at(0)) {
		t.Error("a delay counts although it is not enforced")
	}
	wantReady(t, off, "a", 0)
}

// The delay of the settings is a floor, as is that of robots.txt, whatever is drawn
// and whatever AutoThrottle learns; ROBOTSTXT_MAX_CRAWL_DELAY bounds the latter.
func TestSlowDownFloor(t *testing.T) {
	t.Parallel()
	throttle := func(cfg *SlotsConfig) { cfg.AutoThrottle, cfg.StartDelay = true, time.Second }
	for name, c := range map[string]struct {
		change func(*SlotsConfig)
		asks   time.Duration
		end    Ended
		want   float64
	}{
		"longer setting":         {func(cfg *SlotsConfig) { cfg.Delay = 20 * time.Second }, 10 * time.Second, Ended{}, 20},
		"longer delay of a slot": {func(cfg *SlotsConfig) { cfg.Slots = map[string]any{"a": map[string]any{"delay": 20}} }, 10 * time.Second, Ended{}, 20},
		"shorter setting":        {func(cfg *SlotsConfig) { cfg.Delay = time.Second }, 10 * time.Second, Ended{}, 10},
		"above the maximum":      {nil, time.Hour, Ended{}, 30},
		"drawn":                  {func(cfg *SlotsConfig) { cfg.Delay, cfg.Randomize = 12*time.Second, true }, 10 * time.Second, Ended{}, 10},
		"quick answer":           {throttle, 10 * time.Second, Ended{Latency: time.Millisecond, Status: 200}, 10},
		"slow answer":            {throttle, 10 * time.Second, Ended{Latency: 20 * time.Second, Status: 200}, 20},
		"busy server":            {throttle, 10 * time.Second, Ended{Latency: time.Second, Status: 503}, 20},
		"first delay":            {func(cfg *SlotsConfig) { cfg.AutoThrottle, cfg.StartDelay = true, time.Minute }, 10 * time.Second, Ended{}, 60},
	} {
		s := enforcing(c.change)
		s.rand = func() float64 { return 0 }
		s.Take("a", at(0))
		s.SlowDown("a", c.asks, at(0))
		s.Sent("a", at(0))
		c.end.Sent = true
		s.Free("a", at(0), c.end)
		if _, until := s.Ready("a", at(0)); !until.Equal(at(c.want)) {
			t.Errorf("%s: ready after %v, want %gs", name, until.Sub(at(0)), c.want)
		}
	}
}

// It counts for a day after it was heard last, and then a shorter one may take its
// place; it is remembered while the slot is idle.
func TestSlowDownLasts(t *testing.T) {
	t.Parallel()
	const day = 24 * 3600.0
	s := enforcing(nil)
	visit := func(now float64, asks time.Duration) {
		s.Take("a", at(now))
		s.SlowDown("a", asks, at(now))
		s.Sent("a", at(now))
		s.Free("a", at(now), Ended{Sent: true})
	}
	visit(0, 10*time.Second)
	for range 3 {
		s.sweep(at(100))
	}
	if len(s.m) != 0 {
		t.Fatal("the idle slot is still there")
	}
	visit(100, 5*time.Second)
	wantBusy(t, s, "a", 100, 110)
	visit(day-1, 5*time.Second)
	wantBusy(t, s, "a", day-1, day+9)
	visit(day+10, 5*time.Second)
	wantBusy(t, s, "a", day+10, day+15)
	visit(day+7200, 5*time.Second) // heard again: a day from now
	visit(2*day+3600, 0)
	wantBusy(t, s, "a", 2*day+3600, 2*day+3605)
	visit(3*day+7300, 0)
	wantReady(t, s, "a", 3*day+7300)
}

// The next run of a job goes on with it, if it enforces such delays.
func TestSlowDownRestore(t *testing.T) {
	t.Parallel()
	now := time.Now()
	first := enforcing(nil)
	first.Take("a", now)
	first.SlowDown("a", 20*time.Second, now)
	saved := first.Save()
	for name, c := range map[string]struct {
		change func(*SlotsConfig)
		later  time.Duration
		want   time.Duration
	}{
		"as before":        {nil, time.Minute, 20 * time.Second},
		"a lower maximum":  {func(cfg *SlotsConfig) { cfg.MaxCrawlDelay = 5 * time.Second }, time.Minute, 5 * time.Second},
		"not enforced":     {func(cfg *SlotsConfig) { cfg.CrawlDelay = "observe" }, time.Minute, 0},
		"days later":       {nil, 25 * time.Hour, 0},
		"a clock put back": {nil, -100 * time.Hour, 20 * time.Second},
	} {
		s, start := enforcing(c.change), now.Add(c.later)
		if err := s.Restore(saved, start); err != nil {
			t.Fatal(err)
		}
		s.Take("a", start)
		s.Sent("a", start)
		s.Free("a", start, Ended{Sent: true})
		if _, until := s.Ready("a", start); c.want == 0 && !until.IsZero() || c.want > 0 && until.Sub(start) != c.want {
			t.Errorf("%s: ready at %v, want after %v", name, until, c.want)
		}
		if c.want > 0 && s.get("a", start).crawlDelayUntil.Sub(start) > crawlDelayLifetime {
			t.Errorf("%s: it counts for longer than a day", name)
		}
	}
}
