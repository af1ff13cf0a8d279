package engine_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/feeds"
)

// tell notes every event of type E.
func tell[E any](p *probe, env *crawl.Env) {
	name := reflect.TypeFor[E]().Name()
	crawl.On(env.Signals, func(context.Context, E) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.log = append(p.log, name)
		return nil
	})
}

// ENG-04: the signals of a crawl of one page with an item, in their order.
func TestOrderOfSignals(t *testing.T) {
	srv := site(t, map[string]string{"/": "root"})
	p := (&probe{}).starts(srv.URL + "/")
	p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		out.Item(record(r.URL))
		out.Follow("/", nil)
		return nil
	}
	p.connect = func(env *crawl.Env) {
		tell[crawl.SpiderOpened](p, env)
		tell[crawl.EngineStarted](p, env)
		tell[crawl.RequestScheduled](p, env)
		tell[crawl.RequestReachedDownloader](p, env)
		tell[crawl.ResponseDownloaded](p, env)
		tell[crawl.RequestLeftDownloader](p, env)
		tell[crawl.ResponseReceived](p, env)
		tell[crawl.ItemScraped](p, env)
		tell[crawl.RequestDropped](p, env)
		tell[crawl.SpiderIdle](p, env)
		tell[crawl.SpiderClosed](p, env)
		tell[crawl.EngineStopped](p, env)
	}
	p.crawl(t).want(t, "finished", nil)
	want := []string{
		"SpiderOpened", "EngineStarted", "RequestScheduled", "RequestReachedDownloader", "ResponseDownloaded",
		"RequestLeftDownloader", "ResponseReceived", "RequestScheduled", "ItemScraped", "RequestDropped", "SpiderIdle",
		"SpiderClosed", "EngineStopped",
	}
	if !slices.Equal(p.log, want) {
		t.Errorf("got  %q\nwant %q", p.log, want)
	}
}

// ENG-03: an item that can not be exported is reported with its response, and
// the others are kept.
func TestItemError(t *testing.T) {
	srv := site(t, map[string]string{"/": "root"})
	p := (&probe{}).starts(srv.URL + "/")
	p.page = func(_ context.Context, _ *crawl.Response, out crawl.Out) error {
		out.Item(record("before"))
		out.Item(func() {})
		out.Item(record("between"))
		out.Item(&badItem{})
		out.Item(record("after"))
		return nil
	}
	p.connect = func(env *crawl.Env) {
		crawl.On(env.Signals, func(_ context.Context, e crawl.ItemError) error {
			p.note("%T %s %v", e.Item, strings.TrimPrefix(e.Response.URL, srv.URL), e.Err != nil)
			return nil
		})
	}
	dir := t.TempDir()
	o := probeOptions(t, p, p)
	o.Feeds = []feeds.Target{target(t, filepath.Join(dir, "a.jsonl")), target(t, filepath.Join(dir, "b.jsonl"))}
	end := finish(t.Context(), t, o)
	end.want(t, "finished", map[string]int64{"item_scraped_count": 3, "spider_exceptions/count": 0})
	for _, f := range o.Feeds {
		if got := items(t, f.Path); len(got) != 3 {
			t.Errorf("%s holds %v", f.URI, got)
		}
	}
	if got, want := p.notes(), []string{"*engine_test.badItem / true", "func() / true"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// badItem goes into one feed and panics in the next.
type badItem struct{ feeds int }

func (b *badItem) AppendJSON(dst []byte) ([]byte, error) {
	if b.feeds++; b.feeds > 1 {
		panic("an exporter's item")
	}
	return append(dst, `{"url":"bad"}`...), nil
}

// ENG-06, ENG-12, ENG-13, ENG-14: who may end the crawl, and with which reason.
func TestReasons(t *testing.T) {
	closes := func(reason string) error {
		if reason == "" {
			return nil
		}
		return crawl.CloseSpider(reason)
	}
	for name, c := range map[string]struct{ open, opened, started, idle, want string }{
		"ENG-06 idle":             {idle: "custom_reason", want: "custom_reason"},
		"ENG-12 Open":             {open: "pipeline_reason", want: "pipeline_reason"},
		"ENG-13 SpiderOpened":     {opened: "signal_reason", want: "signal_reason"},
		"ENG-14 Open comes first": {open: "pipeline_reason", opened: "signal_reason", want: "pipeline_reason"},
		"EngineStarted":           {started: "at_once", want: "at_once"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := (&probe{fetch: always}).starts("http://a.test/")
				p.open = func(env *crawl.Env) error {
					crawl.On(env.Signals, func(context.Context, crawl.SpiderOpened) error { return closes(c.opened) })
					crawl.On(env.Signals, func(context.Context, crawl.EngineStarted) error { return closes(c.started) })
					crawl.On(env.Signals, func(context.Context, crawl.SpiderIdle) error { return closes(c.idle) })
					crawl.On(env.Signals, func(_ context.Context, e crawl.SpiderClosed) error { p.note("%s", e.Reason); return nil })
					return closes(c.open)
				}
				sent := int64(0)
				if c.idle != "" {
					sent = 1
				}
				p.crawl(t).want(t, c.want, map[string]int64{"downloader/request_count": sent})
				p.wantLogged(t, map[string]int{`"level":"error"`: 0})
				if got := p.notes(); !slices.Equal(got, []string{c.want}) {
					t.Errorf("SpiderClosed with %q", got)
				}
			})
		})
	}
}

