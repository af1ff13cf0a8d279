package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// A Start that waits for the scheduler to be empty goes on at once where it is
// empty already, for example because what it emitted was a duplicate.
func TestWaitForWhatIsSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &probe{fetch: always}
		p.connect = p.meet
		p.begin = func(ctx context.Context, out crawl.Out) error {
			began := time.Now()
			for range 3 {
				out.Request(&crawl.Request{URL: "http://a.test/1"})
				if err := crawl.Wait[crawl.SchedulerEmpty](ctx, p.env.Signals, nil); err != nil {
					return err
				}
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("it waited for %v", took)
			}
			return nil
		}
		p.crawl(t).want(t, "finished", map[string]int64{"dupefilter/filtered": 2})
	})
}
