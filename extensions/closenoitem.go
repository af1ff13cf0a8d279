package extensions

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
)

// closeNoItem looks at the items of one span of time after the other.
type closeNoItem struct {
	span  time.Duration
	items atomic.Int64 // of the present span
	log   zerolog.Logger
	close func(reason string)
}

func newCloseNoItem(env *crawl.Env, span time.Duration) *closeNoItem {
	c := &closeNoItem{span: span, log: env.Logger("closespider"), close: env.CloseSpider}
	crawl.On(env.Signals, func(context.Context, crawl.ItemScraped) error {
		c.items.Add(1)
		return nil
	})
	return c
}

// Run closes the crawl at the end of the first span without an item.
func (c *closeNoItem) Run(ctx context.Context) error {
	seconds := c.span.Seconds()
	c.log.Info().Msgf("Spider will stop when no items are produced after %v seconds.", seconds)
	ticker := time.NewTicker(c.span)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if c.items.Swap(0) == 0 {
			c.log.Info().Msgf("Closing spider since no items were produced in the last %v seconds.", seconds)
			c.close("closespider_timeout_no_item")
			return nil
		}
	}
}
