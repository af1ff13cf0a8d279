package downloader

import (
	"net/http"
	"time"
)

// throttles reports whether AutoThrottle sets the delay of a slot.
func (s *Slots) throttles(t *slot) bool { return s.cfg.AutoThrottle && t.params.throttle }

// firstDelay returns the delay of a slot that was not used yet.
func (s *Slots) firstDelay(p *slotParams) time.Duration {
	if s.cfg.AutoThrottle && p.throttle && !p.ownDelay {
		return max(p.delay, s.cfg.StartDelay)
	}
	return p.delay
}

// recall gives a slot that comes into use what was learned about it before.
// Where the settings have changed since, they win.
func (s *Slots) recall(t *slot, now time.Time) {
	l := s.memory.recall(t.key)
	t.backOff = l.BackOff
	if delay := l.delay(); delay > 0 && s.throttles(t) {
		t.delay = max(min(delay, s.cfg.MaxDelay), t.params.delay)
	}
	if l.CrawlDelay > 0 && s.cfg.enforces() && now.Before(l.CrawlDelayUntil) {
		s.keepCrawlDelay(t, l.crawlDelay(), l.CrawlDelayUntil)
	}
}

// adjust lets AutoThrottle learn from a request that ended with a response. The
// new delay counts at once, also for the one that runs.
func (s *Slots) adjust(t *slot, e *Ended) {
	if !s.throttles(t) || e.NoThrottle || e.Latency <= 0 {
		return
	}
	old := t.delay
	t.delay = s.throttled(t, e)
	s.memory.learn(&lesson{Slot: t.key, Delay: t.delay.Seconds()})
	if s.cfg.Debug {
		s.cfg.Log.Info().Msgf("slot: %s | conc:%2d | delay:%5d ms (%+d) | latency:%5d ms | size:%6d bytes",
			t.key, t.active, t.delay.Milliseconds(), (t.delay - old).Milliseconds(), e.Latency.Milliseconds(), e.Size)
	}
}

// throttled returns the delay by Scrapy's formula: half way from the old one to
// that at which Target requests would be in progress, at least the latter. What
// is no plain success never shortens it, as errors come faster than pages. A
// server that asks for mercy gets twice the delay.
func (s *Slots) throttled(t *slot, e *Ended) time.Duration {
	target := s.cfg.MaxDelay
	if f := float64(e.Latency) / s.cfg.Target; f < float64(target) {
		target = time.Duration(f)
	}
	d := max(target, t.delay/2+target/2)
	if e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable {
		d = max(d, 2*min(t.delay, s.cfg.MaxDelay))
	}
	d = max(min(d, s.cfg.MaxDelay), t.params.delay, t.crawlDelay)
	if e.Status != http.StatusOK && d <= t.delay {
		return t.delay
	}
	return d
}
