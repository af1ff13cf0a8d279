package engine_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/scheduler"
)

// scrapy#4106: of 40 seeds the fifth ends the crawl; what is seen and not done is
// queued, so the same job finishes with all of them.
func TestSeedsStoppedEarly(t *testing.T) {
	p := keeper()
	inBubble(t, p, func(s *stopped) {
		p.starts(urls("http://a.test", 40)...)
		keep, pages := p.page, 0
		p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
			if pages++; pages == 5 {
				return crawl.CloseSpider("enough")
			}
			return keep(ctx, r, out)
		}
		finish(s.Context(), s.T, s.options()).want(s.T, "enough", nil)
		end := finish(s.Context(), s.T, s.options())
		end.want(s.T, "finished", nil)
		if got := len(items(s.T, s.file)); got != 39 || pages != 40 { // the fifth made no item
			s.Errorf("%d items of %d pages, want 39 of 40", got, pages)
		}
	}, "CONCURRENT_PARSES=1")
}

// linear is a spider whose pages lead to the next by a counter in its state.
type linear struct {
	probe
	state linearState
}

type linearState struct {
	Next  int
	Since time.Time
}

func (l *linear) State() any { return &l.state }

// scrapy#5312, SER-01: a spider whose only link comes from a counter goes on where it was
// stopped, since the counter is that of the queue. A job without state says so.
func TestLinearSpider(t *testing.T) {
	since := time.Date(2024, 2, 29, 1, 2, 3, 4, time.FixedZone("", 2*3600))
	s := &stopped{T: t, assign: []string{"JOBDIR=/job"}}
	s.prepare()
	for run, c := range []struct{ last, want int }{{14, 14}, {30, 30}} {
		l := &linear{}
		l.fetch = always
		l.starts("http://a.test/0")
		l.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
			out.Item(record(r.URL))
			crawl.ReadState(out, func(s *linearState) { out.Follow(fmt.Sprintf("/%d", s.Next+1), nil) })
			crawl.UpdateState(out, func(s *linearState) {
				if s.Next++; s.Next == 1 {
					s.Since = since
				}
			})
			if strings.HasSuffix(r.URL, fmt.Sprint("/", c.last)) {
				return crawl.CloseSpider("far enough")
			}
			return nil
		}
		o := probeOptions(t, &l.probe, l, s.assign...)
		o.FS, o.Feeds = s.fs, s.feed
		finish(t.Context(), t, o).want(t, "far enough", nil)
		if got := len(items(t, s.file)); got != c.want+1 {
			t.Errorf("run %d: %d items, want %d", run+1, got, c.want+1)
		}
		if l.state.Next != c.want+1 || !l.state.Since.Equal(since) {
			t.Errorf("run %d: state %+v", run+1, l.state)
		}
		l.wantLogged(t, map[string]int{"has no state of the spider": 0})
	}
}

// A job that was stopped before a step had changed the state says so.
func TestResumedWithoutState(t *testing.T) {
	l := &linear{}
	s := &stopped{T: t, p: &l.probe, assign: []string{"JOBDIR=/job"}}
	s.prepare()
	l.starts("http://a.test/0")
	l.fetch = func(context.Context, *crawl.Request, crawl.Fetcher) (*crawl.Response, error) {
		return nil, crawl.ErrStopped
	}
	l.granted = func(g scheduler.Grant) {
		if len(g.Leases) > 0 {
			s.stop()
		}
	}
	o := probeOptions(t, &l.probe, l, "JOBDIR=/job", "SCHEDULER=watched")
	o.FS = s.fs
	finish(s.ctx, t, o).want(t, "shutdown", nil)
	l.wantLogged(t, map[string]int{"has no state of the spider": 0})
	l.fetch = always
	finish(t.Context(), t, o).want(t, "finished", nil)
	l.wantLogged(t, map[string]int{"has no state of the spider": 1})
}

