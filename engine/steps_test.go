package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
)

// Undo releases the step: nothing of it is kept, it comes again, later each
// time, and its item is there once.
func TestUndo(t *testing.T) {
	p := keeper("/1")
	inBubble(t, p, func(s *stopped) {
		var tries []time.Duration
		began, keep := time.Now(), p.page
		p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
			tries = append(tries, time.Since(began).Round(time.Second))
			if err := keep(ctx, r, out); err != nil {
				return err
			}
			out.Follow("/3", nil)
			if len(tries) < 4 || len(tries) == 5 {
				return fmt.Errorf("store: %w", crawl.Undo(errors.New("the database is down")))
			}
			return nil
		}
		end := finish(s.Context(), s.T, s.options())
		end.want(s.T, "finished", map[string]int64{"item_scraped_count": 2, "spider_exceptions/count": 0, "scheduler/enqueued": 2})
		// The wait is short again after a step that was good.
		if want := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 7 * time.Second, 8 * time.Second}; !slices.Equal(tries, want) {
			s.Errorf("tried at %v, want %v", tries, want)
		}
		if got := items(s.T, s.file); len(got) != 2 {
			s.Errorf("items %v", got)
		}
		p.wantLogged(s.T, map[string]int{"goes back into the queue": 4})
	}, "CONCURRENT_REQUESTS=1")
}

// A callback asks for its page again: within RETRY_TIMES, with the stats, at a
// lower priority, unfiltered (colly#656); what it emitted besides is kept.
func TestRetryFromCallback(t *testing.T) {
	for _, c := range []struct {
		good  int // the try that is good
		tries int
		max   int64
	}{{2, 2, 0}, {3, 3, 0}, {9, 3, 1}} {
		t.Run(fmt.Sprintf("good at %d", c.good), func(t *testing.T) {
			p := (&probe{fetch: always}).starts("http://a.test/")
			tries := 0
			p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
				tries++
				out.Item(record(fmt.Sprint("try ", tries)))
				if r.Request.Trail.Retries != tries-1 || r.Request.Priority != -(tries-1) {
					t.Errorf("try %d: retries %d, priority %d", tries, r.Request.Trail.Retries, r.Request.Priority)
				}
				if tries < c.good {
					return crawl.Retry(r.Request, "empty")
				}
				return nil
			}
			p.crawl(t).want(t, "finished", map[string]int64{
				"retry/count": int64(c.tries - 1), "retry/reason_count/empty": int64(c.tries - 1), "retry/max_reached": c.max,
				"item_scraped_count": int64(c.tries), "spider_exceptions/count": 0,
			})
			if tries != c.tries {
				t.Errorf("%d tries, want %d", tries, c.tries)
			}
		})
	}
}

// An errback asks for another try, and a callback puts another request in place
// of its own.
func TestReplacements(t *testing.T) {
	p := &probe{}
	failures := 0
	p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
		if strings.HasSuffix(r.URL, "/bad") && r.Trail.Retries == 0 {
			return nil, errors.New("broken")
		}
		return answer(r, ""), nil
	}
	p.begin = func(_ context.Context, out crawl.Out) error {
		out.Request(&crawl.Request{URL: "http://a.test/old"})
		out.Request(&crawl.Request{URL: "http://a.test/bad", Errback: func(_ context.Context, f *crawl.Failure, _ crawl.Out) error {
			failures++
			return crawl.Retry(f.Request, "broken")
		}})
		return nil
	}
	p.page = func(_ context.Context, r *crawl.Response, _ crawl.Out) error {
		if strings.HasSuffix(r.URL, "/old") {
			c := r.Request.Clone()
			c.URL = "http://a.test/new"
			return crawl.Reschedule(c)
		}
		p.note("%s", r.URL)
		return nil
	}
	p.crawl(t, "RETRY_ENABLED=False").want(t, "finished", map[string]int64{"retry/count": 1, "spider_exceptions/count": 0})
	if got, want := p.notes(), []string{"http://a.test/bad", "http://a.test/new"}; !slices.Equal(got, want) || failures != 1 {
		t.Errorf("got %q and %d failures, want %q and 1", got, failures, want)
	}
}

// A callback that ignores is an error of the callback, as in Scrapy.
func TestIgnoreFromCallback(t *testing.T) {
	p := (&probe{fetch: always}).starts("http://a.test/")
	p.page = func(context.Context, *crawl.Response, crawl.Out) error { return crawl.Ignore("no") }
	p.crawl(t).want(t, "finished", map[string]int64{"spider_exceptions/IgnoreError": 1})
}