// ENG-15: an error of Open is that of the crawl, and nothing was sent.
func TestOpenFails(t *testing.T) {
	boom := errors.New("no database")
	for name, open := range map[string]func(*crawl.Env) error{
		"error": func(*crawl.Env) error { return boom },
		"panic": func(*crawl.Env) error { panic(boom) },
		"signal": func(env *crawl.Env) error {
			crawl.On(env.Signals, func(context.Context, crawl.SpiderOpened) error { return boom })
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := (&probe{fetch: always, open: open}).starts("http://a.test/")
			job, feed, _ := inJob(t)
			o := probeOptions(t, p, p, job)
			o.Feeds = feed
			end := finish(t.Context(), t, o)
			end.want(t, "start_error", map[string]int64{"downloader/request_count": 0})
			if !errors.Is(end.err, boom) {
				t.Errorf("error %v", end.err)
			}
			p.open = nil
			again := finish(t.Context(), t, o) // the job is as good as new
			again.want(t, "finished", map[string]int64{"response_received_count": 1})
		})
	}
}

// ENG-17: whatever fails while the crawl closes is logged, and it closes.
func TestCloseFails(t *testing.T) {
	for name, fail := range map[string]func() error{
		"error": func() error { return errors.New("broken") },
		"panic": func() error { panic("broken") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { closeFails(t, fail) })
		})
	}
}

func closeFails(t *testing.T, fail func() error) {
	p := &probe{fetch: always, end: func(string) error { return fail() }}
	p.connect = func(env *crawl.Env) {
		crawl.On(env.Signals, func(context.Context, crawl.SpiderIdle) error { return fail() })
		crawl.On(env.Signals, func(context.Context, crawl.SpiderClosed) error { return fail() })
		crawl.On(env.Signals, func(context.Context, crawl.EngineStopped) error { return fail() })
	}
	p.beside = func(context.Context) error { return fail() }
	p.begin = func(context.Context, crawl.Out) error { synctest.Wait(); return nil } // until the extension has failed
	p.crawl(t).want(t, "finished", nil)
	p.wantLogged(t, map[string]int{
		"Error closing the spider": 1, "signal handler of SpiderClosed": 1, "signal handler of EngineStopped": 1,
		"signal handler of SpiderIdle": 1, "Error in extension probe": 1, "Spider closed (finished)": 1,
	})
}

