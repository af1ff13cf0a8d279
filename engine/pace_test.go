package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// SLOT-04, SLOT-05: the gaps between requests of a host, as its server sees
// them, when the delay is fixed and when it is drawn; also with fetches within
// steps among them.
func TestDelay(t *testing.T) {
	const delay = 50 * time.Millisecond
	for _, c := range []struct {
		name, assign string
		nested       bool
		least        time.Duration
	}{
		{"SLOT-04 fixed", "RANDOMIZE_DOWNLOAD_DELAY=False", false, delay},
		{"SLOT-05 drawn", "RANDOMIZE_DOWNLOAD_DELAY=True", false, delay / 2},
		{"with Out.Fetch", "RANDOMIZE_DOWNLOAD_DELAY=False", true, delay},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				v, n := newVisits(), 11
				p := (&probe{}).starts(urls("http://a.test", n)...)
				p.serveHosts(t, func(w http.ResponseWriter, r *http.Request) { v.enter(r.Host); fmt.Fprint(w, "x") })
				if c.nested {
					p.starts(urls("http://a.test", 6)...)
					p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
						if strings.HasSuffix(r.URL, "/5") {
							return nil
						}
						_, err := out.Fetch(ctx, &crawl.Request{URL: r.URL + "/inner"})
						return err
					}
				}
				p.crawl(t, overPipes, "DOWNLOAD_DELAY=50ms", c.assign).want(t, "finished", map[string]int64{"downloader/response_count": int64(n)})
				gaps := v.gaps("a.test")
				if len(gaps) != n-1 || slices.Min(gaps) < c.least || slices.Max(gaps) > 2*delay {
					t.Errorf("gaps %v, want %d of %v at least", gaps, n-1, c.least)
				}
			})
		})
	}
}

// A host with a long delay, one that does not answer, and a bound of one
// download a host hold nobody else up (scrapy/scrapy#2638).
func TestSlowHostBlocksNobody(t *testing.T) {
	for name, assign := range map[string]string{"delay": "DOWNLOAD_DELAY=10s", "one a host": "CONCURRENT_REQUESTS_PER_DOMAIN=1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { slowHost(t, assign) })
		})
	}
}

func slowHost(t *testing.T, assign string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p, left := &probe{}, 20
	p.serveHosts(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "slow.test" {
			<-ctx.Done()
		}
		fmt.Fprint(w, "x")
	})
	p.begin = func(_ context.Context, out crawl.Out) error {
		for i := range 20 {
			out.Request(&crawl.Request{URL: fmt.Sprintf("http://slow.test/%d", i), Priority: 5})
		}
		for i := range 20 {
			out.Request(&crawl.Request{URL: fmt.Sprintf("http://fast%d.test/", i)})
		}
		return nil
	}
	began := time.Now()
	p.page = func(_ context.Context, r *crawl.Response, _ crawl.Out) error {
		if strings.Contains(r.URL, "fast") {
			if left--; left == 0 {
				if took := time.Since(began); took > time.Second {
					t.Errorf("the other hosts took %v", took)
				}
				cancel()
			}
		}
		return nil
	}
	finish(ctx, t, probeOptions(t, p, p, overPipes, assign, "CONCURRENT_REQUESTS=4", "CONCURRENT_PARSES=1")).want(t, "shutdown", nil)
	if left != 0 {
		t.Errorf("%d pages of other hosts are missing", left)
	}
}

// SLOT-07: a server that takes too long, before or after its headers, leads to
// the errback; SLOT-08: one that is merely slow does not.
func TestDownloadTimeout(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/after" {
			w.Header().Set("Content-Length", "9")
			w.(http.Flusher).Flush()
		}
		if r.URL.Path != "/ok" {
			<-r.Context().Done()
		}
	})
	p := &probe{}
	p.page = func(_ context.Context, r *crawl.Response, _ crawl.Out) error {
		p.note("callback %s", r.URL[len(srv.URL):])
		return nil
	}
	p.begin = func(_ context.Context, out crawl.Out) error {
		for _, path := range []string{"/before", "/after", "/ok"} {
			out.Request(&crawl.Request{URL: srv.URL + path, Errback: func(_ context.Context, f *crawl.Failure, _ crawl.Out) error {
				p.note("errback %s %s", path, f.Kind)
				return nil
			}})
		}
		return nil
	}
	p.crawl(t, "DOWNLOAD_TIMEOUT=350ms", "RETRY_ENABLED=False").want(t, "finished", nil)
	want := []string{"callback /ok", "errback /after timeout", "errback /before timeout"}
	if got := p.notes(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// meter knows how many are in it, and how many were at most.
type meter struct{ now, most atomic.Int32 }

func (m *meter) enter() {
	n := m.now.Add(1)
	for {
		old := m.most.Load()
		if n <= old || m.most.CompareAndSwap(old, n) {
			return
		}
	}
}

func (m *meter) leave() { m.now.Add(-1) }

// ENG-29: CONCURRENT_REQUESTS holds over all hosts, the fetches within steps included,
// and CONCURRENT_PARSES for the callbacks that do not wait for a fetch.
func TestGatesHold(t *testing.T) {
	for _, c := range []struct{ requests, parses int32 }{{1, 1}, {3, 2}, {4, 8}} {
		t.Run(fmt.Sprintf("%d,%d", c.requests, c.parses), func(t *testing.T) {
			t.Parallel()
			var wire, parse meter
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "x") }))
			defer s.Close()
			p := &probe{}
			p.fetch = func(ctx context.Context, r *crawl.Request, next crawl.Fetcher) (*crawl.Response, error) {
				wire.enter() // here, since the transport bounds the connections of a host too
				defer wire.leave()
				return next.Fetch(ctx, r)
			}
			p.begin = func(_ context.Context, out crawl.Out) error {
				for i := range 60 {
					out.Request(&crawl.Request{URL: fmt.Sprintf("%s/%d", s.URL, i), Options: crawl.Options{Slot: fmt.Sprint(i % 5)}})
				}
				return nil
			}
			p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
				parse.enter()
				parse.leave()
				_, err := out.Fetch(ctx, &crawl.Request{URL: r.URL + "/inner", Options: crawl.Options{Slot: "inner"}})
				parse.enter()
				parse.leave()
				return err
			}
			p.crawl(t, fmt.Sprintf("CONCURRENT_REQUESTS=%d", c.requests), fmt.Sprintf("CONCURRENT_PARSES=%d", c.parses)).
				want(t, "finished", map[string]int64{"downloader/response_count": 120, "spider_exceptions/count": 0})
			if got := wire.most.Load(); got > c.requests {
				t.Errorf("%d downloads at once, want at most %d", got, c.requests)
			}
			if got := parse.most.Load(); got > c.parses {
				t.Errorf("%d callbacks at once, want at most %d", got, c.parses)
			}
		})
	}
}

