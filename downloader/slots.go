package downloader

import (
	"math/rand/v2"
	"time"

	"github.com/skeincrawl/skein/internal/weburl"
)

// SlotsConfig is what the slots take from the settings.
type SlotsConfig struct {
	// Concurrency is how many requests of a slot may be active at once.
	Concurrency int `setting:"CONCURRENT_REQUESTS_PER_DOMAIN"`

	// Delay is the least time between the beginnings of two requests. 0 is none.
	Delay time.Duration `setting:"DOWNLOAD_DELAY"`

	// Randomize draws each delay from 0.5 to 1.5 times Delay.
	Randomize bool `setting:"RANDOMIZE_DOWNLOAD_DELAY"`
}

// Slots holds how far each slot, most often a host, has used up what the crawl
// may ask of it. A slot exists only while it has something to remember: an
// active request, a delay or a back-off that is not over. Every operation takes
// constant time, however many slots there are.
//
// Slots is not safe for concurrent use: the frontier, its only user, makes one
// call at a time. Times should carry a monotonic clock reading, as those of
// time.Now do.
type Slots struct {
	cfg    SlotsConfig
	m      map[string]*slot
	parked []*slot // idle when they were put here, and perhaps to be dropped
	hand   int     // the next of parked to be looked at
	rand   func() float64
}

// slot is one slot. It is unsent while a request was taken and is not known to
// be on the wire.
type slot struct {
	key     string
	active  int32
	unsent  int32
	parked  bool
	readyAt time.Time // end of the delay
	backOff time.Time // end of the time for which the server wants silence
}

// NewSlots returns slots of which none was used yet. A Concurrency below 1
// counts as 1.
func NewSlots(cfg SlotsConfig) *Slots {
	cfg.Concurrency = max(cfg.Concurrency, 1)
	return &Slots{cfg: cfg, m: map[string]*slot{}, rand: rand.Float64}
}

// SlotKey returns the slot of a URL for which none was chosen: its host in
// lower case and as A-labels, without port, so that a host has one slot however
// links spell it. It is "" for a URL without host.
func SlotKey(url string) string { return weburl.Host(url) }

// Ready reports whether a request of the slot may start now. If not, at is when
// it may because a delay or back-off is over, or zero if it waits for a request
// of the slot to be sent or to end.
func (s *Slots) Ready(slot string, now time.Time) (ok bool, at time.Time) {
	t := s.m[slot]
	switch {
	case t == nil:
		return true, at
	case int(t.active) >= s.cfg.Concurrency, t.unsent > 0:
		return false, at
	}
	return t.waited(now)
}

// DelayOnly works as Ready, for a request that takes no place.
func (s *Slots) DelayOnly(slot string, now time.Time) (ok bool, at time.Time) {
	t := s.m[slot]
	if t == nil {
		return true, at
	}
	return t.waited(now)
}

// waited reports whether delay and back-off are over.
func (t *slot) waited(now time.Time) (ok bool, at time.Time) {
	at = t.readyAt
	if t.backOff.After(at) {
		at = t.backOff
	}
	if now.Before(at) {
		return false, at
	}
	return true, time.Time{}
}

// Take counts a request of the slot as active. It is paced if the slot has a
// delay: then the slot grants nothing further until Sent or Free.
func (s *Slots) Take(slot string, _ time.Time) (paced bool) {
	t := s.get(slot)
	t.active++
	if s.cfg.Delay <= 0 {
		return false
	}
	t.unsent++
	return true
}

// Sent starts the slot's delay, for a request that went out at the given time.
// A request that took no place starts it as well.
func (s *Slots) Sent(slot string, at time.Time) {
	if s.cfg.Delay <= 0 {
		return
	}
	t := s.get(slot)
	t.unsent = max(t.unsent-1, 0)
	s.delay(t, at)
	s.park(t)
}

// Free ends a request of the slot. Unused means that nothing of it went on the
// wire, so that its delay does not count. One that was not sent for another
// reason, because its server could not be reached, starts the delay now.
// Latency is the time to the headers, 0 if there were none; backOff is when the
// server wants the next request, zero if it did not say.
//
// Free does not know which request ended. While one is unsent beside others,
// one that ends without headers is taken to be it.
func (s *Slots) Free(slot string, now time.Time, unused bool, latency time.Duration, backOff time.Time) {
	t := s.m[slot]
	if t == nil {
		return
	}
	if t.unsent > 0 && (unused || latency == 0 || t.unsent >= t.active) {
		t.unsent--
		if !unused {
			s.delay(t, now)
		}
	}
	t.active = max(t.active-1, 0)
	if backOff.After(t.backOff) {
		t.backOff = backOff
	}
	s.park(t)
	s.sweep(now)
}

// Active returns the number of active requests of the slot.
func (s *Slots) Active(slot string) int {
	if t := s.m[slot]; t != nil {
		return int(t.active)
	}
	return 0
}

// delay lets the slot's delay begin at the given time. It never shortens one.
func (s *Slots) delay(t *slot, from time.Time) {
	d := s.cfg.Delay
	if s.cfg.Randomize {
		d = time.Duration((0.5 + s.rand()) * float64(d))
	}
	if at := from.Add(d); at.After(t.readyAt) {
		t.readyAt = at
	}
}

func (s *Slots) get(key string) *slot {
	t := s.m[key]
	if t == nil {
		t = &slot{key: key}
		s.m[key] = t
	}
	return t
}

// park remembers an idle slot, to be dropped once it has nothing to remember.
func (s *Slots) park(t *slot) {
	if t.active == 0 && !t.parked {
		t.parked = true
		s.parked = append(s.parked, t)
	}
}

// sweep looks at two parked slots. A call parks one at most, so that the others
// are all looked at in turn and idle slots do not pile up.
func (s *Slots) sweep(now time.Time) {
	for range min(2, len(s.parked)) {
		if s.hand >= len(s.parked) {
			s.hand = 0
		}
		t := s.parked[s.hand]
		over, _ := t.waited(now)
		if t.active == 0 && !over {
			s.hand++
			continue
		}
		if t.active == 0 {
			delete(s.m, t.key)
		}
		t.parked = false
		last := len(s.parked) - 1
		s.parked[s.hand], s.parked[last] = s.parked[last], nil
		s.parked = s.parked[:last]
	}
}