// Handlers of signals that panic wherever they are called do not end the crawl.
func TestHandlersPanic(t *testing.T) {
	srv := site(t, map[string]string{"/": "root"})
	p := (&probe{}).starts(srv.URL + "/")
	p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		out.Item(record(r.URL))
		out.Item(42)
		out.Follow("/", nil)
		return errors.New("an error")
	}
	p.connect = func(env *crawl.Env) {
		boom[crawl.RequestReachedDownloader](env)
		boom[crawl.ResponseDownloaded](env)
		boom[crawl.RequestLeftDownloader](env)
		boom[crawl.ResponseReceived](env)
		boom[crawl.ItemScraped](env)
		boom[crawl.ItemError](env)
		boom[crawl.RequestDropped](env)
		boom[crawl.SpiderError](env)
		boom[crawl.SchedulerEmpty](env)
	}
	o := probeOptions(t, p, p)
	_, o.Feeds, _ = inJob(t)
	end := finish(t.Context(), t, o)
	end.want(t, "finished", map[string]int64{"response_received_count": 1, "item_scraped_count": 1, "spider_exceptions/count": 1})
	for _, name := range []string{
		"RequestReachedDownloader", "ResponseDownloaded", "RequestLeftDownloader", "ResponseReceived", "ItemScraped",
		"ItemError", "RequestDropped", "SpiderError", "SchedulerEmpty",
	} {
		if p.logged("Error caught on signal handler of "+name) == 0 {
			t.Errorf("no line for the handler of %s", name)
		}
	}
}

func boom[E any](env *crawl.Env) {
	crawl.On(env.Signals, func(context.Context, E) error { panic("handler") })
}

// A callback, or Start, that ends its goroutine (a test that calls t.FailNow)
// does not stall the crawl.
func TestGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := keeper()
		p.begin = func(_ context.Context, out crawl.Out) error {
			out.Request(&crawl.Request{URL: "http://a.test/1"})
			out.Request(&crawl.Request{URL: "http://a.test/2"})
			runtime.Goexit()
			return nil
		}
		p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
			if strings.HasSuffix(r.URL, "/1") {
				runtime.Goexit()
			}
			out.Item(record(r.URL))
			return nil
		}
		began := time.Now()
		p.crawl(t).want(t, "finished", map[string]int64{"item_scraped_count": 1})
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// many emits n requests from one page.
func many(n int) *probe {
	p := keeper("/")
	p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		if r.URL != "http://a.test/" {
			return nil
		}
		out.Item(record(r.URL))
		for i := range n {
			out.Request(&crawl.Request{URL: fmt.Sprintf("http://a.test/page-with-a-rather-long-name-%d", i)})
		}
		out.Follow("/page-with-a-rather-long-name-0", nil) // a duplicate, in another part
		return nil
	}
	return p
}

// One callback emits so many requests that they are several parts: all are
// crawled once, in memory and in a job.
func TestLargeStep(t *testing.T) {
	for assign, n := range map[string]int64{"JOBDIR=": 30_000, "JOBDIR=/job": 60_000} {
		t.Run(assign, func(t *testing.T) {
			p := many(int(n))
			var pages atomic.Int64
			p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
				pages.Add(1)
				return answer(r, ""), nil
			}
			s := &stopped{T: t, p: p, assign: []string{assign}}
			s.prepare()
			o := s.options()
			o.Log = o.Log.Level(zerolog.InfoLevel)
			end := finish(t.Context(), t, o)
			end.want(t, "finished", map[string]int64{
				"scheduler/enqueued": n + 1, "scheduler/dequeued": n + 1, "dupefilter/filtered": 1, "item_scraped_count": 1,
			})
			if pages.Load() != n+1 || end.err != nil {
				t.Errorf("%d pages, want %d; %v", pages.Load(), n+1, end.err)
			}
		})
	}
}

// A process that is killed between the parts of a step leaves nothing of it.
func TestKilledBetweenParts(t *testing.T) {
	const n = 60_000
	p := many(n)
	all := p.page
	s := &stopped{T: t, p: p, assign: []string{"JOBDIR=/job", "JOB_SYNC_INTERVAL=0"}}
	s.prepare()
	written, killed := make(chan struct{}), make(chan struct{})
	p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
		for i := range n {
			out.Request(&crawl.Request{URL: fmt.Sprintf("http://a.test/page-with-a-rather-long-name-%d", i)})
		}
		close(written)
		<-killed
		return crawl.CloseSpider("killed")
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		end := finish(t.Context(), t, s.options())
		end.want(t, "killed", map[string]int64{"scheduler/enqueued": n + 1})
	}()
	<-written
	snapshot := s.fs.Kill()
	close(killed)
	<-over
	if size := journalSize(t, snapshot); size < 4<<20 {
		t.Fatalf("the journal had %d bytes at the kill: there were no parts", size)
	}
	s.fs, p.page = snapshot, all
	var pages atomic.Int64
	p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
		if pages.Add(1) == 2 {
			s.e.Cut()
			s.stop()
		}
		return answer(r, ""), nil
	}
	s.e = mustNew(t, s.options())
	if _, err := s.e.Run(s.ctx); err != nil {
		t.Fatal(err)
	}
	if p.logged("Resuming crawl (1 requests scheduled)") != 1 {
		t.Errorf("the parts of the killed step count")
	}
	if got := s.e.Stats()["scheduler/enqueued"]; got != int64(n) {
		t.Errorf("scheduler/enqueued = %v, want %d: nothing of the killed step is seen", got, n)
	}
}
