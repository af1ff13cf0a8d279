package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/scheduler"
)

// slotNamed returns a slot of the list, and whether it is there.
func slotNamed(env *crawl.Env, name string) (crawl.SlotStatus, bool) {
	list := env.Slots.List()
	i := slices.IndexFunc(list, func(s crawl.SlotStatus) bool { return s.Name == name })
	if i < 0 {
		return crawl.SlotStatus{}, false
	}
	return list[i], true
}

// Slots are listed and changed while the crawl runs, whoever keeps the queue; a
// change counts at once for what waits.
func TestChangeSlots(t *testing.T) {
	t.Parallel()
	for _, sched := range []string{"default", "probe"} {
		t.Run(sched, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				v, p := newVisits(), &probe{schedule: newMinimal}
				p.polite(t, v)
				p.connect = p.meet
				p.visit(9, "a.test")
				p.beside = func(ctx context.Context) error {
					time.Sleep(10 * time.Second) // the first request is long done
					s, _ := slotNamed(p.env, "a.test")
					if s.Delay != time.Hour || s.Concurrency != 8 || s.Active != 0 || s.Queued != 8 || s.Randomize {
						t.Errorf("before the change: %+v", s)
					}
					if err := p.env.Slots.Change("*.test", crawl.SlotChange{Delay: new(time.Second), Randomize: new(false)}); err != nil {
						t.Error(err)
					}
					time.Sleep(3900 * time.Millisecond) // 4 more
					return p.env.Slots.Change("a.test", crawl.SlotChange{Delay: new(time.Duration(0)), Concurrency: 2})
				}
				began := time.Now()
				p.crawl(t, overPipes, "SCHEDULER="+sched, "DOWNLOAD_DELAY=1h", "RANDOMIZE_DOWNLOAD_DELAY=False").want(t, "finished", nil)
				var at []float64
				for _, arrival := range v.at["a.test"] {
					at = append(at, arrival.Sub(began).Seconds())
				}
				if got := fmt.Sprintf("%.1f", at[:7]); got != "[0.0 10.0 11.0 12.0 13.0 13.9 13.9]" {
					t.Errorf("arrivals at %.1f", at)
				}
				if v.most["a.test"] != 2 {
					t.Errorf("%d requests at once, want 2", v.most["a.test"])
				}
				if took := time.Since(began); took > 16*time.Second {
					t.Errorf("the crawl took %v", took)
				}
			})
		})
	}
}

// The list has what runs, what waits and what a server wants; a component may change
// slots as soon as it is built.
func TestListSlots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &probe{}
		p.serveHosts(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/robots.txt":
				fmt.Fprint(w, "User-agent: *\nCrawl-delay: 7")
			case r.Host == "held.test":
				w.Header().Set("Retry-After", "60")
				w.WriteHeader(http.StatusServiceUnavailable)
			case strings.HasPrefix(r.URL.Path, "/"):
				time.Sleep(5 * time.Second)
			}
		})
		var early, late []crawl.SlotStatus
		p.connect = func(env *crawl.Env) {
			early = env.Slots.List()
			if err := env.Slots.Change("busy.test", crawl.SlotChange{Concurrency: 3}); err != nil {
				t.Error(err)
			}
			p.env = env
		}
		p.visit(4, "busy.test", "held.test")
		p.beside = func(context.Context) error {
			time.Sleep(2 * time.Second)
			late = p.env.Slots.List()
			return nil
		}
		now := time.Now()
		p.crawl(t, overPipes, "ROBOTSTXT_OBEY=True", "ROBOTSTXT_CRAWL_DELAY=enforce", "RANDOMIZE_DOWNLOAD_DELAY=False").want(t, "finished", nil)
		want := []crawl.SlotStatus{
			{Name: "busy.test", Concurrency: 3, CrawlDelay: 7 * time.Second, Active: 1, Queued: 3},
			{Name: "held.test", Concurrency: 8, CrawlDelay: 7 * time.Second, Queued: 4, BackOff: now.Add(60 * time.Second)},
		}
		for i := range late {
			late[i].BackOff = late[i].BackOff.Round(0)
		}
		for i := range want {
			want[i].BackOff = want[i].BackOff.Round(0)
		}
		if len(early) != 0 || !slices.Equal(late, want) {
			t.Errorf("got %+v and\n%+v, want none and\n%+v", early, late, want)
		}
	})
}

// The slots of an Engine may be looked at and changed from any goroutine, whatever
// the crawl is doing. The race detector is the judge.
func TestSlotsBesideTheCrawl(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, p := newVisits(), &probe{}
		p.polite(t, v)
		p.visit(40, "a.test", "b.test", "c.test")
		e := mustNew(t, probeOptions(t, p, p, overPipes, "DOWNLOAD_DELAY=10ms"))
		if list := e.Slots().List(); len(list) != 0 {
			t.Errorf("before the crawl there are %+v", list)
		}
		var over atomic.Bool
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := 1; !over.Load(); i++ {
				e.Slots().List()
				if err := e.Slots().Change("*.test", crawl.SlotChange{Concurrency: 1 + i%5, Delay: new(time.Duration(i%3) * 10 * time.Millisecond)}); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Millisecond)
			}
		}()
		res, err := e.Run(t.Context())
		over.Store(true)
		<-done
		if err != nil || res.Reason != "finished" || len(v.at["a.test"]) != 40 {
			t.Errorf("%+v, %v, %d requests", res, err, len(v.at["a.test"]))
		}
		if err := e.Slots().Change("a.test", crawl.SlotChange{Concurrency: -1}); err == nil || !strings.Contains(err.Error(), "a.test") {
			t.Errorf("a wrong change: %v, want an error with the name", err)
		}
	})
}

// The slot is found for each attempt: a redirect and a retry go through that of their
// own host, unless the user has set one.
func TestSlotOfEachAttempt(t *testing.T) {
	t.Parallel()
	for slot, want := range map[string][]string{"": {"a.test", "b.test", "b.test"}, "mine": {"mine", "mine", "mine"}} {
		var got []string
		p := &probe{}
		p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
			resp := answer(r, "x")
			switch {
			case strings.Contains(r.URL, "a.test"):
				resp.Status, resp.Header = http.StatusFound, http.Header{"Location": {"http://B.test:8080/"}}
			case r.Trail.Retries == 0:
				resp.Status = http.StatusServiceUnavailable
			}
			return resp, nil
		}
		p.granted = func(g scheduler.Grant) {
			for _, l := range g.Leases {
				got = append(got, l.Slot)
			}
		}
		p.begin = func(_ context.Context, out crawl.Out) error {
			out.Request(&crawl.Request{URL: "http://a.test/", Options: crawl.Options{Slot: slot}})
			return nil
		}
		p.crawl(t, "SCHEDULER=watched").want(t, "finished", nil)
		if !slices.Equal(got, want) {
			t.Errorf("with slot %q the attempts go through %q, want %q", slot, got, want)
		}
	}
}
