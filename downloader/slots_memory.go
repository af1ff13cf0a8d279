package downloader

import (
	"container/list"
	"encoding/json"
	"fmt"
	"time"
)

// maxRemembered is how many slots are remembered beyond their use.
const maxRemembered = 10_000

// memory is what responses have taught about slots: the delay that AutoThrottle
// has found, how long a server wants silence, and what its robots.txt asks for. It
// holds those slots that taught something last, whether they are in use or not.
type memory struct {
	m     map[string]*list.Element // of *lesson
	order list.List                // what was learned last is at the end
	fresh bool                     // there is something new to keep
}

// lesson is what is remembered of one slot, in the form that the job keeps.
type lesson struct {
	Slot    string    `json:"slot"`
	Delay   float64   `json:"delay,omitempty"` // seconds, 0 if nothing was learned
	BackOff time.Time `json:"back_off,omitzero"`

	CrawlDelay      float64   `json:"crawl_delay,omitempty"` // seconds, of robots.txt
	CrawlDelayUntil time.Time `json:"crawl_delay_until,omitzero"`
}

func (l *lesson) delay() time.Duration { return duration(l.Delay) }

func (l *lesson) crawlDelay() time.Duration { return duration(l.CrawlDelay) }

// maxDelay is the longest delay that a slot can have, some thirty years: a few
// times as much can still be added to a time.
const maxDelay = 1e9 * time.Second

// duration returns a number of seconds that is no longer than maxDelay.
func duration(seconds float64) time.Duration {
	return time.Duration(min(seconds, maxDelay.Seconds()) * float64(time.Second))
}

// learn takes what was learned about a slot: those members of news that are not
// zero. A back-off is never shortened.
func (m *memory) learn(news *lesson) {
	e := m.m[news.Slot]
	if e == nil {
		e = m.add(news.Slot)
	}
	m.order.MoveToBack(e)
	m.fresh = true
	l := e.Value.(*lesson)
	if news.Delay > 0 {
		l.Delay = news.Delay
	}
	if news.BackOff.After(l.BackOff) {
		l.BackOff = news.BackOff
	}
	if news.CrawlDelay > 0 {
		l.CrawlDelay, l.CrawlDelayUntil = news.CrawlDelay, news.CrawlDelayUntil
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
func (m *memory) recall(slot string) lesson {
	if e := m.m[slot]; e != nil {
		return *e.Value.(*lesson)
	}
	return lesson{}
}

// unlearn forgets the delay that AutoThrottle has found for a slot.
func (m *memory) unlearn(slot string) {
	if e := m.m[slot]; e != nil {
		e.Value.(*lesson).Delay = 0
		m.fresh = true
	}
}

// lessons returns what there is to keep, what was learned first at the front,
// and nil if that is as it was at the last call.
func (m *memory) lessons(now time.Time) []lesson {
	if !m.fresh {
		return nil
	}
	m.fresh = false
	all := make([]lesson, 0, m.order.Len())
	for e := m.order.Front(); e != nil; e = e.Next() {
		if l := e.Value.(*lesson).lasting(now); l != (lesson{Slot: l.Slot}) {
			all = append(all, l)
		}
	}
	return all
}

// lasting returns what counts beyond now.
func (l *lesson) lasting(now time.Time) lesson {
	out := lesson{Slot: l.Slot, Delay: l.Delay}
	if l.BackOff.After(now) {
		out.BackOff = l.BackOff.UTC()
	}
	if l.CrawlDelay > 0 && l.CrawlDelayUntil.After(now) {
		out.CrawlDelay, out.CrawlDelayUntil = l.CrawlDelay, l.CrawlDelayUntil.UTC()
	}
	return out
}

// Save returns what the job keeps of the slots, a list of JSON objects with the
// members slot, delay (seconds), back_off (a time), crawl_delay (seconds) and
// crawl_delay_until (a time): what AutoThrottle, Retry-After and robots.txt have
// taught, of those 10,000 slots that taught something last. It is nil if that is as
// it was at the last call.
func (s *Slots) Save() []byte {
	all := s.lessons(time.Now())
	if all == nil {
		return nil
	}
	b, _ := json.Marshal(all) // texts and finite numbers, and times of this century: can not fail
	return b
}

func (s *Slots) lessons(now time.Time) []lesson {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memory.lessons(now)
}

// Restore goes on with what Save returned in an earlier run. It comes before any
// other method. A back-off that is over is forgotten, one of more than an hour
// counts as an hour, and the delay of a robots.txt counts for a day at most: clocks
// jump. Delays count where AutoThrottle is on, between the delay that the slot is
// given now and MaxDelay; those of robots.txt where they are enforced, up to
// MaxCrawlDelay.
func (s *Slots) Restore(saved []byte, now time.Time) error {
	if saved == nil {
		return nil
	}
	var all []lesson
	if err := json.Unmarshal(saved, &all); err != nil {
		return fmt.Errorf("read the learned delays: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range all {
		l := &all[i]
		held := l.BackOff.After(now)
		l.BackOff = within(l.BackOff, now, maxBackOff)
		l.CrawlDelayUntil = within(l.CrawlDelayUntil, now, crawlDelayLifetime)
		s.memory.learn(l)
		if held {
			s.park(s.get(l.Slot, now)) // it is there as long as it is held
		}
	}
	s.memory.lessons(now) // the job has them
	return nil
}

// within returns a time of an earlier run by the monotonic clock of this one, no
// further ahead than most. It is zero if it is over.
func within(t, now time.Time, most time.Duration) time.Time {
	left := min(t.Sub(now), most)
	if left <= 0 {
		return time.Time{}
	}
	return now.Add(left)
}
