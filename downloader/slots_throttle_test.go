package downloader

import (
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// throttled returns slots with AutoThrottle.
func throttled(change func(*SlotsConfig)) *Slots {
	cfg := SlotsConfig{Concurrency: 8, AutoThrottle: true, StartDelay: 5 * time.Second, MaxDelay: time.Minute, Target: 1}
	if change != nil {
		change(&cfg)
	}
	return NewSlots(cfg)
}

func sec(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }

// one lets a slot of a given delay end a request.
func (s *Slots) one(delay float64, e Ended) time.Duration {
	s.Take("foo", at(0))
	s.m["foo"].delay = sec(delay)
	s.Sent("foo", at(0))
	e.Sent = true
	s.Free("foo", at(0), e)
	return s.m["foo"].delay
}

// AT-02, AT-03 and the delays of single slots.
func TestThrottleStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ least, start, want float64 }{
		{4, 5, 5}, {6, 5, 6}, {0, 4, 4}, {0, 6, 6}, {7, 6, 7}, {6, 7, 7}, {0, 0, 0},
	} {
		s := throttled(func(cfg *SlotsConfig) {
			cfg.Delay, cfg.StartDelay = sec(c.least), sec(c.start)
			cfg.Slots = map[string]any{"own": map[string]any{"delay": 1}, "off": map[string]any{"throttle": false}}
		})
		for name, want := range map[string]float64{"foo": c.want, "own": 1, "off": c.least} {
			if got := s.get(name, at(0)).delay; got != sec(want) {
				t.Errorf("least %g, start %g: %s begins with %v, want %gs", c.least, c.start, name, got, want)
			}
		}
	}
}

// AT-05 to AT-07, and the way back after 429 and 503.
func TestThrottleFormula(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		latency, target, delay float64
		least, most            float64
		status                 int
		want                   float64
	}{
		{2, 2, 1, 0, 60, 200, 1},
		{1, 2, 1, 0, 60, 200, .75},
		{4, 2, 1, 0, 60, 200, 2},
		{2, 1, 1, 0, 60, 200, 2},
		{2, 4, 1, 0, 60, 200, .75},
		{2, 2, .5, 0, 60, 200, 1},
		{2, 2, 2, 0, 60, 200, 1.5},
		{2, 2, 1, .5, 2, 200, 1},
		{2, 2, 1, .25, .5, 200, .5},
		{2, 2, 1, 2, 4, 200, 2},
		{2, 2, 1, 0, 60, 400, 1},
		{1, 2, 1, 0, 60, 400, 1},
		{4, 2, 1, 0, 60, 400, 2},
		{.1, 1, 3, 0, 60, 429, 6},
		{.1, 1, 3, 0, 60, 503, 6},
		{9, 1, 3, 0, 60, 503, 9},
		{.1, 1, 50, 0, 60, 429, 60},
		{.1, 1, 3, 0, 60, 500, 3},
		{1, 1e-300, 1, 0, 60, 200, 60},
		{.1, 1, 3, 5, 4, 200, 5}, // a delay that the user set goes before the longest
	} {
		s := throttled(func(cfg *SlotsConfig) { cfg.Target, cfg.Delay, cfg.MaxDelay = c.target, sec(c.least), sec(c.most) })
		if got := s.one(c.delay, Ended{Latency: sec(c.latency), Status: c.status}); got != sec(c.want) {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

// AT-01, AT-04: who does not teach.
func TestThrottleUnchanged(t *testing.T) {
	t.Parallel()
	ok := Ended{Latency: time.Second, Status: 200}
	off := func(cfg *SlotsConfig) { cfg.AutoThrottle = false }
	single := func(cfg *SlotsConfig) { cfg.Slots = map[string]any{"foo": map[string]any{"throttle": false}} }
	for name, c := range map[string]struct {
		cfg func(*SlotsConfig)
		e   Ended
	}{
		"off":        {off, ok},
		"its slot":   {single, ok},
		"no latency": {nil, Ended{Status: 200}},
		"its option": {nil, Ended{Latency: time.Second, Status: 200, NoThrottle: true}},
	} {
		if got := throttled(c.cfg).one(3, c.e); got != sec(3) {
			t.Errorf("%s: delay = %v, want 3s", name, got)
		}
	}
	throttled(nil).Free("unknown", at(0), ok)
}

// What a response teaches counts for the delay that runs, and is remembered when
// the slot is not in use any more: Scrapy falls back to the first delay after a
// minute.
func TestThrottleAtOnce(t *testing.T) {
	t.Parallel()
	s := throttled(nil)
	if !s.Take("foo", at(0)) {
		t.Error("a slot of AutoThrottle is not paced")
	}
	s.Sent("foo", at(0))
	wantBusy(t, s, "foo", 0, 5)
	s.Free("foo", at(1), Ended{Sent: true, Latency: sec(1), Status: 200})
	wantBusy(t, s, "foo", 1, 3)
	for range 9 {
		s.sweep(at(3))
	}
	if len(s.m) != 0 {
		t.Error("the idle slot is still there")
	}
	if got := s.get("foo", at(0)).delay; got != sec(3) {
		t.Errorf("the delay of the slot that comes back is %v, want 3s", got)
	}
	if got := s.get("bar", at(0)).delay; got != sec(5) {
		t.Errorf("the delay of another is %v, want 5s", got)
	}
}

// AT-08.
func TestThrottleDebug(t *testing.T) {
	t.Parallel()
	for _, debug := range []bool{true, false} {
		log := &logBuffer{}
		s := throttled(func(cfg *SlotsConfig) { cfg.Debug, cfg.Log = debug, zerolog.New(log) })
		s.Take("foo", at(0))
		s.one(2, Ended{Latency: sec(1), Status: 200, Size: 3})
		if debug {
			log.wants(t, "slot: foo | conc: 2 | delay: 1500 ms (-500) | latency: 1000 ms | size:     3 bytes")
		} else if log.String() != "" {
			t.Errorf("log without debug: %s", log)
		}
	}
}
