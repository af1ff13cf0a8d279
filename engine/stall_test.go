package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/crawltest"
	"github.com/skeincrawl/skein/scheduler"
)

// watched is the default frontier that notes the longest time between two steps.
// The engine steps when something happened, and otherwise every 5 s: a long gap
// is a wake-up that was lost.
type watched struct {
	scheduler.Frontier
	last time.Time
	p    *probe
}

func (w *watched) Step(ctx context.Context, progress []scheduler.Progress, done []scheduler.Outcome, want int) (scheduler.Grant, error) {
	if gap := int64(time.Since(w.last)); gap > w.p.gap.Load() {
		w.p.gap.Store(gap)
	}
	if w.p.stepping != nil {
		w.p.stepping()
	}
	g, err := w.Frontier.Step(ctx, progress, done, want)
	if w.p.granted != nil {
		w.p.granted(g)
	}
	w.last = time.Now()
	return g, err
}

func (w *watched) Has(fp scheduler.Fingerprint) bool { return w.Frontier.(scheduler.Haser).Has(fp) }

func init() {
	scheduler.Frontiers.Register("watched", func(env *crawl.Env) (scheduler.Open, error) {
		construct, err := scheduler.Frontiers.Lookup("default")
		if err != nil {
			return nil, err
		}
		open, err := construct(env)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, d scheduler.Deps) (scheduler.Frontier, scheduler.Resume, error) {
			f, resume, err := open(ctx, d)
			if err != nil {
				return nil, resume, err
			}
			return &watched{f, time.Now(), d.Env.Spider.(hooks).hooks()}, resume, nil
		}, nil
	})
}

// busy is a site of n pages on several hosts whose pages take a moment, need a
// fetch of their own, come back later, fail and are retried, by chance.
func busy(seed uint64, n int) *probe {
	rng := rand.New(rand.NewPCG(seed, 1))
	chance := make([]int, n)
	for i := range chance {
		chance[i] = rng.IntN(100)
	}
	p := &probe{}
	number := func(url string) (i int) {
		_, _ = fmt.Sscanf(url[strings.LastIndexByte(url, '/'):], "/%d", &i)
		return i % n
	}
	p.fetch = func(ctx context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
		c := chance[number(r.URL)]
		if c%3 == 0 {
			select {
			case <-time.After(time.Duration(c) * 100 * time.Microsecond):
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		resp := answer(r, "<h1>x</h1>")
		if c%10 == 1 && r.Trail.Retries == 0 {
			resp.Status = 503
		}
		return resp, nil
	}
	p.begin = func(_ context.Context, out crawl.Out) error {
		for i := range 5 {
			out.Request(&crawl.Request{URL: fmt.Sprintf("http://h%d.test/%d", i, i)})
		}
		return out.Err()
	}
	p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
		i := number(r.URL)
		for _, k := range []int{2*i + 5, 2*i + 6} {
			if k >= n {
				continue
			}
			next := &crawl.Request{URL: fmt.Sprintf("http://h%d.test/%d", k%7, k)}
			if chance[k]%8 == 2 {
				next.NotBefore = time.Now().Add(time.Duration(chance[k]) * time.Millisecond)
			}
			out.Request(next)
		}
		if chance[i]%5 == 0 {
			short, cancel := context.WithTimeout(ctx, time.Duration(1+chance[i])*50*time.Microsecond)
			defer cancel()
			_, _ = out.Fetch(short, &crawl.Request{URL: r.URL + "?inner"}) // some give up
		}
		return nil
	}
	return p
}

// Crawls of all shapes never wait for the heartbeat: no wake-up is lost.
func TestNoStall(t *testing.T) {
	seed := rand.Uint64N(1 << 40)
	t.Logf("first seed %d", seed)
	for _, requests := range []int{1, 2, 16} {
		for _, domain := range []int{1, 8} {
			for _, parses := range []int{1, 8} {
				for _, job := range []string{"JOBDIR=", "JOBDIR=/job"} {
					seed++
					name := fmt.Sprintf("requests=%d,domain=%d,parses=%d,%s", requests, domain, parses, job)
					t.Run(name, func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							noStall(t, seed, "SCHEDULER=watched", job, "SCHEDULER_MAX_PENDING=3", "SCRAPER_SLOT_MAX_ACTIVE_SIZE=2000",
								fmt.Sprintf("CONCURRENT_REQUESTS=%d", requests), fmt.Sprintf("CONCURRENT_PARSES=%d", parses),
								fmt.Sprintf("CONCURRENT_REQUESTS_PER_DOMAIN=%d", domain))
						})
					})
				}
			}
		}
	}
}

func noStall(t *testing.T, seed uint64, assign ...string) {
	const n = 200
	p := busy(seed, n)
	s := &stopped{T: t, p: p, assign: assign}
	s.prepare()
	o := s.options()
	end := finish(t.Context(), t, o)
	end.want(t, "finished", map[string]int64{"response_received_count": n, "spider_exceptions/count": 0})
	if gap := time.Duration(p.gap.Load()); gap > time.Second || end.err != nil {
		t.Errorf("seed %d: nothing happened for %v; %v", seed, gap, end.err)
	}
}

// The same with a real server and a delay.
func TestNoStallWithDelay(t *testing.T) {
	srv := serve(t, crawltest.NewSite(crawltest.Config{Pages: 200, Links: 4}).ServeHTTP)
	for _, requests := range []int{1, 4, 16} {
		for _, job := range []bool{false, true} {
			t.Run(fmt.Sprintf("requests=%d,job=%v", requests, job), func(t *testing.T) {
				t.Parallel()
				assign := []string{"SCHEDULER=watched", "DOWNLOAD_DELAY=1ms", fmt.Sprintf("CONCURRENT_REQUESTS=%d", requests)}
				if job {
					setting, _, _ := inJob(t)
					assign = append(assign, setting)
				}
				p := (&probe{}).starts(srv.URL + "/p/0")
				p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
					for l := range r.Links() {
						out.Follow(l.URL, nil)
					}
					if strings.HasSuffix(r.URL, "7") {
						_, err := out.Fetch(ctx, &crawl.Request{URL: r.URL + "?inner"})
						return err
					}
					return nil
				}
				p.crawl(t, assign...).want(t, "finished", map[string]int64{"response_received_count": 200, "spider_exceptions/count": 0})
				if gap := time.Duration(p.gap.Load()); gap > 3*time.Second {
					t.Errorf("nothing happened for %v", gap)
				}
			})
		}
	}
}

// Every worker and the loop have more to say than the channel between them
// holds, while the frontier is busy with a step: nobody waits for ever.
func TestFullChannelWhileStepping(t *testing.T) {
	p := (&probe{fetch: always}).starts(urls("http://a.test", 1000)...)
	p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
		if _, err := out.Fetch(ctx, &crawl.Request{URL: r.URL + "?inner", Options: crawl.Options{Slot: r.URL}}); err != nil {
			return err
		}
		if strings.Count(r.URL, "/") == 3 {
			out.Follow(r.URL+"/more", nil)
		}
		return nil
	}
	setting, _, _ := inJob(t)
	p.crawl(t, setting, "SCHEDULER=watched", "JOB_SYNC_INTERVAL=0", "CONCURRENT_REQUESTS=600", "CONCURRENT_REQUESTS_PER_DOMAIN=600", "CONCURRENT_PARSES=600").
		want(t, "finished", map[string]int64{"response_received_count": 2000, "spider_exceptions/count": 0})
	if gap := time.Duration(p.gap.Load()); gap > 3*time.Second {
		t.Errorf("nothing happened for %v", gap)
	}
}
