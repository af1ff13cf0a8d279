package engine_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/feeds"
)

// LOOP-02: a crawl that ends before Start emits sends nothing.
func TestCloseBeforeStartEmits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := &probe{fetch: always}
		p.begin = func(ctx context.Context, out crawl.Out) error {
			cancel()
			<-ctx.Done()
			out.Request(&crawl.Request{URL: "http://a.test/"})
			return out.Err()
		}
		end := finish(ctx, t, probeOptions(t, p, p))
		end.want(t, "shutdown", map[string]int64{"downloader/request_count": 0, "scheduler/enqueued": 0, "spider_exceptions/count": 0})
		p.wantLogged(t, map[string]int{`"level":"error"`: 0})
		if end.err != nil || end.NoResponse {
			t.Errorf("%+v", end)
		}
	})
}

// LOOP-04, LOOP-05, LOOP-15: what Start emitted before its error is crawled, and
// the error is reported once.
func TestStartFails(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		panics bool
		reason string
		errors int64
		stat   string
	}{
		"LOOP-04 an error":      {errors.New("no list today"), false, "start_error", 1, "spider_exceptions/errorString"},
		"LOOP-05 CloseSpider":   {crawl.CloseSpider("my_reason"), false, "my_reason", 0, "spider_exceptions/CloseError"},
		"LOOP-15 a panic":       {errors.New("ouch"), true, "start_error", 1, "spider_exceptions/PanicError"},
		"LOOP-15 wrapped close": {fmt.Errorf("list: %w", crawl.CloseSpider("")), false, "cancelled", 0, "spider_exceptions/wrapError"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { startFails(t, c.err, c.panics, c.reason, c.errors, c.stat) })
		})
	}
}

func startFails(t *testing.T, err error, panics bool, reason string, errs int64, stat string) {
	p := &probe{fetch: always}
	crawled := make(chan struct{})
	p.page = func(context.Context, *crawl.Response, crawl.Out) error { close(crawled); return nil }
	p.open = func(env *crawl.Env) error {
		crawl.On(env.Signals, func(_ context.Context, e crawl.SpiderError) error {
			p.note("error, response %v", e.Response)
			return nil
		})
		return nil
	}
	p.begin = func(_ context.Context, out crawl.Out) error {
		out.Request(&crawl.Request{URL: "http://a.test/"})
		<-crawled
		if panics {
			panic(err)
		}
		return err
	}
	end := p.crawl(t)
	end.want(t, reason, map[string]int64{"response_received_count": 1, "spider_exceptions/count": errs, stat: errs})
	p.wantLogged(t, map[string]int{`"level":"error"`: int(errs), "Error while reading start items": int(errs)})
	if got := p.notes(); len(got) != int(errs) || len(got) > 0 && got[0] != "error, response <nil>" {
		t.Errorf("SpiderError: %q", got)
	}
}

// What Start emits, and with "!" enqueues beside it, before its first page can be
// served, as names with "+1" for priority 1, and the order in which they are sent.
func TestStartOrder(t *testing.T) {
	for name, c := range map[string]struct {
		emit, want, assign string
	}{
		"LOOP-06 fifo": {"1 2+1! 5! 6 3+1 4+1", "1 2 3 4 5 6", "SCHEDULER_START_MEMORY_QUEUE=fifo"},
		"LOOP-07 lifo": {"1 2+1! 5! 6 4+1 3+1", "1 2 3 4 5 6", "SCHEDULER_START_MEMORY_QUEUE=lifo"},
		"LOOP-08 no queue of its own": {
			"1 7+1! 6+1! 13! 12! 11 10 5+1 4+1 3+1! 2+1! 9! 8!", "1 2 3 4 5 6 7 8 9 10 11 12 13", "SCHEDULER_START_MEMORY_QUEUE=None",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := startOrder(t, c.emit, c.assign); got != c.want {
					t.Errorf("sent %s, want %s", got, c.want)
				}
			})
		})
	}
}

// startOrder holds the first download until all is emitted.
func startOrder(t *testing.T, emit, assign string) string {
	p := &probe{}
	p.connect = p.meet
	var sent []string
	emitted := make(chan struct{})
	p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
		sent = append(sent, strings.TrimPrefix(r.URL, "http://a.test/"))
		<-emitted
		return answer(r, ""), nil
	}
	p.begin = func(_ context.Context, out crawl.Out) error {
		defer close(emitted)
		for name := range strings.FieldsSeq(emit) {
			name, beside := strings.CutSuffix(name, "!")
			name, prio, _ := strings.Cut(name, "+")
			r := &crawl.Request{URL: "http://a.test/" + name, Priority: len(prio)}
			if !beside {
				out.Request(r)
			} else if err := p.env.Enqueue(r); err != nil {
				return err
			}
		}
		return nil
	}
	p.crawl(t, "CONCURRENT_REQUESTS=1", assign).want(t, "finished", nil)
	return strings.Join(sent, " ")
}

