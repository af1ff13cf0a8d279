package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/feeds"
	"github.com/skeincrawl/skein/internal/faultfs"
)

// A disk that fails in the middle of the crawl ends it with an error that names
// the file; what was accepted is there, and the next run completes the crawl.
func TestDiskFails(t *testing.T) {
	broken := errors.New("i/o error")
	for name, fail := range map[string]func(fs *faultfs.FS){
		"write error": func(fs *faultfs.FS) { fs.FailAt(faultfs.Write, 1, broken) },
		"sync error":  func(fs *faultfs.FS) { fs.FailAt(faultfs.Sync, 1, broken) },
		"full": func(fs *faultfs.FS) {
			fs.FailAt(faultfs.Write, 1, syscall.ENOSPC)
			fs.FailAt(faultfs.Write, 2, syscall.ENOSPC)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { diskFails(t, fail) })
		})
	}
}

func diskFails(t *testing.T, fail func(fs *faultfs.FS)) {
	const n = 400
	c := graphed(n)
	s := &stopped{T: t, p: &c.probe, assign: []string{"JOBDIR=/job", "CONCURRENT_REQUESTS=2"}}
	s.prepare()
	var pages atomic.Int64
	gate := make(chan struct{})
	c.fetch = func(ctx context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
		switch p := pages.Add(1); {
		case p == 40:
			fail(s.fs)
		case p > 60: // the background writer has its time
			select {
			case <-gate:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		return answer(r, ""), nil
	}
	o := probeOptions(t, &c.probe, c, s.assign...)
	o.FS, o.Feeds = s.fs, s.feed
	end := finish(t.Context(), t, o)
	close(gate)
	if end.Reason != "frontier_error" || end.err == nil || !strings.Contains(end.err.Error(), "/job/") {
		t.Fatalf("reason %q, error %v: want frontier_error and the file", end.Reason, end.err)
	}
	s.complete(n)
}

// complete runs the crawl of n pages to its end, and checks that all is there once.
func (s *stopped) complete(n int) {
	s.Helper()
	c := graphed(n)
	o := probeOptions(s.T, &c.probe, c, s.assign...)
	o.FS, o.Feeds = s.fs, s.feed
	end := finish(s.Context(), s.T, o)
	end.want(s.T, "finished", nil)
	if got := len(items(s.T, s.file)); got != n || len(c.state.Pages) != n || end.err != nil {
		s.Errorf("%d items and %d pages in the state, want %d; %v", got, len(c.state.Pages), n, end.err)
	}
}

// A disk that is full ends the crawl in good order, and with more room the next
// run completes it.
func TestDiskFull(t *testing.T) {
	const n = 400
	c := graphed(n)
	s := &stopped{T: t, p: &c.probe, assign: []string{"JOBDIR=/job", "CONCURRENT_REQUESTS=2"}}
	s.prepare()
	var pages atomic.Int64
	c.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
		if pages.Add(1) == 40 {
			s.fs.LimitBytes(300)
		}
		time.Sleep(time.Millisecond)
		return answer(r, ""), nil
	}
	synctest.Test(t, func(t *testing.T) {
		o := probeOptions(t, &c.probe, c, s.assign...)
		o.FS, o.Feeds = s.fs, s.feed
		end := finish(t.Context(), t, o)
		if end.Reason != "disk_full" || end.err != nil || pages.Load() >= n {
			t.Fatalf("reason %q after %d pages, error %v: want disk_full in the middle", end.Reason, pages.Load(), end.err)
		}
	})
	s.fs.LimitBytes(-1)
	s.complete(n)
}

// A feed that can not be written ends the crawl: its items are part of the
// steps.
func TestFeedFails(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full here")
	}
	for name, assign := range map[string]string{"memory": "JOBDIR=", "job": "JOBDIR=/job"} {
		t.Run(name, func(t *testing.T) {
			p := endless()
			o := probeOptions(t, p, p, assign)
			o.FS, o.Feeds = faultfs.New(), []feeds.Target{target(t, "/dev/full:jsonl")}
			end := finish(t.Context(), t, o)
			end.want(t, "frontier_error", map[string]int64{"feedexport/failed_count/FileFeedStorage": 1})
			if !errors.Is(end.err, syscall.ENOSPC) || !strings.Contains(end.err.Error(), "/dev/full") {
				t.Errorf("error %v", end.err)
			}
		})
	}
}

// pipe is a standard output whose reader goes away after some writes.
type pipe struct{ left atomic.Int64 }

func (p *pipe) Write(b []byte) (int, error) {
	if p.left.Add(-1) < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

// A closed pipe is a clean end, in the middle of the crawl and with its last
// bytes.
func TestClosedPipe(t *testing.T) {
	for name, p := range map[string]*probe{"middle": endless(), "last bytes": keeper("/1")} {
		for _, assign := range []string{"JOBDIR=", "JOBDIR=/job"} {
			t.Run(name+" "+assign, func(t *testing.T) {
				var out pipe
				o := probeOptions(t, p, p, assign)
				o.FS, o.Feeds, o.Stdout = faultfs.New(), []feeds.Target{target(t, "-")}, &out
				end := finish(t.Context(), t, o)
				end.want(t, "closed_pipe", nil)
				if end.err != nil {
					t.Error(end.err)
				}
				p.wantLogged(t, map[string]int{"Error storing": 0})
			})
		}
	}
}

// Both of two feeds get every item, and go on where they were after a stop.
func TestTwoFeeds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := (&probe{}).starts(urls("http://a.test", 100)...)
	var pages atomic.Int64
	p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
		if pages.Add(1) == 50 {
			cancel()
		}
		return answer(r, ""), nil
	}
	p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error { out.Item(record(r.URL)); return nil }
	dir := t.TempDir()
	o := probeOptions(t, p, p, "JOBDIR="+dir+"/job")
	o.Feeds = []feeds.Target{target(t, dir+"/a.jsonl"), target(t, dir+"/b.jsonl")}
	finish(ctx, t, o).want(t, "shutdown", nil)
	finish(t.Context(), t, o).want(t, "finished", nil)
	for _, f := range o.Feeds {
		if got := len(items(t, f.Path)); got != 100 {
			t.Errorf("%s has %d items, want 100", f.URI, got)
		}
	}
	if fmt.Sprint(order(t, dir+"/a.jsonl")) != fmt.Sprint(order(t, dir+"/b.jsonl")) {
		t.Error("the feeds differ in their order")
	}
}
