package crawl_test

import (
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// Discarded stats show nothing, before and after, and who keeps a counter is not
// disturbed.
func TestDiscardedStats(t *testing.T) {
	t.Parallel()
	s := crawl.NewStats()
	c := s.Counter("pages")
	c.Add(2)
	s.Set("start_time", "now")
	if _, err := crawl.Construct(&crawl.Env{Stats: s}, "STATS_CLASS", crawl.StatsCollectors, "dummy"); err != nil {
		t.Fatal(err)
	}
	s.Inc("pages")
	s.Max("depth", 3)
	s.Set("finish_time", "later")
	if n, v, all := s.Count("pages"), s.Get("start_time"), s.Snapshot(); n != 0 || v != nil || len(all) != 0 {
		t.Errorf("Count %d, Get %v, Snapshot %v, want nothing", n, v, all)
	}
	if s.Get("pages") != nil {
		t.Error("Get finds a counter")
	}
	if got := c.Load(); got != 3 {
		t.Errorf("the counter is %d, want 3", got)
	}
}
