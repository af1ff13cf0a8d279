package extensions

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
)

// NewLogStats logs a progress line at once and then every LOGSTATS_INTERVAL,
// and notes the rates of the whole crawl at its end (Scrapy's LogStats). It is
// off when the interval is 0.
func NewLogStats(env *crawl.Env) (Extension, error) {
	interval := env.Settings.Duration("LOGSTATS_INTERVAL")
	if interval <= 0 {
		return nil, nil
	}
	l := &logStats{log: env.Logger("logstats"), stats: env.Stats, interval: interval}
	crawl.On(env.Signals, l.opened)
	crawl.On(env.Signals, l.closed)
	return l, nil
}

type logStats struct {
	log      zerolog.Logger
	stats    *crawl.Stats
	interval time.Duration
	start    atomic.Pointer[time.Time]
}

func (l *logStats) opened(context.Context, crawl.SpiderOpened) error {
	now := time.Now()
	l.start.Store(&now)
	return nil
}

// closed sets the rates over the whole run, None for a run of less than a
// second: whole seconds count, as in Scrapy.
func (l *logStats) closed(context.Context, crawl.SpiderClosed) error {
	seconds := 0.0
	if start := l.start.Load(); start != nil {
		seconds = time.Since(*start).Truncate(time.Second).Seconds()
	}
	for key, count := range map[string]string{"responses_per_minute": statResponses, "items_per_minute": statItems} {
		if seconds == 0 {
			l.stats.Set(key, nil)
			continue
		}
		l.stats.Set(key, float64(l.stats.Count(count))/(seconds/60))
	}
	return nil
}

// Run logs until ctx is done.
func (l *logStats) Run(ctx context.Context) error {
	ticker := time.NewTicker(l.interval)
	defer ticker.Stop()
	pages, items := l.line(0, 0)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			pages, items = l.line(pages, items)
		}
	}
}

// line logs the counts and, from those of the line before, the rates.
func (l *logStats) line(oldPages, oldItems int64) (pages, items int64) {
	pages, items = l.stats.Count(statResponses), l.stats.Count(statItems)
	l.log.Info().Msgf("Crawled %d pages (at %d pages/min), scraped %d items (at %d items/min)",
		pages, l.perMinute(pages-oldPages), items, l.perMinute(items-oldItems))
	return pages, items
}

func (l *logStats) perMinute(n int64) int64 {
	return int64(float64(n) * (float64(time.Minute) / float64(l.interval)))
}
