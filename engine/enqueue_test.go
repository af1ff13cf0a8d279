package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/scheduler"
)

// page is a request of the site that most tests here pretend to crawl.
func page(name string) *crawl.Request { return &crawl.Request{URL: "http://a.test/" + name} }

// notesPages lets the probe note the pages that it gets.
func (p *probe) notesPages() *probe {
	p.page = func(_ context.Context, r *crawl.Response, _ crawl.Out) error {
		p.note("%s", strings.TrimPrefix(r.URL, "http://a.test/"))
		return nil
	}
	return p
}

func (p *probe) wantNotes(t *testing.T, want ...string) {
	t.Helper()
	if got := p.notes(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A handler of SpiderIdle that enqueues keeps the crawl alive, and is asked again
// as soon as that is crawled, whether it asked not to close or not.
func TestIdleHandlerEnqueues(t *testing.T) {
	for name, answer := range map[string]error{"silent": nil, "don't close": crawl.ErrDontClose} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := (&probe{fetch: always}).starts("http://a.test/0").notesPages()
				asked := 0
				p.connect = func(env *crawl.Env) {
					crawl.On(env.Signals, func(context.Context, crawl.SpiderIdle) error {
						if asked++; asked > 3 {
							return nil
						}
						if err := env.Enqueue(page(fmt.Sprint(asked))); err != nil {
							return err
						}
						return answer
					})
				}
				began := time.Now()
				p.crawl(t).want(t, "finished", map[string]int64{"scheduler/enqueued": 4, "scheduler/dequeued": 4})
				p.wantNotes(t, "0", "1", "2", "3")
				if took := time.Since(began); asked != 4 || took > 0 {
					t.Errorf("asked %d times in %v, want 4 times at once", asked, took)
				}
			})
		})
	}
}

// A handler of SpiderIdle whose requests are all refused does not keep the crawl
// alive, nor is it asked for ever.
func TestIdleHandlerEnqueuesDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := (&probe{fetch: always}).starts("http://a.test/0")
		asked := 0
		p.connect = func(env *crawl.Env) {
			tell[crawl.RequestDropped](p, env)
			crawl.On(env.Signals, func(context.Context, crawl.SpiderIdle) error {
				asked++
				return errors.Join(env.Enqueue(page("0")), env.Enqueue(page("0")))
			})
		}
		p.crawl(t).want(t, "finished", map[string]int64{"dupefilter/filtered": 2, "response_received_count": 1})
		p.wantNotes(t, "RequestDropped", "RequestDropped")
		if asked != 1 {
			t.Errorf("asked %d times, want once", asked)
		}
	})
}

// What is enqueued passes the signals, the policies and the filter, and no spider
// middleware.
func TestEnqueueAdmits(t *testing.T) {
	s := newSections(2)
	s.begin = func(context.Context, crawl.Out) error {
		for _, r := range []*crawl.Request{page("z/1"), page("z/1"), page("x/1"), page("x/2"), page("x/3"), page("drop/1")} {
			if err := s.env.Enqueue(r); err != nil {
				t.Errorf("Enqueue(%v): %v", r, err)
			}
		}
		for wrong, want := range map[*crawl.Request]string{
			nil:              "the request is nil",
			{URL: "/page"}:   "missing scheme",
			page("broken/1"): "no budget file",
			{URL: "http://a.test/y/9", Meta: map[string]any{"f": func() {}}}: `Meta["f"]`,
		} {
			if err := s.env.Enqueue(wrong); err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, crawl.ErrStopped) {
				t.Errorf("Enqueue(%v): error %v, want one with %q", wrong, err, want)
			}
		}
		return nil
	}
	s.wrap = func(next crawl.Handler) crawl.Handler {
		return func(ctx context.Context, r *crawl.Response, f *crawl.Failure, out crawl.Out) error {
			return next(ctx, r, f, out.Through(func(any) any { t.Error("a spider middleware saw a request"); return nil }))
		}
	}
	s.page = func(_ context.Context, r *crawl.Response, _ crawl.Out) error {
		s.note("%s, depth %d, start %v", r.URL, r.Request.Trail.Depth, r.Request.Trail.Start)
		return nil
	}
	s.connect = func(env *crawl.Env) {
		s.meet(env)
		tell[crawl.RequestDropped](&s.probe, env)
		crawl.On(env.Signals, func(_ context.Context, e crawl.RequestScheduled) error {
			if strings.Contains(e.Request.URL, "/drop/") {
				return crawl.Ignore("not this one")
			}
			return nil
		})
	}
	finish(t.Context(), t, probeOptions(t, &s.probe, s)).want(t, "finished", map[string]int64{"scheduler/enqueued": 3, "dupefilter/filtered": 1})
	s.wantNotes(t, "RequestDropped", "RequestDropped", "http://a.test/x/1, depth 0, start false", "http://a.test/x/2, depth 0, start false",
		"http://a.test/z/1, depth 0, start false")
}