// ENG-11: a handler of RequestScheduled refuses requests.
func TestScheduledIgnore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := (&probe{fetch: always}).starts("http://keep.test/", "http://drop.test/")
		p.connect = func(env *crawl.Env) {
			crawl.On(env.Signals, func(_ context.Context, e crawl.RequestScheduled) error {
				if strings.Contains(e.Request.URL, "drop") {
					return crawl.Ignore("not this one")
				}
				return nil
			})
		}
		p.crawl(t).want(t, "finished", map[string]int64{"scheduler/enqueued": 1, "response_received_count": 1, "spider_exceptions/count": 0})
	})
}

// ENG-24: RequestLeftDownloader is sent once, whatever the end of the download.
func TestLeftDownloader(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			<-r.Context().Done()
		case "/drop":
			drop(w, r)
		}
	})
	for name, url := range map[string]string{
		"200": srv.URL + "/", "timeout": srv.URL + "/slow", "dropped": srv.URL + "/drop",
		"refused": "http://127.0.0.1:1/", "no host": "http://no-such-host.invalid/", "scheme": "foo://x/",
	} {
		t.Run(name, func(t *testing.T) {
			p := (&probe{}).starts(url)
			p.connect = func(env *crawl.Env) { tell[crawl.RequestLeftDownloader](p, env) }
			end := p.crawl(t, "RETRY_ENABLED=False", "DOWNLOAD_TIMEOUT=100ms")
			if len(p.log) != 1 {
				t.Errorf("sent %d times", len(p.log))
			}
			if want := name != "200"; end.NoResponse != want {
				t.Errorf("NoResponse %v, want %v", end.NoResponse, want)
			}
		})
	}
}

// ENG-18, ENG-19, ENG-22: a fetch within a callback, plain, redirected and failing.
func TestFetchOutcomes(t *testing.T) {
	srv := site(t, map[string]string{"/": "root", "/plain": "plain", "/moved": "->/plain?2"})
	p := (&probe{}).starts(srv.URL + "/")
	p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
		for _, path := range []string{"/plain", "/moved", "/none"} {
			got, err := out.Fetch(ctx, &crawl.Request{URL: path})
			if err != nil {
				return err
			}
			p.note("%s %d %s", path, got.Status, strings.TrimPrefix(got.URL, srv.URL))
		}
		_, err := out.Fetch(ctx, &crawl.Request{URL: "http://127.0.0.1:1/", Options: crawl.Options{NoRetry: true}})
		p.note("refused %s", crawl.KindOf(err))
		return nil
	}
	p.crawl(t).want(t, "finished", map[string]int64{"downloader/request_count": 6, "scheduler/enqueued": 1, "spider_exceptions/count": 0})
	want := []string{"/moved 200 /plain?2", "/none 404 /none", "/plain 200 /plain", "refused refused"}
	if got := p.notes(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// ENG-09, ENG-25: an engine runs once.
func TestRunTwice(t *testing.T) {
	p := &probe{}
	e := mustNew(t, probeOptions(t, p, p))
	if _, err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context()); err == nil {
		t.Error("a second run began")
	}
}

// A handler of SpiderIdle that wants to go on is asked again at every heartbeat;
// a stop ends that (ENG-28).
func TestIdleGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := (&probe{fetch: always}).starts("http://a.test/")
		began := time.Now()
		p.connect = func(env *crawl.Env) {
			crawl.On(env.Signals, func(context.Context, crawl.SpiderIdle) error {
				p.note("asked at %v", time.Since(began).Round(time.Second))
				<-time.After(10 * time.Millisecond)
				if time.Since(began) > 14*time.Second {
					cancel()
				}
				return fmt.Errorf("a queue elsewhere: %w", crawl.ErrDontClose)
			})
		}
		end := finish(ctx, t, probeOptions(t, p, p))
		end.want(t, "shutdown", nil)
		want := []string{"asked at 0s", "asked at 10s", "asked at 15s", "asked at 5s"}
		if got := p.notes(); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
