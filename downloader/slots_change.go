package downloader

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

// List returns the slots that have something to remember and those of the given
// numbers of queued requests, by name.
func (s *Slots) List(queued map[string]int, now time.Time) []crawl.SlotStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]crawl.SlotStatus, 0, max(len(s.m), len(queued)))
	for name, t := range s.m {
		if over, _ := t.waited(now); !over || t.active > 0 || queued[name] > 0 {
			all = append(all, t.status(queued[name], now))
		}
	}
	for name, n := range queued {
		if s.m[name] == nil {
			fresh := s.fresh(name, now)
			all = append(all, fresh.status(n, now))
		}
	}
	slices.SortFunc(all, func(a, b crawl.SlotStatus) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (t *slot) status(queued int, now time.Time) crawl.SlotStatus {
	out := crawl.SlotStatus{
		Name: t.key, Concurrency: t.params.concurrency, Delay: t.delay, CrawlDelay: t.crawlDelay,
		Randomize: t.params.randomize, Active: int(t.active), Queued: queued,
	}
	if t.backOff.After(now) {
		out.BackOff = t.backOff
	}
	return out
}

// Change changes the limits of a slot, or of a pattern as in DOWNLOAD_SLOTS. It
// returns the slots for which that counts now: who waits for one of them has to look
// again.
func (s *Slots) Change(name string, c crawl.SlotChange, now time.Time) (changed []string, err error) {
	if err := checkChange(name, c); err != nil {
		return nil, fmt.Errorf("change slot %q: %w", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.params.change(name, c)
	for t := range s.affected(name) {
		if s.params.find(t.key) != p {
			continue
		}
		t.params = p
		if c.Delay != nil {
			s.setDelay(t, now)
		}
		changed = append(changed, t.key)
	}
	return changed, nil
}

func checkChange(name string, c crawl.SlotChange) error {
	switch {
	case c.Concurrency < 0:
		return fmt.Errorf("concurrency %d: want a count, at least 1, or 0 to leave it as it is", c.Concurrency)
	case c.Delay != nil && *c.Delay < 0:
		return fmt.Errorf("delay %v: want a time that is not negative", *c.Delay)
	}
	return settings.CheckSlot(name)
}

// affected yields the slots in use that a change may be for.
func (s *Slots) affected(name string) iter.Seq[*slot] {
	if strings.HasPrefix(name, "*.") {
		return maps.Values(s.m)
	}
	names := map[string]*slot{}
	for _, key := range [2]string{name, slotName(name)} {
		if t := s.m[key]; t != nil {
			names[key] = t
		}
	}
	return maps.Values(names)
}

// setDelay gives a slot the delay of its limits. One that had none begins with it
// now: nobody knows when its last request was sent.
func (s *Slots) setDelay(t *slot, now time.Time) {
	t.delay = t.params.delay
	s.memory.unlearn(t.key)
	if s.throttles(t) {
		t.delay = max(t.delay, t.crawlDelay)
	}
	if t.from.IsZero() && t.active > 0 {
		s.begin(t, now)
	}
}

// change enters other limits for a name or a pattern and returns them. What the
// change leaves as it is stays what it was there.
func (t *slotTable) change(name string, c crawl.SlotChange) *slotParams {
	domain, pattern := strings.CutPrefix(name, "*.")
	if !pattern {
		p := t.find(slotName(name)).changed(c)
		t.names[slotName(name)], t.names[name] = p, p
		return p
	}
	p := t.below("*." + slotName(domain)).changed(c)
	t.suffixes[slotName(domain)] = p
	return p
}

// changed returns p with a change.
func (p slotParams) changed(c crawl.SlotChange) *slotParams {
	if c.Concurrency > 0 {
		p.concurrency = c.Concurrency
	}
	if c.Delay != nil {
		p.delay, p.ownDelay = min(*c.Delay, maxDelay), true
	}
	if c.Randomize != nil {
		p.randomize = *c.Randomize
	}
	return &p
}
