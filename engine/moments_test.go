package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// SchedulerEmpty is sent each time there is room and nothing is queued: not while
// all places are taken, and not while a request waits for its time.
func TestSchedulerEmpty(t *testing.T) {
	for name, c := range map[string]struct {
		requests string
		later    time.Duration // until a second request may start
		want     []time.Duration
	}{
		"room":            {"2", 0, []time.Duration{0, 0, 5, 10, 12, 12}},
		"no room":         {"1", 0, []time.Duration{0, 12, 12}},
		"another waits":   {"2", 8, []time.Duration{0, 8, 12, 12}},
		"another is last": {"2", 30, []time.Duration{0, 30}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				p := &probe{}
				p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
					if !strings.HasSuffix(r.URL, "/later") {
						<-time.After(12 * time.Second)
					}
					return answer(r, ""), nil
				}
				p.begin = func(_ context.Context, out crawl.Out) error {
					synctest.Wait() // the engine has looked for work
					if c.later > 0 {
						out.Request(&crawl.Request{URL: "http://a.test/later", NotBefore: began.Add(c.later * time.Second)})
					}
					out.Request(page("slow"))
					return nil
				}
				var got []time.Duration
				p.connect = func(env *crawl.Env) {
					crawl.On(env.Signals, func(context.Context, crawl.SchedulerEmpty) error {
						got = append(got, time.Since(began)/time.Second)
						return nil
					})
				}
				p.crawl(t, "CONCURRENT_REQUESTS="+c.requests).want(t, "finished", nil)
				if got = slices.Compact(got); !slices.Equal(got, slices.Compact(c.want)) {
					t.Errorf("sent at %d s, want %d", got, slices.Compact(c.want))
				}
			})
		})
	}
}

// What each fate of a request sends.
func TestSignalsOfFates(t *testing.T) {
	srv := site(t, map[string]string{"/": "root", "/moved": "->/there", "/there": "x"})
	for name, c := range map[string]struct{ path, reason, want string }{
		"answered":             {"/", "finished", "Scheduled Reached Downloaded Left Received"},
		"redirected":           {"/moved", "finished", "Scheduled Reached Downloaded Left Scheduled Reached Downloaded Left Received"},
		"refused by a handler": {"/refused", "finished", "Scheduled"},
		"refused by Admit":     {"/broken", "finished", "Scheduled Dropped"},
		"ignored on the way":   {"/ignored", "no_response", "Scheduled"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &closed{probe: probe{}}
			s.starts(srv.URL + c.path)
			s.fetch = func(ctx context.Context, r *crawl.Request, next crawl.Fetcher) (*crawl.Response, error) {
				if strings.HasSuffix(r.URL, "/ignored") {
					return nil, crawl.Ignore("not here")
				}
				return next.Fetch(ctx, r)
			}
			s.connect = func(env *crawl.Env) {
				crawl.On(env.Signals, func(_ context.Context, e crawl.RequestScheduled) error {
					if strings.HasSuffix(e.Request.URL, "/refused") {
						return crawl.Ignore("not this one")
					}
					return nil
				})
				tell[crawl.RequestScheduled](&s.probe, env)
				tell[crawl.RequestDropped](&s.probe, env)
				tell[crawl.RequestReachedDownloader](&s.probe, env)
				tell[crawl.ResponseDownloaded](&s.probe, env)
				tell[crawl.RequestLeftDownloader](&s.probe, env)
				tell[crawl.ResponseReceived](&s.probe, env)
			}
			finish(t.Context(), t, probeOptions(t, &s.probe, s)).want(t, c.reason, nil)
			short := strings.NewReplacer("Request", "", "Response", "", "Downloader", "")
			if got := short.Replace(strings.Join(s.log, " ")); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// closed is a probe that admits nothing below /broken.
type closed struct{ probe }

func (*closed) Admit(r *crawl.Request) error {
	if strings.Contains(r.URL, "/broken") {
		return crawl.Ignore("closed")
	}
	return nil
}
