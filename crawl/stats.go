package crawl

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Stats are the figures of one crawl, under the names that Scrapy gave them.
// All methods are safe for concurrent use; counters are cheap enough for every
// request.
type Stats struct {
	mu        sync.RWMutex
	counts    map[string]*counter
	values    map[string]any
	discarded bool // nothing is shown
}

// counter is one counter. highest tells that Max raised it.
type counter struct {
	atomic.Int64
	highest atomic.Bool
}

// NewStats returns empty stats.
func NewStats() *Stats {
	return &Stats{counts: map[string]*counter{}, values: map[string]any{}}
}

// Counter returns the counter of a key. Hot paths keep it.
func (s *Stats) Counter(key string) *atomic.Int64 { return &s.counter(key).Int64 }

func (s *Stats) counter(key string) *counter {
	s.mu.RLock()
	c := s.counts[key]
	s.mu.RUnlock()
	if c != nil {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c = s.counts[key]; c == nil {
		c = new(counter)
		s.counts[key] = c
	}
	return c
}

// Inc adds 1 to a counter.
func (s *Stats) Inc(key string) { s.Counter(key).Add(1) }

// Add adds n to a counter.
func (s *Stats) Add(key string, n int64) { s.Counter(key).Add(n) }

// Max raises a counter to n if it is lower.
func (s *Stats) Max(key string, n int64) {
	c := s.counter(key)
	if !c.highest.Load() {
		c.highest.Store(true)
	}
	for {
		old := c.Load()
		if n <= old || c.CompareAndSwap(old, n) {
			return
		}
	}
}

// Set gives a key a value that is not a counter, such as a time.
func (s *Stats) Set(key string, v any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key] = v
}

// Count returns the value of a counter, 0 if there is none.
func (s *Stats) Count(key string) int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if c := s.counts[key]; c != nil && !s.discarded {
		return c.Load()
	}
	return 0
}

// Get returns the value of a key: an int64 for a counter, nil if there is none.
func (s *Stats) Get(key string) any {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.discarded {
		return nil
	}
	if c := s.counts[key]; c != nil {
		return c.Load()
	}
	return s.values[key]
}

// Snapshot returns a copy of all figures. Counters are of type int64.
func (s *Stats) Snapshot() map[string]any {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.discarded {
		return map[string]any{}
	}
	m := maps.Clone(s.values)
	for k, c := range s.counts {
		m[k] = c.Load()
	}
	return m
}

// Counters returns copies of all counters: those that add up over several
// crawls, and the maxima, which [Stats.Max] raised.
func (s *Stats) Counters() (sums, maxima map[string]int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	sums, maxima = make(map[string]int64, len(s.counts)), map[string]int64{}
	for k, c := range s.counts {
		if c.highest.Load() {
			maxima[k] = c.Load()
		} else {
			sums[k] = c.Load()
		}
	}
	return sums, maxima
}
