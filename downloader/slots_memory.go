package downloader

import (
	"container/list"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// maxRemembered is how many slots are remembered beyond their use.
const maxRemembered = 10_000

// memory is what responses have taught about slots: the delay that AutoThrottle
// has found, and how long a server wants silence. It holds those slots that
// taught something last, whether they are in use or not. It is safe for
// concurrent use: the job keeps it while the crawl goes on.
type memory struct {
	mu    sync.Mutex
	m     map[string]*list.Element // of *lesson
	order list.List                // what was learned last is at the end
	fresh bool                     // there is something new to keep
}

// lesson is what is remembered of one slot, in the form that the job keeps.
type lesson struct {
	Slot    string    `json:"slot"`
	Delay   float64   `json:"delay,omitempty"` // seconds, 0 if nothing was learned
	BackOff time.Time `json:"back_off,omitzero"`
}

// delay returns the delay, as much of it as a Duration can hold.
func (l *lesson) delay() time.Duration {
	const most = 1e9 // seconds
	return time.Duration(min(l.Delay, most) * float64(time.Second))
}

// learn takes what a request of a slot has taught: a delay, 0 for none, and the
// end of a back-off, zero for none.
func (m *memory) learn(slot string, delay time.Duration, backOff time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.m[slot]
	if e == nil {
		e = m.add(slot)
	}
	m.order.MoveToBack(e)
	m.fresh = true
	l := e.Value.(*lesson)
	if delay > 0 {
		l.Delay = delay.Seconds()
	}
	if backOff.After(l.BackOff) {
		l.BackOff = backOff
	}
}

// add makes room for a slot.
func (m *memory) add(slot string) *list.Element {
	if m.m == nil {
		m.m = map[string]*list.Element{}
	}
	if m.order.Len() >= maxRemembered {
		oldest := m.order.Front()
		delete(m.m, m.order.Remove(oldest).(*lesson).Slot)
	}
	e := m.order.PushBack(&lesson{Slot: slot})
	m.m[slot] = e
	return e
}

// recall returns what is remembered of a slot.
func (m *memory) recall(slot string) (delay time.Duration, backOff time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.m[slot]
	if e == nil {
		return 0, backOff
	}
	l := e.Value.(*lesson)
	return l.delay(), l.BackOff
}

// lessons returns what there is to keep, what was learned first at the front,
// and nil if that is as it was at the last call.
func (m *memory) lessons(now time.Time) []lesson {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.fresh {
		return nil
	}
	m.fresh = false
	all := make([]lesson, 0, m.order.Len())
	for e := m.order.Front(); e != nil; e = e.Next() {
		l := *e.Value.(*lesson)
		if l.BackOff = l.BackOff.UTC(); !l.BackOff.After(now) {
			l.BackOff = time.Time{}
		}
		if l.Delay > 0 || !l.BackOff.IsZero() {
			all = append(all, l)
		}
	}
	return all
}

// Save returns what the job keeps of the slots, a list of JSON objects with the
// members slot, delay (seconds) and back_off (a time): what AutoThrottle and
// Retry-After have taught, of those 10,000 slots that taught something last. It
// is nil if that is as it was at the last call. Save is safe for concurrent use,
// also with the other methods.
func (s *Slots) Save() []byte {
	all := s.memory.lessons(time.Now())
	if all == nil {
		return nil
	}
	b, _ := json.Marshal(all) // texts and finite numbers, and times of this century: can not fail
	return b
}

// Restore goes on with what Save returned in an earlier run. It comes before any
// other method. A back-off that is over is forgotten, one of more than an hour
// counts as an hour: clocks jump. Delays count where AutoThrottle is on, between
// the delay that the slot is given now and MaxDelay.
func (s *Slots) Restore(saved []byte, now time.Time) error {
	if saved == nil {
		return nil
	}
	var all []lesson
	if err := json.Unmarshal(saved, &all); err != nil {
		return fmt.Errorf("read the learned delays: %w", err)
	}
	for _, l := range all {
		left := min(l.BackOff.Sub(now), maxBackOff)
		if left <= 0 {
			s.memory.learn(l.Slot, l.delay(), time.Time{})
			continue
		}
		s.memory.learn(l.Slot, l.delay(), now.Add(left)) // by the monotonic clock
		s.park(s.get(l.Slot))                            // it is there as long as it is held
	}
	s.memory.lessons(now) // the job has them
	return nil
}