// Enqueue fails before the spider is opened, and once the crawl closes.
// simplecrawler#206: that may be asked for again, and Run returns when it is over.
func TestEnqueueOutsideOfTheCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := (&probe{fetch: always}).starts("http://a.test/0").notesPages()
		p.connect = func(env *crawl.Env) {
			p.meet(env)
			if err := env.Enqueue(page("early")); err == nil || errors.Is(err, crawl.ErrStopped) {
				t.Errorf("before the crawl: %v", err)
			}
			if !env.NeedsBackout() {
				t.Error("there is room before the crawl")
			}
			crawl.On(env.Signals, func(context.Context, crawl.SpiderOpened) error { return env.Enqueue(page("opened")) })
			crawl.On(env.Signals, func(context.Context, crawl.SpiderClosed) error {
				if err := env.Enqueue(page("late")); !errors.Is(err, crawl.ErrStopped) {
					t.Errorf("after the last page: %v", err)
				}
				return nil
			})
		}
		p.crawl(t).want(t, "finished", nil)
		p.wantNotes(t, "0", "opened")
		p.page = func(context.Context, *crawl.Response, crawl.Out) error {
			for range 2 {
				p.env.CloseSpider("enough")
				p.env.CloseSpider("another")
				if err := p.env.Enqueue(page("late")); !errors.Is(err, crawl.ErrStopped) || !p.env.NeedsBackout() {
					t.Errorf("while the crawl closes: %v, NeedsBackout %v", err, p.env.NeedsBackout())
				}
			}
			return nil
		}
		p.crawl(t).want(t, "enough", nil)
	})
}

