package middleware

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/internal/robots"
)

// RFC 9309 §2.4: a file counts for a day; if it can not be had again it goes on
// to count.
func TestRobotsTxtLifetime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := body("User-agent: *\nDisallow: /1")
		w := newRobots(t, nil, func(ctx context.Context, r *crawl.Request) (*crawl.Response, error) { return answer(ctx, r) })
		check := func(fetches int, refused string) {
			t.Helper()
			for _, path := range []string{"/1", "/2"} {
				if got := w.allowed(t, get("http://a.test"+path)); got == (path == refused) {
					t.Errorf("%s is allowed = %v", path, got)
				}
			}
			if len(w.fetched) != fetches {
				t.Errorf("%d fetches, want %d", len(w.fetched), fetches)
			}
		}
		check(1, "/1")
		time.Sleep(robotsLifetime - time.Second)
		check(1, "/1")
		answer = statusOf(503)
		time.Sleep(time.Second)
		check(2, "/1")
		answer = body("User-agent: *\nDisallow: /2")
		time.Sleep(robotsPenance)
		check(3, "/2")
	})
}

// RB-02: those who come while the file is fetched wait for it.
func TestRobotsTxtWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w := newRobots(t, nil, func(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
			<-release
			return body("User-agent: *\nDisallow: /no")(ctx, r)
		})
		var wg sync.WaitGroup
		for i := range 20 {
			path := []string{"/yes", "/no"}[i%2]
			wg.Go(func() {
				if got := w.allowed(t, get("http://a.test"+path)); got != (path == "/yes") {
					t.Errorf("%s is allowed = %v", path, got)
				}
			})
		}
		synctest.Wait()
		if w.pages.Load() != 0 {
			t.Errorf("%d pages were fetched before robots.txt", w.pages.Load())
		}
		close(release)
		wg.Wait()
		if len(w.fetched) != 1 || w.pages.Load() != 10 {
			t.Errorf("%d fetches, %d pages, want 1 and 10", len(w.fetched), w.pages.Load())
		}
	})
}

// Whoever is cut while it fetches the file leaves that to another; whoever is cut
// while it waits goes at once. A stop is no answer of the server.
func TestRobotsTxtCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newRobots(t, nil, func(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(time.Second):
				return body("")(ctx, r)
			}
		})
		results := make([]error, 3)
		var wg sync.WaitGroup
		cut := make([]context.CancelCauseFunc, 3)
		for i := range results {
			var ctx context.Context
			ctx, cut[i] = context.WithCancelCause(t.Context())
			wg.Go(func() { _, results[i] = w.f.Fetch(ctx, get("http://a.test/")) })
			synctest.Wait() // the first fetches, the others wait
		}
		cut[1](crawl.ErrStopped)
		synctest.Wait()
		if !errors.Is(results[1], crawl.ErrStopped) {
			t.Errorf("who waited got %v, want to be stopped", results[1])
		}
		cut[0](crawl.ErrStopped)
		wg.Wait()
		cut[2](nil)
		if !errors.Is(results[0], crawl.ErrStopped) || results[2] != nil {
			t.Errorf("got %v and %v, want the first stopped and the last done", results[0], results[2])
		}
		if len(w.fetched) != 2 {
			t.Errorf("%d fetches, want 2", len(w.fetched))
		}
		wantStats(t, w.env, map[string]int64{"robotstxt/forbidden": 0, "robotstxt/exception_count/DownloadTimeoutError": 0})
	})
}

// A server that asks for an hour's silence holds nobody's place for an hour.
func TestRobotsTxtPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w := newRobots(t, nil, downloader.Follow(crawl.FetcherFunc(func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
			again := *r
			again.NotBefore = time.Now().Add(time.Hour)
			return nil, crawl.Reschedule(&again)
		})).Fetch)
		if w.allowed(t, get("http://a.test/")) {
			t.Error("the page is allowed")
		}
		if d := time.Since(start); d != robotsPatience {
			t.Errorf("it took %v, want %v", d, robotsPatience)
		}
		wantStats(t, w.env, map[string]int64{"robotstxt/exception_count/DownloadTimeoutError": 1})
	})
}

