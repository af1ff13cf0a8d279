package downloader

import (
	"context"
	"time"
)

// crawlDelayLifetime is how long the delay that a robots.txt asked for counts
// without being heard again: as long as the file itself (RFC 9309 §2.4).
const crawlDelayLifetime = 24 * time.Hour

// SlowDown tells a slot the delay that a robots.txt asks for, 0 if that asks for
// none. From then on for a day at least that long passes between the beginnings of
// two requests, whatever else the delay of the slot is, and no longer than
// MaxCrawlDelay; of several that a slot is told within a day the longest counts. It
// reports whether that changes when the slot is ready. Where such delays are not
// enforced it does nothing.
//
// The requests of a slot go one at a time until SlowDown is called for it: what it
// is to keep is not known before.
func (s *Slots) SlowDown(slot string, delay time.Duration, now time.Time) (changed bool) {
	if !s.cfg.enforces() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m[slot] == nil && delay <= 0 {
		return false
	}
	t := s.get(slot, now)
	defer s.park(t)
	t.waited(now) // forgets what is over
	delay, before, asked := min(delay, s.cfg.MaxCrawlDelay), t.crawlDelay, !t.unasked
	if until := now.Add(crawlDelayLifetime); delay > before || delay > 0 && delay == before && until.Sub(t.crawlDelayUntil) > time.Hour {
		s.keepCrawlDelay(t, delay, until)
		s.memory.learn(&lesson{Slot: slot, CrawlDelay: delay.Seconds(), CrawlDelayUntil: until})
	}
	if t.crawlDelay > 0 && t.active > 0 && (!asked || t.from.IsZero()) { // the request goes out after this
		s.begin(t, now)
	}
	t.unasked = false
	return !asked || t.crawlDelay != before
}

// keepCrawlDelay lets the delay of a robots.txt count for a slot.
func (s *Slots) keepCrawlDelay(t *slot, delay time.Duration, until time.Time) {
	t.crawlDelay, t.crawlDelayUntil, t.unasked = min(delay, s.cfg.MaxCrawlDelay), until, false
	if s.throttles(t) {
		t.delay = max(t.delay, t.crawlDelay)
	}
}

// Delay returns the delay of a slot as of now, without what robots.txt asks for.
func (s *Slots) Delay(slot string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.m[slot]; t != nil {
		return t.delay
	}
	return s.firstDelay(s.params.find(slot))
}

// A Pacer is the slot of one download, for middlewares. Its methods are safe for
// concurrent use.
type Pacer interface {
	// Delay returns the delay of the slot as of now, without what robots.txt asks
	// for.
	Delay() time.Duration

	// SlowDown is [Slots.SlowDown] for the slot.
	SlowDown(delay time.Duration)
}

type pacerKey struct{}

// WithPacer returns a context for a download through a slot.
func WithPacer(ctx context.Context, p Pacer) context.Context {
	return context.WithValue(ctx, pacerKey{}, p)
}

// PacerOf returns the slot of the download that ctx belongs to, nil if it has none.
func PacerOf(ctx context.Context) Pacer {
	p, _ := ctx.Value(pacerKey{}).(Pacer)
	return p
}