// Enqueue works from many goroutines at a time, and whatever it took is crawled,
// however the crawl ends meanwhile.
func TestEnqueueFromGoroutines(t *testing.T) {
	p := &probe{fetch: always}
	var mu sync.Mutex
	seen, taken := map[string]int{}, 0
	p.page = func(_ context.Context, r *crawl.Response, _ crawl.Out) error {
		mu.Lock()
		defer mu.Unlock()
		seen[r.URL]++
		return nil
	}
	p.connect = p.meet
	p.beside = func(context.Context) error {
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := range 500 {
					err := p.env.Enqueue(page(fmt.Sprint(g, "/", i)))
					if errors.Is(err, crawl.ErrStopped) {
						return
					}
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					taken++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		return nil
	}
	p.crawl(t, "CONCURRENT_REQUESTS_PER_DOMAIN=16", "LOG_LEVEL=INFO").want(t, "finished", map[string]int64{"scheduler/enqueued": int64(taken)})
	if len(seen) != taken {
		t.Errorf("%d pages of %d that were taken", len(seen), taken)
	}
}

// Under JOBDIR what is enqueued outlives the process, whether or not the step
// that it came from does, and an interrupted Start does not pass over its own
// request because of it.
func TestEnqueuedOutlivesTheProcess(t *testing.T) {
	for _, kill := range []bool{false, true} {
		t.Run(fmt.Sprintf("kill=%v", kill), func(t *testing.T) {
			p := (&probe{fetch: always}).notesPages()
			p.connect = p.meet
			s := &stopped{T: t, p: p, assign: []string{"JOBDIR=/job", "CONCURRENT_REQUESTS=1", "JOB_SYNC_INTERVAL=0"}}
			s.prepare()
			snapshot := enqueueAndStop(s)
			if kill {
				s.fs = snapshot
			}
			p.fetch = always
			p.begin = func(_ context.Context, out crawl.Out) error {
				out.Request(&crawl.Request{URL: "http://a.test/first", DontFilter: true})
				out.Request(&crawl.Request{URL: "http://a.test/beside", DontFilter: true})
				return nil
			}
			end := finish(t.Context(), t, s.options())
			end.want(t, "finished", nil)
			p.wantLogged(t, map[string]int{"Resuming crawl (2 requests scheduled)": 1})
			p.wantNotes(t, "beside", "beside", "first")
		})
	}
}

// enqueueAndStop is a run whose only download never ends. It returns the disk as
// it was when the request from outside was committed.
func enqueueAndStop(s *stopped) (snapshot *faultfs.FS) {
	p := s.p
	s.assign = append(s.assign, "SCHEDULER=watched")
	committed := make(chan struct{})
	p.granted = func(g scheduler.Grant) {
		if g.Backlog > 0 && snapshot == nil {
			snapshot = s.fs.Kill()
			close(committed)
		}
	}
	p.fetch = func(ctx context.Context, _ *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
		<-committed
		s.stop()
		s.e.Cut()
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	p.begin = func(ctx context.Context, out crawl.Out) error {
		out.Request(&crawl.Request{URL: "http://a.test/first", DontFilter: true})
		if err := p.env.Enqueue(&crawl.Request{URL: "http://a.test/beside", DontFilter: true}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
	s.run()
	return snapshot
}

// An undone step and one that fails leave what was enqueued from within.
func TestEnqueuedOutlivesItsStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := (&probe{fetch: always}).starts("http://a.test/0")
		p.connect = p.meet
		tries := 0
		p.page = func(_ context.Context, r *crawl.Response, _ crawl.Out) error {
			p.note("%s", r.URL)
			if !strings.HasSuffix(r.URL, "/0") {
				return nil
			}
			tries++
			if err := p.env.Enqueue(page(fmt.Sprint("beside", tries))); err != nil {
				return err
			}
			if tries == 1 {
				return crawl.Undo(errors.New("down"))
			}
			return errors.New("broken")
		}
		p.crawl(t).want(t, "finished", map[string]int64{"spider_exceptions/count": 1})
		p.wantNotes(t, "http://a.test/0", "http://a.test/0", "http://a.test/beside1", "http://a.test/beside2")
	})
}

// A callback and a handler of a signal can not wait, as Start and extensions can:
// what they wait for may not happen before they return.
func TestCallbacksCanNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := (&probe{fetch: always}).starts("http://a.test/0")
		wait := func(ctx context.Context, who string) {
			err := crawl.Wait[crawl.SchedulerEmpty](ctx, p.env.Signals, nil)
			p.note("%s: %v", who, err != nil && strings.Contains(err.Error(), "can not wait"))
		}
		p.page = func(ctx context.Context, _ *crawl.Response, _ crawl.Out) error {
			synctest.Wait() // until the extension waits
			wait(ctx, "callback")
			return nil
		}
		p.connect = func(env *crawl.Env) {
			p.meet(env)
			crawl.On(env.Signals, func(ctx context.Context, _ crawl.SpiderIdle) error { wait(ctx, "handler"); return nil })
		}
		p.beside = func(ctx context.Context) error {
			err := crawl.Wait[crawl.SpiderIdle](ctx, p.env.Signals, nil)
			p.note("extension: %v", err)
			return nil
		}
		p.crawl(t).want(t, "finished", nil)
		p.wantNotes(t, "callback: true", "extension: <nil>", "handler: true")
	})
}

// A Start that waits ends with the crawl, and is called again.
func TestWaitEndsWithTheCrawl(t *testing.T) {
	p := keeper()
	inBubble(t, p, func(s *stopped) {
		p.connect = p.meet
		p.begin = func(ctx context.Context, out crawl.Out) error {
			out.Request(page("1"))
			time.AfterFunc(time.Minute, s.stop)
			err := crawl.Wait[crawl.SchedulerEmpty](ctx, p.env.Signals, func() bool { return false })
			p.note("stopped: %v", errors.Is(err, crawl.ErrStopped))
			return err
		}
		if took := s.run(); took != time.Minute {
			s.Errorf("it took %v, want a minute", took)
		}
		p.wantNotes(s.T, "stopped: true")
		p.starts("http://a.test/1", "http://a.test/2")
		s.resume(0, "/1", "/2")
	})
}