// A source that panics leaves nobody waiting.
func TestRobotsTxtPanic(t *testing.T) {
	t.Parallel()
	times := 0
	w := newRobots(t, nil, func(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
		if times++; times == 1 {
			panic("mine")
		}
		return body("")(ctx, r)
	})
	if err := crawl.Guard(func() error { return w.fetch(t, get("http://a.test/")) }); err == nil {
		t.Error("the panic is gone")
	}
	if !w.allowed(t, get("http://a.test/")) {
		t.Error("the next request is refused")
	}
}

// robotsSourceFunc answers as a server does.
type robotsSourceFunc func() *robotsFile

func (f robotsSourceFunc) read(context.Context, string, *crawl.Request) (*robotsFile, error) {
	return f(), nil
}

// The memory of the cache is bounded, whether there are many files or large ones.
func TestRobotsCacheIsBounded(t *testing.T) {
	t.Parallel()
	var names strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&names, "User-agent: %x\n", i)
	}
	for _, text := range []string{"User-agent: *\nDisallow: /x", names.String()} {
		file := robots.Parse([]byte(text))
		c := newRobotsCache(robotsSourceFunc(func() *robotsFile {
			return &robotsFile{file: file, expires: time.Now().Add(robotsLifetime)}
		}))
		c.look("http://fetching.test", "", time.Now())
		fits := maxRobots / (robotsEntryMin + len("http://12345.test") + file.Size())
		for i := range fits + fits/4 {
			if _, err := c.file(t.Context(), fmt.Sprint("http://", 10_000+i, ".test"), get("")); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(c.origins); n < fits-1 || n > fits+2 || c.size > maxRobots || c.origins["http://fetching.test"] == nil {
			t.Errorf("%d origins of %d bytes are kept, want about %d with the one being fetched", n, c.size, fits)
		}
		sum := 0
		for _, e := range c.origins {
			sum += e.size
		}
		if sum != c.size {
			t.Errorf("the size is %d, the entries have %d", c.size, sum)
		}
	}
}

// robots.txt is asked for on the way of the request that needs it. What one proxy
// could not do another may; what one has brought counts for all.
func TestRobotsTxtProxies(t *testing.T) {
	t.Parallel()
	const dead, other, good = "http://dead.test:3128", "http://dead2.test:3128", "http://good.test:3128"
	var ways []string
	w := newRobots(t, nil, func(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
		ways = append(ways, r.Options.Proxy+r.Options.BindAddress)
		if r.Options.Proxy != good {
			return nil, &crawl.DownloadError{Kind: crawl.FailRefused, Name: "DownloadConnectionRefusedError", Err: errors.New("refused")}
		}
		return body("User-agent: *\nDisallow: /no")(ctx, r)
	})
	by := func(proxy string) *crawl.Request {
		return &crawl.Request{URL: "http://a.test/", Options: crawl.Options{Proxy: proxy, BindAddress: "192.0.2.7"}}
	}
	for _, c := range []struct {
		proxy string
		kind  crawl.FailureKind
		asked int
	}{{dead, crawl.FailRefused, 1}, {other, crawl.FailRefused, 2}, {dead, crawl.FailRefused, 2}, {other, crawl.FailRefused, 2}, {good, "", 3}, {dead, "", 3}, {other, "", 3}} {
		err := w.fetch(t, by(c.proxy))
		if c.kind == "" && err != nil || c.kind != "" && crawl.KindOf(err) != c.kind || len(ways) != c.asked {
			t.Errorf("by %s: %v, %d fetches of robots.txt, want kind %q and %d", c.proxy, err, len(ways), c.kind, c.asked)
		}
	}
	if ways[0] != dead+"192.0.2.7" || ways[2] != good+"192.0.2.7" {
		t.Errorf("robots.txt was asked for by %q", ways)
	}
}

// That this process has no descriptor left says nothing about a server.
func TestRobotsTxtNoDescriptor(t *testing.T) {
	t.Parallel()
	full := true
	w := newRobots(t, nil, func(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
		if full {
			return nil, &crawl.DownloadError{Kind: crawl.FailConnection, Name: "DownloadFailedError", Err: syscall.EMFILE}
		}
		return body("")(ctx, r)
	})
	if err := w.fetch(t, get("http://a.test/")); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("error = %v, want that of the descriptors", err)
	}
	full = false
	if err := w.fetch(t, get("http://a.test/")); err != nil {
		t.Errorf("error = %v when there are descriptors again", err)
	}
}
