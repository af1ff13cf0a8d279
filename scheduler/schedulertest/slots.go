package schedulertest

import (
	"time"

	"github.com/skeincrawl/skein/scheduler"
)

// Slots is a simple [scheduler.Slots]: every slot has the same limit and delay.
type Slots struct {
	limit int
	delay time.Duration
	m     map[string]*slot
}

type slot struct {
	active, unsent int
	readyAt        time.Time
}

var _ scheduler.Slots = (*Slots)(nil)

// NewSlots returns slots of which none was used yet.
func NewSlots(limit int, delay time.Duration) *Slots {
	return &Slots{limit: limit, delay: delay, m: map[string]*slot{}}
}

func (s *Slots) get(name string) *slot {
	if s.m[name] == nil {
		s.m[name] = &slot{}
	}
	return s.m[name]
}

// Ready implements [scheduler.Slots].
func (s *Slots) Ready(name string, now time.Time) (bool, time.Time) {
	if t := s.m[name]; t != nil && (t.active >= s.limit || t.unsent > 0) {
		return false, time.Time{}
	}
	return s.DelayOnly(name, now)
}

// DelayOnly implements [scheduler.Slots].
func (s *Slots) DelayOnly(name string, now time.Time) (bool, time.Time) {
	if t := s.m[name]; t != nil && now.Before(t.readyAt) {
		return false, t.readyAt
	}
	return true, time.Time{}
}

// Take implements [scheduler.Slots].
func (s *Slots) Take(name string, _ time.Time) bool {
	t := s.get(name)
	t.active++
	if s.delay > 0 {
		t.unsent++
	}
	return s.delay > 0
}

// Sent implements [scheduler.Slots].
func (s *Slots) Sent(name string, at time.Time) {
	t := s.get(name)
	t.unsent = max(t.unsent-1, 0)
	t.readyAt = at.Add(s.delay)
}

// Free implements [scheduler.Slots].
func (s *Slots) Free(name string, now time.Time, hint scheduler.SlotHint) {
	t := s.get(name)
	if t.unsent > 0 && !hint.Sent {
		t.unsent--
		if !hint.Unused {
			t.readyAt = now.Add(s.delay)
		}
	}
	t.active--
	if hint.BackOff.After(t.readyAt) {
		t.readyAt = hint.BackOff
	}
	if t.active == 0 && !now.Before(t.readyAt) {
		delete(s.m, name)
	}
}

// Active implements [scheduler.Slots].
func (s *Slots) Active(name string) int {
	if t := s.m[name]; t != nil {
		return t.active
	}
	return 0
}
