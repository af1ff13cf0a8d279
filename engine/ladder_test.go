package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/feeds"
	"github.com/skeincrawl/skein/internal/faultfs"
)

// stopped is a crawl with a job that is stopped on the way and then goes on.
// Time in it is that of a bubble.
type stopped struct {
	*testing.T
	p      *probe
	assign []string
	fs     *faultfs.FS
	feed   []feeds.Target
	file   string
	ctx    context.Context //nolint:containedctx // of the first run.
	stop   context.CancelFunc
	e      *engine.Engine
}

// inBubble runs a test with a job on a file system in memory.
func inBubble(t *testing.T, p *probe, f func(s *stopped), assign ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stopped{T: t, p: p, assign: append(assign, "JOBDIR=/job")}
		s.prepare()
		f(s)
	})
}

func (s *stopped) prepare() {
	s.fs = faultfs.New()
	_, s.feed, s.file = inJob(s.T)
	s.ctx, s.stop = context.WithCancel(s.Context())
	s.Cleanup(s.stop)
}

// journalSize returns how many bytes a job's segments hold.
func journalSize(t *testing.T, fs *faultfs.FS) (n int) {
	t.Helper()
	names, err := fs.List("/job/requests.queue")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := fs.ReadFile("/job/requests.queue/" + name)
		if err != nil {
			t.Fatal(err)
		}
		n += len(b)
	}
	return n
}

func (s *stopped) options() engine.Options {
	o := probeOptions(s.T, s.p, s.p, s.assign...)
	o.FS, o.Feeds = s.fs, s.feed
	return o
}

// run is the first run, which ends by the stop.
func (s *stopped) run() time.Duration {
	s.Helper()
	began := time.Now()
	s.e = mustNew(s.T, s.options())
	res, err := s.e.Run(s.ctx)
	if err != nil || res.Reason != "shutdown" {
		s.Errorf("first run: %+v, %v", res, err)
	}
	return time.Since(began)
}

// resume is the second run. It must resume with some pending requests, finish,
// and leave each of these items once.
func (s *stopped) resume(pending int, want ...string) {
	s.Helper()
	end := finish(s.Context(), s.T, s.options())
	end.want(s.T, "finished", nil)
	if end.err != nil {
		s.Error(end.err)
	}
	if line := fmt.Sprintf("Resuming crawl (%d requests scheduled)", pending); s.p.logged(line) != 1 {
		s.Errorf("no line %q in\n%s", line, s.p.lines.String())
	}
	var got []string
	for url := range items(s.T, s.file) {
		got = append(got, strings.TrimPrefix(url, "http://a.test"))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		s.Errorf("items %q, want %q", got, want)
	}
}

// keeper is a probe whose pages are its items.
func keeper(paths ...string) *probe {
	p := (&probe{fetch: always}).starts()
	for i, path := range paths {
		paths[i] = "http://a.test" + path
	}
	p.starts(paths...)
	p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		out.Item(record(r.URL))
		return nil
	}
	return p
}

// The first stop lets what is on the wire finish; what is queued stays.
func TestStopWaitsForTheWire(t *testing.T) {
	p := keeper("/1", "/2", "/3")
	inBubble(t, p, func(s *stopped) {
		p.fetch = func(ctx context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
			s.stop()
			<-time.After(3 * time.Second) // on the wire
			return answer(r, ""), ctx.Err()
		}
		if took := s.run(); took < 3*time.Second || took > 4*time.Second {
			s.Errorf("the first run took %v, want what the wire took, 3s", took)
		}
		if got := len(items(s.T, s.file)); got != 1 {
			s.Errorf("%d items of the first run, want 1", got)
		}
		p.fetch = always
		// Start was cut short: what it had not emitted comes now.
		end := finish(s.Context(), s.T, s.options())
		end.want(s.T, "finished", nil)
		if got := len(items(s.T, s.file)); got != 3 {
			s.Errorf("%d items of both runs, want 3", got)
		}
	}, "CONCURRENT_REQUESTS=1")
}

// The end of SHUTDOWN_GRACE, and the second stop before it, cut the wire; what
// was cut goes back.
func TestCutReleases(t *testing.T) {
	for name, c := range map[string]struct {
		cut  bool
		want time.Duration
	}{"grace": {false, 8 * time.Second}, "second stop": {true, time.Second}} {
		t.Run(name, func(t *testing.T) {
			p := keeper("/1")
			inBubble(t, p, func(s *stopped) {
				p.fetch = func(ctx context.Context, _ *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
					s.stop()
					if c.cut {
						time.AfterFunc(time.Second, s.e.Cut)
					}
					<-ctx.Done()
					return nil, context.Cause(ctx)
				}
				if took := s.run(); took.Round(time.Second) != c.want {
					s.Errorf("the first run took %v, want %v", took, c.want)
				}
				p.fetch = always
				s.resume(1, "/1")
			})
		})
	}
}

