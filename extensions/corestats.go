package extensions

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// The statistics that other extensions and the log read again.
const (
	statItems     = "item_scraped_count"
	statResponses = "response_received_count"
)

// NewCoreStats counts items and responses and notes when and why the crawl
// began and ended (Scrapy's CoreStats). Times are UTC; elapsed_time_seconds is
// measured by the monotonic clock. There is nothing to run.
func NewCoreStats(env *crawl.Env) (Extension, error) {
	c := &coreStats{stats: env.Stats}
	crawl.On(env.Signals, c.opened)
	crawl.On(env.Signals, c.closed)
	crawl.On(env.Signals, c.dropped)
	crawl.On(env.Signals, counting[crawl.ItemScraped](env.Stats, statItems))
	crawl.On(env.Signals, counting[crawl.ResponseReceived](env.Stats, statResponses))
	return nil, nil
}

type coreStats struct {
	stats *crawl.Stats
	start atomic.Pointer[time.Time]
}

func (c *coreStats) opened(context.Context, crawl.SpiderOpened) error {
	now := time.Now()
	c.start.Store(&now)
	c.stats.Set("start_time", now.UTC())
	return nil
}

func (c *coreStats) closed(_ context.Context, e crawl.SpiderClosed) error {
	now := time.Now()
	if start := c.start.Load(); start != nil {
		c.stats.Set("elapsed_time_seconds", now.Sub(*start).Seconds())
	}
	c.stats.Set("finish_time", now.UTC())
	c.stats.Set("finish_reason", e.Reason)
	return nil
}

func (c *coreStats) dropped(_ context.Context, e crawl.ItemDropped) error {
	c.stats.Inc("item_dropped_count")
	c.stats.Inc("item_dropped_reasons_count/" + dropReason(e.Err))
	return nil
}

// dropReason names the kind of a drop: Scrapy's class for an ordinary one, the
// Go type of any other.
func dropReason(err error) string {
	var drop *crawl.DropError
	if err == nil || errors.As(err, &drop) {
		return "DropItem"
	}
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

// counting returns a handler that counts events. The counter is made by the
// first event, so that the statistics do not list what never happened.
func counting[E any](stats *crawl.Stats, key string) func(context.Context, E) error {
	counter := sync.OnceValue(func() *atomic.Int64 { return stats.Counter(key) })
	return func(context.Context, E) error {
		counter().Add(1)
		return nil
	}
}
