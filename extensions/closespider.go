package extensions

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

// NewCloseSpider ends the crawl when a limit of the run is reached
// (Scrapy's CloseSpider): CLOSESPIDER_PAGECOUNT responses, _ITEMCOUNT items,
// _ERRORCOUNT errors of callbacks or Start, _TIMEOUT since the start,
// _PAGECOUNT_NO_ITEM responses since the last item, or a whole span of
// _TIMEOUT_NO_ITEM without one. What is in progress then still finishes, so
// counts may end a little higher. The reason is closespider_ and the limit. A
// run that resumes a job counts from 0.
func NewCloseSpider(env *crawl.Env) (Extension, error) {
	limits := settings.Decode[closeLimits](env.Settings)
	closeOn[crawl.ResponseReceived](env, limits.Pages, "closespider_pagecount")
	closeOn[crawl.ItemScraped](env, limits.Items, "closespider_itemcount")
	closeOn[crawl.SpiderError](env, limits.Errors, "closespider_errorcount")
	closeWithoutItem(env, limits.PagesNoItem)
	var timers closeTimers
	if limits.Timeout > 0 {
		timers = append(timers, &closeTimeout{after: limits.Timeout, close: env.CloseSpider})
	}
	if limits.TimeoutNoItem > 0 {
		timers = append(timers, newCloseNoItem(env, limits.TimeoutNoItem))
	}
	if len(timers) == 0 {
		return nil, nil
	}
	return timers, nil
}

type closeLimits struct {
	Pages         int           `setting:"CLOSESPIDER_PAGECOUNT"`
	Items         int           `setting:"CLOSESPIDER_ITEMCOUNT"`
	Errors        int           `setting:"CLOSESPIDER_ERRORCOUNT"`
	Timeout       time.Duration `setting:"CLOSESPIDER_TIMEOUT"`
	PagesNoItem   int           `setting:"CLOSESPIDER_PAGECOUNT_NO_ITEM"`
	TimeoutNoItem time.Duration `setting:"CLOSESPIDER_TIMEOUT_NO_ITEM"`
}

// closeOn closes the crawl at the event of that number, and only then.
func closeOn[E any](env *crawl.Env, limit int, reason string) {
	if limit <= 0 {
		return
	}
	var n atomic.Int64
	crawl.On(env.Signals, func(context.Context, E) error {
		if n.Add(1) == int64(limit) {
			env.CloseSpider(reason)
		}
		return nil
	})
}

// closeWithoutItem closes the crawl after that many responses in a row without
// an item.
func closeWithoutItem(env *crawl.Env, limit int) {
	if limit <= 0 {
		return
	}
	var pages atomic.Int64
	crawl.On(env.Signals, func(context.Context, crawl.ItemScraped) error {
		pages.Store(0)
		return nil
	})
	crawl.On(env.Signals, func(context.Context, crawl.ResponseReceived) error {
		if pages.Add(1) == int64(limit) {
			env.CloseSpider("closespider_pagecount_no_item")
		}
		return nil
	})
}

// closeTimers run side by side.
type closeTimers []Extension

// Run waits for all of them.
func (c closeTimers) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, timer := range c {
		wg.Go(func() { _ = timer.Run(ctx) }) // none of them fails
	}
	wg.Wait()
	return nil
}

type closeTimeout struct {
	after time.Duration
	close func(reason string)
}

// Run closes the crawl when its time is over.
func (c *closeTimeout) Run(ctx context.Context) error {
	timer := time.NewTimer(c.after)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
		c.close("closespider_timeout")
	}
	return nil
}