// A callback that ignores its context is left behind 2 s after the cut; its
// request comes again.
func TestCallbackIsLeftBehind(t *testing.T) {
	p := keeper("/1")
	inBubble(t, p, func(s *stopped) {
		ever, keep, gone := make(chan struct{}), p.page, make(chan struct{})
		p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
			defer close(gone)
			out.Item(record(r.URL))
			s.stop()
			<-ever
			out.Item(record(r.URL + "late"))
			return nil
		}
		if took := s.run(); took.Round(time.Second) != 10*time.Second {
			s.Errorf("the first run took %v, want the grace of 8s and 2s", took)
		}
		p.wantLogged(s.T, map[string]int{"1 callbacks did not end and are left behind": 1})
		close(ever)
		<-gone
		p.page = keep
		s.resume(1, "/1")
	})
}

// A Start that reads for ever does not keep the process; what it had emitted is
// there, and it is called again.
func TestStartIsLeftBehind(t *testing.T) {
	p := keeper()
	inBubble(t, p, func(s *stopped) {
		in, out := io.Pipe()
		defer out.Close()
		read := true
		p.begin = func(_ context.Context, o crawl.Out) error {
			o.Request(&crawl.Request{URL: "http://a.test/1"})
			if read {
				_, _ = io.ReadAll(in)
			}
			o.Request(&crawl.Request{URL: "http://a.test/2"})
			return nil
		}
		time.AfterFunc(5*time.Second, s.stop)
		if took := s.run(); took.Round(time.Second) != 7*time.Second {
			s.Errorf("the first run took %v, want 5s and 2s for Start", took)
		}
		_ = out.Close()
		synctest.Wait()
		read = false
		s.resume(0, "/1", "/2")
	})
}

// A Start that returns without an error because it was stopped is called again.
func TestStartReturnsAtStop(t *testing.T) {
	p := keeper()
	inBubble(t, p, func(s *stopped) {
		p.begin = func(ctx context.Context, out crawl.Out) error {
			out.Request(&crawl.Request{URL: "http://a.test/1"})
			s.stop()
			<-ctx.Done()
			return nil
		}
		s.run()
		p.starts("http://a.test/1", "http://a.test/2")
		end := finish(s.Context(), s.T, s.options())
		end.want(s.T, "finished", nil)
		if got := len(items(s.T, s.file)); got != 2 {
			s.Errorf("%d items, want 2", got)
		}
	})
}

// A fetch within a step ends as its step: whole at the first stop, and not at
// all when it is cut, whatever the callback makes of the error.
func TestStopDuringFetch(t *testing.T) {
	for name, cut := range map[string]bool{"first stop": false, "cut": true} {
		for errName, pass := range map[string]bool{"passed on": true, "swallowed": false} {
			t.Run(name+", error "+errName, func(t *testing.T) {
				p := keeper("/1")
				inBubble(t, p, func(s *stopped) { stopDuringFetch(s, cut, pass) })
			})
		}
	}
}

func stopDuringFetch(s *stopped, cut, pass bool) {
	s.p.fetch = func(ctx context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
		if strings.HasSuffix(r.URL, "inner") {
			s.stop()
			if cut {
				s.e.Cut()
			}
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(time.Second):
			}
		}
		return answer(r, ""), nil
	}
	s.p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
		out.Item(record(r.URL))
		if _, err := out.Fetch(ctx, &crawl.Request{URL: r.URL + "inner"}); err != nil && pass {
			return err
		}
		return nil
	}
	s.run()
	got := len(items(s.T, s.file))
	switch {
	case !cut && got != 1:
		s.Errorf("%d items after the first stop, want 1", got)
	case cut && got != 0:
		s.Errorf("%d items after the cut, want none", got)
	}
	s.p.fetch = always
	s.resume(map[bool]int{true: 1}[cut], "/1")
}

// A redirect is not lost when the cut comes right after it was decided, and a
// step whose callback was cut comes again, whatever it returned.
func TestCutLosesNoReplacement(t *testing.T) {
	t.Run("by the downloader", func(t *testing.T) {
		p := keeper("/1")
		inBubble(t, p, func(s *stopped) {
			p.fetch = func(ctx context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
				s.stop()
				s.e.Cut()
				<-ctx.Done()
				return nil, crawl.Reschedule(renamed(r))
			}
			s.run()
			p.fetch = always
			s.resume(1, "/1again")
		})
	})
	for name, reply := range map[string]func(r *crawl.Request) error{
		"Retry":      func(r *crawl.Request) error { return crawl.Retry(r, "again") },
		"Reschedule": func(r *crawl.Request) error { return crawl.Reschedule(renamed(r)) },
		"other":      func(*crawl.Request) error { return errors.New("the database said no: context canceled") },
	} {
		t.Run("by the callback: "+name, func(t *testing.T) {
			p := keeper("/1")
			inBubble(t, p, func(s *stopped) {
				keep := p.page
				p.page = func(ctx context.Context, r *crawl.Response, _ crawl.Out) error {
					s.stop()
					s.e.Cut()
					<-ctx.Done()
					return reply(r.Request)
				}
				s.run()
				p.page = keep
				s.resume(1, "/1")
			})
		})
	}
}

func renamed(r *crawl.Request) *crawl.Request {
	c := r.Clone()
	c.URL += "again"
	return c
}
