package crawl

import "context"

// A StatsCollector takes the figures of a crawl to where they are to be kept, as
// the collectors of Scrapy do in _persist_stats. Counting is the business of
// [Stats] alone, whoever takes the figures in the end.
type StatsCollector interface {
	// Collect is called once, after SpiderClosed, by the goroutine that runs the
	// crawl, which waits for it. Counters are of type int64, and the map is the
	// collector's. An error is logged and changes nothing.
	Collect(ctx context.Context, reason string, figures map[string]any) error
}

// StatsCollectors is the registry behind STATS_CLASS. The stats of the crawl are
// Env.Stats. A constructor that answers with nothing leaves the figures to the
// log.
var StatsCollectors = NewRegistry[func(*Env) (StatsCollector, error)]("stats collector").For("STATS_CLASS") //nolint:gochecknoglobals // a registry.

func init() {
	StatsCollectors.Register("memory", func(*Env) (StatsCollector, error) { return nil, nil })
	StatsCollectors.Register("dummy", func(env *Env) (StatsCollector, error) {
		env.Stats.Discard()
		return nil, nil
	})
}

// Discard hides all figures, also those to come: Get, Count and Snapshot find
// none (Scrapy's DummyStatsCollector). A component that keeps a counter reads it
// as before.
func (s *Stats) Discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.discarded = true
}
