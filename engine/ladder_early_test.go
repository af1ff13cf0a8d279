package engine_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/scheduler"
)

// A stop that came before anything else: nothing is sent, in a fresh job and in
// one that resumes.
func TestStopBeforeAnything(t *testing.T) {
	p := keeper("/1", "/2")
	inBubble(t, p, func(s *stopped) {
		sent := 0
		p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
			sent++
			s.stop()
			return answer(r, ""), nil
		}
		s.stop()
		for range 2 {
			if took := s.run(); took > time.Second || sent != 0 {
				s.Errorf("stopped before it began, it took %v and sent %d requests", took, sent)
			}
		}
		s.ctx, s.stop = context.WithCancel(s.Context())
		s.run() // stopped by the first page
		if sent != 1 {
			s.Errorf("%d requests, want 1", sent)
		}
		s.stop()
		s.run() // pending requests, and none is sent
		if sent != 1 {
			s.Errorf("%d requests, want 1", sent)
		}
		end := finish(s.Context(), s.T, s.options())
		end.want(s.T, "finished", nil)
		if got := len(items(s.T, s.file)); got != 2 {
			s.Errorf("%d items, want 2", got)
		}
	}, "CONCURRENT_REQUESTS=1")
}

// Start is held by SCHEDULER_MAX_PENDING, which is exact, and a stop lets go of
// it at once.
func TestStopWhileStartIsHeld(t *testing.T) {
	p := keeper()
	inBubble(t, p, func(s *stopped) {
		emitted := 0
		p.begin = func(_ context.Context, out crawl.Out) error {
			for i := range 100 {
				out.Request(&crawl.Request{URL: fmt.Sprintf("http://a.test/%02d", i)})
				if out.Err() != nil {
					return out.Err()
				}
				emitted++
			}
			return nil
		}
		p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
			synctest.Wait() // Start goes as far as it can
			if emitted > 1+4 {
				s.Errorf("Start went on to entry %d, want 1 on the wire and 4 pending", emitted)
			}
			s.stop()
			return answer(r, ""), nil
		}
		if took := s.run(); took > time.Second {
			s.Errorf("the stop took %v", took)
		}
		p.fetch = always
		end := finish(s.Context(), s.T, s.options())
		end.want(s.T, "finished", nil)
		if got := len(items(s.T, s.file)); got != 100 {
			s.Errorf("%d items, want 100", got)
		}
	}, "CONCURRENT_REQUESTS=1", "SCHEDULER_MAX_PENDING=4")
}

// What waits for another try of an undone step goes back at the first stop.
func TestStopWhileUndoneWaits(t *testing.T) {
	p := keeper("/1")
	inBubble(t, p, func(s *stopped) {
		keep := p.page
		p.page = func(context.Context, *crawl.Response, crawl.Out) error {
			time.AfterFunc(100*time.Millisecond, s.stop)
			return crawl.Undo(fmt.Errorf("the database is down"))
		}
		if took := s.run(); took > 200*time.Millisecond {
			s.Errorf("the stop took %v", took)
		}
		p.page = keep
		s.resume(1, "/1")
	})
}

// A closing condition waits for what is on the wire, without a grace.
func TestLimitHasNoGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, second := keeper("/1", "/2"), make(chan struct{})
		p.fetch = func(ctx context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
			if r.URL == "http://a.test/1" {
				<-second
			} else {
				close(second)
				select {
				case <-time.After(time.Minute):
				case <-ctx.Done():
					t.Error("the wire was cut")
				}
			}
			return answer(r, ""), nil
		}
		p.crawl(t, "CLOSESPIDER_PAGECOUNT=1").want(t, "closespider_pagecount", map[string]int64{"response_received_count": 2})
	})
}

// What was leased while the stop came is not sent any more.
func TestStopDuringStep(t *testing.T) {
	p := keeper("/1")
	inBubble(t, p, func(s *stopped) {
		p.granted = func(g scheduler.Grant) {
			if len(g.Leases) > 0 {
				s.stop()
				synctest.Wait() // the loop knows
			}
		}
		p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
			s.Error("a request was sent after the stop")
			return answer(r, ""), nil
		}
		s.run()
		p.fetch, p.granted = always, nil
		s.resume(1, "/1")
	}, "SCHEDULER=watched")
}

// SCHEDULER_MAX_PENDING counts what is on its way into the scheduler too, and
// Start goes on as soon as there is room (stormcrawler#738).
func TestMaxPendingIsExact(t *testing.T) {
	p := keeper()
	inBubble(t, p, func(s *stopped) {
		emitted, sent := 0, make(chan struct{}) // a channel of the bubble
		p.stepping = synctest.Wait              // Start goes as far as it can during a step
		p.begin = func(_ context.Context, out crawl.Out) error {
			for i := range 100 {
				out.Request(&crawl.Request{URL: fmt.Sprintf("http://a.test/%02d", i)})
				emitted++
			}
			return out.Err()
		}
		time.AfterFunc(time.Second, func() {
			if emitted != 1+4-1 { // the fourth that is pending is held
				s.Errorf("Start has emitted %d entries, want 1 on the wire and 3 pending", emitted)
			}
			close(sent)
		})
		p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
			<-sent
			return answer(r, ""), nil
		}
		finish(s.Context(), s.T, s.options()).want(s.T, "finished", map[string]int64{"item_scraped_count": 100})
	}, "SCHEDULER=watched", "CONCURRENT_REQUESTS=1", "SCHEDULER_MAX_PENDING=4")
}
