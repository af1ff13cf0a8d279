package downloader

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/skeincrawl/skein/internal/weburl"
)

// Slots holds how far each slot, most often a host, has used up what the crawl
// may ask of it. A slot exists only while it has something to remember: an
// active request, a delay or a back-off that is not over. What AutoThrottle and
// Retry-After have taught, and what robots.txt asks for, is remembered longer, of
// 10,000 slots at most. Every operation but List and Change takes constant time,
// however many slots there are.
//
// Slots is safe for concurrent use. The frontier makes one call at a time; what else
// changes slots tells it to look again. Times should carry a monotonic clock
// reading, as those of time.Now do.
type Slots struct {
	mu     sync.Mutex
	cfg    SlotsConfig
	params slotTable
	m      map[string]*slot
	parked []*slot // idle when they were put here, and perhaps to be dropped
	hand   int     // the next of parked to be looked at
	rand   func() float64
	memory memory
}

// slot is one slot. It is unsent while a request was taken and is not known to
// be on the wire.
type slot struct {
	key     string
	params  *slotParams
	active  int32
	unsent  int32
	parked  bool
	unasked bool          // what robots.txt asks for is not known yet, and would count
	delay   time.Duration // as of now
	factor  float64       // by which the delay that runs is longer
	from    time.Time     // when it began, zero if none runs
	backOff time.Time     // end of the time for which the server wants silence

	crawlDelay      time.Duration // that robots.txt asks for, 0 for none
	crawlDelayUntil time.Time     // when that is forgotten, unless it is heard again
}

// Ended is what is known of a request of a slot that ended.
type Ended struct {
	// Unused means that nothing went on the wire, so that the delay does not count.
	Unused bool

	// Sent means that [Slots.Sent] was called for the request. One that was
	// neither sent nor unused, because its server could not be reached, starts the
	// delay when it ends.
	Sent bool

	// NoThrottle keeps AutoThrottle from learning from the request.
	NoThrottle bool

	// Latency is the time to the headers of the response, 0 if there were none.
	Latency time.Duration

	// Status is the status of the response and Size the length of its body as it
	// came, in bytes.
	Status, Size int

	// BackOff is when the server wants the next request, zero if it did not say.
	BackOff time.Time
}

// NewSlots returns slots of which none was used yet. A Concurrency below 1
// counts as 1, a delay of more than 1e9 seconds as that many.
func NewSlots(cfg SlotsConfig) *Slots {
	for _, d := range []*time.Duration{&cfg.Delay, &cfg.StartDelay, &cfg.MaxDelay, &cfg.MaxCrawlDelay} {
		*d = min(*d, maxDelay)
	}
	return &Slots{cfg: cfg, params: newSlotTable(cfg), m: map[string]*slot{}, rand: rand.Float64}
}

// SlotKey returns the slot of a URL for which none was chosen: its host in
// lower case and as A-labels, without port, so that a host has one slot however
// links spell it. It is "" for a URL without host.
func SlotKey(url string) string { return weburl.Host(url) }

// Ready reports whether a request of the slot may start now. If not, at is when
// it may because a delay or back-off is over, or zero if it waits for a request
// of the slot to be sent or to end.
func (s *Slots) Ready(slot string, now time.Time) (ok bool, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.m[slot]
	switch {
	case t == nil:
		return true, at
	case int(t.active) >= t.params.concurrency, t.unsent > 0, t.unasked && t.active > 0:
		return false, at
	}
	return t.waited(now)
}

// DelayOnly works as Ready, for a request that takes no place.
func (s *Slots) DelayOnly(slot string, now time.Time) (ok bool, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.m[slot]
	if t == nil {
		return true, at
	}
	return t.waited(now)
}

// waited reports whether delay and back-off are over.
func (t *slot) waited(now time.Time) (ok bool, at time.Time) {
	if t.crawlDelay > 0 && !now.Before(t.crawlDelayUntil) {
		t.crawlDelay = 0
	}
	at = t.readyAt()
	if t.backOff.After(at) {
		at = t.backOff
	}
	if now.Before(at) {
		return false, at
	}
	return true, time.Time{}
}

// readyAt returns the end of the delay.
func (t *slot) readyAt() time.Time {
	if t.from.IsZero() {
		return t.from
	}
	return t.from.Add(t.gap(t.factor))
}

// gap returns the delay that a factor makes longer or shorter. What robots.txt asks
// for is never shortened.
func (t *slot) gap(factor float64) time.Duration {
	return max(time.Duration(factor*float64(t.delay)), t.crawlDelay)
}

// Take counts a request of the slot as active. It is paced if the slot has a
// delay: then the slot grants nothing further until Sent or Free.
func (s *Slots) Take(slot string, now time.Time) (paced bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.get(slot, now)
	t.active++
	if !s.paced(t) {
		return false
	}
	t.unsent++
	return true
}

func (s *Slots) paced(t *slot) bool {
	return t.delay > 0 || t.crawlDelay > 0 || t.unasked || s.throttles(t)
}

// Sent starts the slot's delay, for a request that went out at the given time.
// A request that took no place starts it as well.
func (s *Slots) Sent(slot string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.get(slot, at)
	t.unsent = max(t.unsent-1, 0)
	s.begin(t, at)
	s.park(t)
}

// SentLate puts off the delay that Sent has started when a request was granted, for
// one that went out at the given time.
func (s *Slots) SentLate(slot string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.m[slot]; t != nil {
		s.begin(t, at)
	}
}

// Paces reports whether the beginnings of requests of the slot are kept apart.
func (s *Slots) Paces(slot string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.m[slot]
	return t != nil && s.paced(t)
}

// Free ends a request of the slot.
func (s *Slots) Free(slot string, now time.Time, e Ended) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.m[slot]
	if t == nil {
		return
	}
	if t.unsent > 0 && !e.Sent {
		t.unsent--
		if !e.Unused {
			s.begin(t, now)
		}
	}
	s.adjust(t, &e)
	t.active = max(t.active-1, 0)
	if e.BackOff.After(t.backOff) {
		if !t.backOff.After(now) {
			s.cfg.Log.Info().Msgf("The server of slot %s wants no request before %s (Retry-After)", slot, e.BackOff.Format(time.DateTime))
		}
		t.backOff = e.BackOff
		s.memory.learn(&lesson{Slot: slot, BackOff: e.BackOff})
	}
	s.park(t)
	s.sweep(now)
}

// Active returns the number of active requests of the slot.
func (s *Slots) Active(slot string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.m[slot]; t != nil {
		return int(t.active)
	}
	return 0
}

// begin lets the slot's delay begin at the given time. It never shortens one
// that runs.
func (s *Slots) begin(t *slot, from time.Time) {
	factor := 1.0
	if t.params.randomize {
		factor = 0.5 + s.rand()
	}
	if at := from.Add(t.gap(factor)); at.After(t.readyAt()) {
		t.from, t.factor = from, factor
	}
}

func (s *Slots) get(key string, now time.Time) *slot {
	t := s.m[key]
	if t == nil {
		t = s.fresh(key, now)
		s.m[key] = t
	}
	return t
}

// fresh returns a slot as it comes into use.
func (s *Slots) fresh(key string, now time.Time) *slot {
	t := &slot{key: key, params: s.params.find(key), unasked: s.cfg.enforces()}
	t.delay = s.firstDelay(t.params)
	s.recall(t, now)
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