// scrapy#6120: what requests share is a copy for each, with a job and without.
func TestSharedMeta(t *testing.T) {
	for name, closure := range map[string]bool{"stored": false, "not stored": true} {
		t.Run(name, func(t *testing.T) {
			eitherWay(t, func(t *testing.T, _ string, assign []string) {
				p := &probe{fetch: always}
				p.page = func(_ context.Context, r *crawl.Response, _ crawl.Out) error {
					list := r.Request.Meta["list"].([]any)
					p.note("%v %v", r.Request.Meta["n"], list)
					r.Request.Meta["n"], list[0] = "changed", "changed"
					return nil
				}
				p.begin = func(_ context.Context, out crawl.Out) error {
					shared := map[string]any{"n": 1, "list": []any{1}}
					for _, name := range []string{"1", "2"} {
						r := page(name)
						if r.Meta = shared; closure {
							r.Callback = func(ctx context.Context, r *crawl.Response, out crawl.Out) error { return p.page(ctx, r, out) }
						}
						out.Request(r)
					}
					shared["n"] = "too late"
					return nil
				}
				p.crawl(t, assign...).want(t, "finished", nil)
				p.wantNotes(t, "1 [1]", "1 [1]")
			})
		})
	}
}

// heritrix3#693: a stored request that can not be read is given up with a line in
// the log, and the crawl goes on.
func TestUnreadableRequest(t *testing.T) {
	for _, body := range []string{"null", `{"url":7}`, "", `{"url":"http://a.test/","callback":"Gone"}`} {
		t.Run(body, func(t *testing.T) {
			p := (&probe{fetch: always}).starts(urls("http://a.test", 3)...).notesPages()
			damaged := false
			p.granted = func(g scheduler.Grant) {
				for i := range g.Leases {
					if l := &g.Leases[i]; !damaged && strings.Contains(string(l.Body), "http://a.test/1") {
						l.Body, damaged = []byte(body), true
					}
				}
			}
			p.crawl(t, "SCHEDULER=watched").want(t, "finished", map[string]int64{"response_received_count": 2})
			p.wantNotes(t, "0", "2")
			p.wantLogged(t, map[string]int{"A queued request can not be read and is given up": 1, `"level":"error"`: 1})
		})
	}
}

// colly#875: two crawls in one process share nothing, settings least of all.
// SCH-08: without a filter each of many equal start requests is answered.
func TestTwoCrawlsAtOnce(t *testing.T) {
	srv := site(t, map[string]string{"/moved": "->/there", "/there": "x"})
	var wg sync.WaitGroup
	for filter, want := range map[string]int64{"fingerprint": 2, "none": 6 + 6 + 1} {
		wg.Go(func() {
			p := (&probe{}).starts(append(slices.Repeat([]string{srv.URL + "/moved"}, 6), srv.URL+"/there")...)
			p.crawl(t, "DUPEFILTER_CLASS="+filter).want(t, "finished", map[string]int64{"downloader/response_count": want})
		})
	}
	wg.Wait()
}

// apify-sdk-python#1097, crawlee-python#1825, scrapy-cluster#255, webmagic#706: a
// killed process had handed out three requests and finished none: all are sent
// again, and those that it finished are not.
func TestKilledWithRequestsInProgress(t *testing.T) {
	p := keeper()
	s := &stopped{T: t, p: p, assign: []string{"JOBDIR=/job", "JOB_SYNC_INTERVAL=0", "CONCURRENT_REQUESTS=3"}}
	s.prepare()
	var sent sync.WaitGroup
	sent.Add(3)
	p.starts(urls("http://a.test", 3)...)
	p.fetch = func(ctx context.Context, _ *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
		sent.Done()
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		sent.Wait()
		snapshot := s.fs.Kill()
		s.stop()
		s.e.Cut()
		s.fs = snapshot
	}()
	s.run()
	<-killed
	p.fetch = always
	end := finish(t.Context(), t, s.options())
	end.want(t, "finished", map[string]int64{"response_received_count": 3})
	if got := slices.Sorted(maps.Keys(items(t, s.file))); len(got) != 3 {
		t.Errorf("items %q, want three", got)
	}
}