// A callback that waits in Out.Fetch leaves its place to others: with one place
// every callback here waits for the fetch of all.
func TestParsePlaceIsFreeInFetch(t *testing.T) {
	const n = 5
	var inner sync.WaitGroup
	inner.Add(n)
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/inner") {
			inner.Done()
			inner.Wait()
		}
		fmt.Fprint(w, "x")
	})
	p := (&probe{}).starts(urls(srv.URL, n)...)
	p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
		_, err := out.Fetch(ctx, &crawl.Request{URL: r.URL + "/inner"})
		return err
	}
	p.crawl(t, "CONCURRENT_PARSES=1").want(t, "finished", map[string]int64{"downloader/response_count": 2 * n})
}

// SCRAPER_SLOT_MAX_ACTIVE_SIZE: nothing is leased while the bodies in callbacks
// are larger, and the crawl goes on when they are gone (stormcrawler#738).
func TestBytesGate(t *testing.T) {
	var sent atomic.Int32
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		sent.Add(1)
		fmt.Fprint(w, strings.Repeat("x", 20_000))
	})
	p := (&probe{}).starts(urls(srv.URL, 8)...)
	p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
		before := sent.Load()
		// Steps happen in the meantime: this fetch takes some.
		if _, err := out.Fetch(ctx, &crawl.Request{URL: srv.URL + "/inner"}); err != nil {
			return err
		}
		if got := sent.Load() - before - 1; got != 0 {
			t.Errorf("%d requests were sent while a callback held its body", got)
		}
		return nil
	}
	p.crawl(t, "SCRAPER_SLOT_MAX_ACTIVE_SIZE=10000", "CONCURRENT_REQUESTS=1").
		want(t, "finished", map[string]int64{"downloader/response_count": 16})
}

// CONCURRENT_REQUESTS_PER_DOMAIN holds when fetches within steps come beside
// the queue of their own slot.
func TestSlotHoldsWithFetch(t *testing.T) {
	var wire meter
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		wire.enter()
		defer wire.leave()
		fmt.Fprint(w, strings.Repeat("x", 1000))
	})
	p := (&probe{}).starts(urls(srv.URL, 100)...)
	p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
		_, err := out.Fetch(ctx, &crawl.Request{URL: r.URL + "/inner"})
		return err
	}
	p.crawl(t, "CONCURRENT_REQUESTS_PER_DOMAIN=2").want(t, "finished", map[string]int64{"downloader/response_count": 200})
	if got := wire.most.Load(); got > 2 {
		t.Errorf("%d downloads of a slot at once, want at most 2", got)
	}
}

// DOWNLOAD_MAX_ACTIVE_SIZE: bodies that do not fit beside each other come one
// after the other, and the crawl ends, also if callbacks that hold one wait for
// another.
func TestBytesHeld(t *testing.T) {
	for _, nested := range []bool{false, true} {
		var held, most atomic.Int64
		srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", 1<<20)) })
		p := (&probe{}).starts(urls(srv.URL, 20)...)
		p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
			n := held.Add(int64(len(r.Body)))
			most.Store(max(n, most.Load()))
			defer held.Add(-int64(len(r.Body)))
			if !nested {
				return nil
			}
			_, err := out.Fetch(ctx, &crawl.Request{URL: r.URL + "/inner"})
			return err
		}
		p.crawl(t, "DOWNLOAD_MAX_ACTIVE_SIZE=1MiB", "SCRAPER_SLOT_MAX_ACTIVE_SIZE=1GiB", "CONCURRENT_PARSES=8").want(t, "finished", nil)
		if got := most.Load(); !nested && got > 2<<20 {
			t.Errorf("callbacks held %d bytes at once", got)
		}
		p.wantLogged(t, map[string]int{"DOWNLOAD_MAX_ACTIVE_SIZE allows": 1})
	}
}
