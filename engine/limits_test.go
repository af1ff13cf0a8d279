package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// endless is a probe whose every page leads to two more.
func endless() *probe {
	p := (&probe{fetch: always}).starts("http://a.test/1")
	p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		out.Item(record(r.URL))
		out.Follow(r.URL+"0", nil)
		out.Follow(r.URL+"1", nil)
		return nil
	}
	return p
}

// CLOSE-01, CLOSE-02, CLOSE-05: limits of counts.
func TestCountLimits(t *testing.T) {
	for _, c := range []struct{ name, setting, reason, stat string }{
		{"CLOSE-01", "CLOSESPIDER_ITEMCOUNT", "closespider_itemcount", "item_scraped_count"},
		{"CLOSE-02", "CLOSESPIDER_PAGECOUNT", "closespider_pagecount", "response_received_count"},
		{"CLOSE-05", "CLOSESPIDER_ERRORCOUNT", "closespider_errorcount", "spider_exceptions/count"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := endless()
			if c.name == "CLOSE-05" {
				inner := p.page
				p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
					return errors.Join(inner(ctx, r, out), errors.New("bad page"))
				}
			}
			end := p.crawl(t, c.setting+"=5", "CONCURRENT_REQUESTS=4")
			end.want(t, c.reason, nil)
			// What is in progress when the fifth comes still counts; the site has no end.
			if n, _ := end.stats[c.stat].(int64); n < 5 || n > 50 {
				t.Errorf("%s = %d, want 5 and a few", c.stat, n)
			}
		})
	}
}

// CLOSE-06: the crawl ends when its time is over.
func TestTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := endless()
		p.fetch = func(ctx context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
			select {
			case <-time.After(time.Second):
				return answer(r, ""), nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		began := time.Now()
		p.crawl(t, "CLOSESPIDER_TIMEOUT=60").want(t, "closespider_timeout", nil)
		if took := time.Since(began); took < time.Minute || took > time.Minute+2*time.Second {
			t.Errorf("ended after %v, want a minute and what was on the wire", took)
		}
	})
}

// CLOSE-08: a callback, an errback and an exported item's signal end the crawl
// in good order, and the first reason wins.
func TestCallbackCloses(t *testing.T) {
	for _, c := range []struct{ name, give, want string }{{"no reason", "", "cancelled"}, {"reason", "my_reason", "my_reason"}} {
		t.Run(c.name, func(t *testing.T) {
			p := endless()
			inner := p.page
			p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
				if err := inner(ctx, r, out); err != nil {
					return err
				}
				return fmt.Errorf("that will do: %w", crawl.CloseSpider(c.give))
			}
			p.crawl(t, "CONCURRENT_REQUESTS=1").want(t, c.want, map[string]int64{
				"spider_exceptions/count": 0, "item_scraped_count": 1, "scheduler/enqueued": 3,
			})
			p.wantLogged(t, map[string]int{"Closing spider (" + c.want + ")": 1, "Spider error processing": 0})
		})
	}
}
