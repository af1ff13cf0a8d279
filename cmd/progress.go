package cmd

import (
	"fmt"
	"sync"
	"time"
)

const (
	// tick is the time between two looks at the crawl.
	tick = 500 * time.Millisecond
	// window is how many ticks a rate is taken over.
	window = 20
)

// A gauge is what the status line shows of a crawl.
type gauge interface {
	// Stats returns the figures of the crawl.
	Stats() map[string]any
	// Queued returns how many requests wait.
	Queued() int64
}

// A progress shows on a screen how a crawl goes on.
type progress struct {
	screen *screen
	crawl  gauge
	done   chan struct{}
	wg     sync.WaitGroup
	past   []sample // at most window of them, the oldest first
}

// A sample is how many pages there were at a time.
type sample struct {
	at    time.Time
	pages int64
}

// newProgress begins to show a crawl. It shows it until close.
func newProgress(s *screen, crawl gauge) *progress {
	p := &progress{screen: s, crawl: crawl, done: make(chan struct{})}
	p.wg.Go(p.run)
	return p
}

// close takes the line away. Closing a progress that is nil does nothing.
func (p *progress) close() {
	if p == nil {
		return
	}
	close(p.done)
	p.wg.Wait()
	p.screen.show("")
}

// run begins to show after the first tick: what ends before needs no line.
func (p *progress) run() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	p.line(time.Now()) // the first sample
	for {
		select {
		case <-p.done:
			return
		case <-ticker.C:
			p.screen.show(p.line(time.Now()))
		}
	}
}

// line is the status at a time. The rate is that of the last ten seconds.
func (p *progress) line(now time.Time) string {
	stats := p.crawl.Stats()
	pages, items := count(stats, "response_received_count"), count(stats, "item_scraped_count")
	rate := int64(0)
	if len(p.past) > 0 {
		first := p.past[0]
		rate = int64(float64(pages-first.pages) / max(now.Sub(first.at).Minutes(), tick.Minutes()))
	}
	p.past = append(p.past, sample{now, pages})
	if len(p.past) > window {
		p.past = p.past[1:]
	}
	return fmt.Sprintf("%d pages (%d/min), %d items, %d queued", pages, rate, items, p.crawl.Queued())
}

func count(stats map[string]any, key string) int64 {
	n, _ := stats[key].(int64)
	return n
}