// LOOP-09: a Start that waits for an empty scheduler lets callbacks' requests go
// first, although the callback that emits them runs while Start could go on.
func TestLazyStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &probe{}
		p.connect = p.meet
		var sent []string
		p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
			sent = append(sent, strings.TrimPrefix(r.URL, "http://a.test/"))
			<-time.After(time.Second)
			return answer(r, ""), nil
		}
		p.begin = func(ctx context.Context, out crawl.Out) error {
			for _, name := range []string{"1", "2", "4"} {
				room := func() bool { return !p.env.NeedsBackout() }
				if err := crawl.Wait[crawl.SchedulerEmpty](ctx, p.env.Signals, room); err != nil {
					return err
				}
				out.Request(&crawl.Request{URL: "http://a.test/" + name})
			}
			return nil
		}
		p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
			if strings.HasSuffix(r.URL, "/1") {
				<-time.After(time.Second / 2) // Start has emitted 2
				out.Follow("/3", nil)
			}
			return nil
		}
		began := time.Now()
		p.crawl(t, "CONCURRENT_REQUESTS=1").want(t, "finished", map[string]int64{"spider_exceptions/count": 0})
		if got, want := strings.Join(sent, " "), "1 2 3 4"; got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("it took %v, want 4s: Start waited for more than room", took)
		}
	})
}

// LOOP-01: Start and requests that wait for their time do not hold each other up,
// and the crawl goes on to the last of them.
func TestStartBesidePauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := &probe{}
		var sent []string
		p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
			sent = append(sent, fmt.Sprintf("%s %v", strings.TrimPrefix(r.URL, "http://a.test/"), time.Since(began).Round(time.Second)))
			return answer(r, ""), nil
		}
		p.begin = func(_ context.Context, out crawl.Out) error {
			out.Request(&crawl.Request{URL: "http://a.test/a"})
			out.Request(&crawl.Request{URL: "http://a.test/b", NotBefore: began.Add(time.Minute)})
			<-time.After(2 * time.Minute)
			out.Request(&crawl.Request{URL: "http://a.test/c"})
			out.Request(&crawl.Request{URL: "http://a.test/d", NotBefore: began.Add(5 * time.Minute)})
			return nil
		}
		p.crawl(t, "DOWNLOAD_DELAY=0").want(t, "finished", nil)
		if got, want := strings.Join(sent, ", "), "a 0s, b 1m0s, c 2m0s, d 5m0s"; got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
	})
}

// LOOP-10, LOOP-11, LOOP-12, LOOP-14: Start emits nothing but items, of any
// type, also long after it began.
func TestStartItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "out.jsonl")
		p := &probe{fetch: always}
		p.begin = func(_ context.Context, out crawl.Out) error {
			synctest.Wait() // the engine has nothing to do
			out.Item(record("a"))
			out.Item(map[string]string{"url": "b"})
			out.Item(struct {
				URL string `json:"url"`
			}{"c"})
			out.Item(42) // no object: refused
			out.Item(&struct {
				URL string `json:"url"`
			}{"d"})
			return nil
		}
		o := probeOptions(t, p, p)
		o.Feeds = []feeds.Target{target(t, file)}
		end := finish(t.Context(), t, o)
		end.want(t, "finished", map[string]int64{"item_scraped_count": 4, "spider_exceptions/count": 0})
		if got := items(t, file); len(got) != 4 || end.err != nil {
			t.Errorf("items %v, %v", got, end.err)
		}
		if end.NoResponse {
			t.Error("NoResponse, but nothing was sent")
		}
	})
}

// LOOP-17, LOOP-18, crawlee-python#1861: start requests are marked, also over a
// redirect and a retry, so those have their place among them still;
// requests of callbacks are not.
func TestStartMark(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/1":
			http.Redirect(w, r, "/2", http.StatusFound)
		case r.URL.Path == "/busy" && r.Header.Get("Again") == "":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			fmt.Fprint(w, "x")
		}
	})
	p := (&probe{}).starts(srv.URL+"/1", srv.URL+"/busy")
	var mu sync.Mutex
	tries := 0
	p.fetch = func(ctx context.Context, r *crawl.Request, next crawl.Fetcher) (*crawl.Response, error) {
		if r.Trail.Retries > 0 {
			mu.Lock()
			tries++
			mu.Unlock()
			r = r.Clone()
			r.Header = http.Header{"Again": {"1"}}
		}
		return next.Fetch(ctx, r)
	}
	p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		p.note("%s %v", strings.TrimPrefix(r.URL, srv.URL), r.Request.Trail.Start)
		if r.Request.Trail.Start {
			out.Follow("/3", nil)
		}
		return nil
	}
	p.crawl(t).want(t, "finished", nil)
	if got, want := p.notes(), []string{"/2 true", "/3 false", "/busy true"}; !slices.Equal(got, want) || tries != 1 {
		t.Errorf("got %q after %d retries, want %q after 1", got, tries, want)
	}
}
