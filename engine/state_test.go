package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/faultfs"
)

// tally is the state of a counter.
type tally struct {
	Pages map[string]int
	Order []string // of the commits
	Ratio float64
}

// counter is a probe with state.
type counter struct {
	probe
	state tally
}

func (c *counter) State() any { return &c.state }

// graphed is a counter whose pages are those of a binary tree of n.
func graphed(n int) *counter {
	c := &counter{state: tally{Pages: map[string]int{}}}
	c.fetch = always
	c.starts("http://a.test/1")
	c.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		name := strings.TrimPrefix(r.URL, "http://a.test/")
		out.Item(record(name))
		crawl.UpdateState(out, func(s *tally) {
			s.Pages[name]++
			s.Order = append(s.Order, name)
		})
		crawl.ReadState(out, func(s *tally) {
			if s.Pages[name] != 0 {
				c.note("%s is in the state before its commit", name)
			}
		})
		var i int
		if _, err := fmt.Sscan(name, &i); err != nil {
			return err
		}
		for _, k := range []int{2 * i, 2*i + 1} {
			if k <= n {
				out.Follow(fmt.Sprintf("/%d", k), nil)
			}
		}
		return nil
	}
	return c
}

// order returns the items of a feed as they stand in it.
func order(t *testing.T, file string) (names []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(line, `{"url":"`), "\"}\n"))
	}
	return names
}

// State changes are made in the order of commits, which is that of the feed.
func TestStateInOrderOfCommits(t *testing.T) {
	c := graphed(300)
	_, feed, file := inJob(t)
	o := probeOptions(t, &c.probe, c, "CONCURRENT_PARSES=8")
	o.Feeds = feed
	finish(t.Context(), t, o).want(t, "finished", map[string]int64{"spider_exceptions/count": 0})
	if got := order(t, file); !slices.Equal(got, c.state.Order) || len(got) != 300 {
		t.Errorf("feed and state differ: %d and %d", len(got), len(c.state.Order))
	}
	if got := c.notes(); len(got) > 0 {
		t.Error(got)
	}
}

// A process that is killed at any moment resumes with the state of exactly the
// items that are in the feed, and ends with each page once in both.
func TestStateAfterKill(t *testing.T) {
	for _, at := range []int64{1, 7, 40, 90} {
		t.Run(fmt.Sprintf("at page %d", at), func(t *testing.T) {
			t.Parallel()
			stateAfterKill(t, at)
		})
	}
}

func stateAfterKill(t *testing.T, at int64) {
	const n = 100
	c := graphed(n)
	s := &stopped{T: t, p: &c.probe, assign: []string{"JOBDIR=/job", "CONCURRENT_REQUESTS=4"}}
	s.prepare()
	var pages atomic.Int64
	var snapshot *faultfs.FS
	var feed []byte
	c.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
		if pages.Add(1) == at {
			snapshot = s.fs.Kill() // the journal first: the feed is never behind it
			feed, _ = os.ReadFile(s.file)
			s.stop()
		}
		return answer(r, ""), nil
	}
	o := probeOptions(t, &c.probe, c, s.assign...)
	o.FS, o.Feeds = s.fs, s.feed
	if end := finish(s.ctx, t, o); end.err != nil {
		t.Fatal(end.err)
	}
	if err := os.WriteFile(s.file, feed, 0o600); err != nil {
		t.Fatal(err)
	}
	c = graphed(n)
	c.open = func(*crawl.Env) error {
		if got := order(t, s.file); !slices.Equal(got, c.state.Order) {
			t.Errorf("resumed with the state %q, and %q in the feed", c.state.Order, got)
		}
		return nil
	}
	o = probeOptions(t, &c.probe, c, s.assign...)
	o.FS, o.Feeds = snapshot, s.feed
	end := finish(t.Context(), t, o)
	end.want(t, "finished", nil)
	if got := order(t, s.file); !slices.Equal(got, c.state.Order) || len(items(t, s.file)) != n || len(c.state.Pages) != n || end.err != nil {
		t.Errorf("%d items, %d in the state, want %d; %v", len(got), len(c.state.Order), n, end.err)
	}
}

// A step that is undone changes nothing, nor does one whose change fails or
// leaves a state that can not be stored; the crawl goes on.
func TestStateOfFailedSteps(t *testing.T) {
	c := &counter{state: tally{Pages: map[string]int{"before": 1}}}
	c.fetch = always
	c.starts("http://a.test/good", "http://a.test/panic", "http://a.test/nan", "http://a.test/late", "http://a.test/undo", "http://a.test/wrong")
	undone := false
	c.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		name := strings.TrimPrefix(r.URL, "http://a.test/")
		crawl.UpdateState(out, func(s *tally) { s.Pages[name]++ })
		switch {
		case name == "panic":
			crawl.UpdateState(out, func(*tally) { panic("change") })
		case name == "nan":
			crawl.UpdateState(out, func(s *tally) { s.Ratio = math.NaN() })
		case name == "late":
			return errors.New("late")
		case name == "undo" && !undone:
			undone = true
			return crawl.Undo(errors.New("down"))
		case name == "wrong":
			crawl.UpdateState(out, func(*probe) {})
		}
		return nil
	}
	end := finish(t.Context(), t, probeOptions(t, &c.probe, c, "CONCURRENT_REQUESTS=1"))
	end.want(t, "finished", map[string]int64{"response_received_count": 7, "spider_exceptions/count": 4})
	want := map[string]int{"before": 1, "good": 1, "late": 1, "undo": 1, "wrong": 1}
	if !maps.Equal(c.state.Pages, want) || c.state.Ratio != 0 {
		t.Errorf("state %+v, want %v", c.state, want)
	}
}

// The state may be changed within a read, in a callback and in Start, while
// others commit.
func TestChangeWithinRead(t *testing.T) {
	c := graphed(0)
	change := func(name string, out crawl.Out) {
		crawl.ReadState(out, func(s *tally) {
			if s.Pages[name] == 0 {
				crawl.UpdateState(out, func(s *tally) { s.Pages[name]++ })
			}
		})
	}
	c.begin = func(_ context.Context, out crawl.Out) error {
		for i := range 100 {
			out.Request(&crawl.Request{URL: fmt.Sprintf("http://a.test/%d", i)})
			change("start", out)
		}
		return out.Err()
	}
	c.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		change(r.URL, out)
		return nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	end := finish(ctx, t, probeOptions(t, &c.probe, c))
	end.want(t, "finished", map[string]int64{"spider_exceptions/count": 0})
	if n := len(c.state.Pages); n != 101 {
		t.Errorf("%d keys in the state, want 101", n)
	}
}

// Changes of a Start that is called again are made once: each goes with the
// entry that follows it.
func TestStateOfStart(t *testing.T) {
	fs := faultfs.New()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	newCounter := func(onThird func()) *counter {
		c := graphed(0)
		c.page = nil
		c.begin = func(_ context.Context, out crawl.Out) error {
			for i := range 6 {
				if i == 3 {
					onThird()
				}
				crawl.UpdateState(out, func(s *tally) { s.Order = append(s.Order, fmt.Sprint(i)) })
				out.Request(&crawl.Request{URL: fmt.Sprintf("http://a.test/%d", i)})
				if out.Err() != nil {
					return out.Err()
				}
			}
			crawl.UpdateState(out, func(s *tally) { s.Order = append(s.Order, "end") })
			return nil
		}
		return c
	}
	c := newCounter(cancel)
	o := probeOptions(t, &c.probe, c, "JOBDIR=/job")
	o.FS = fs
	finish(ctx, t, o).want(t, "shutdown", nil)
	c = newCounter(func() {})
	o = probeOptions(t, &c.probe, c, "JOBDIR=/job")
	o.FS = fs
	finish(t.Context(), t, o).want(t, "finished", nil)
	if want := []string{"0", "1", "2", "3", "4", "5", "end"}; !slices.Equal(c.state.Order, want) {
		t.Errorf("state %q, want %q", c.state.Order, want)
	}
}

// resumer logs in again first.
type resumer struct {
	counter
	login func(ctx context.Context, out crawl.Out) error
}

func (r *resumer) Resume(ctx context.Context, out crawl.Out) error { return r.login(ctx, out) }

// Resume runs first in a run that resumes, and only there: nothing is sent
// before it returns but what it fetches itself, which waits for DOWNLOAD_DELAY.
func TestResumer(t *testing.T) {
	var sent []time.Time
	srv := site(t, map[string]string{"/login": "in", "/1": "1", "/2": "2", "/3": "3"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := &resumer{}
	r.starts(srv.URL+"/1", srv.URL+"/2", srv.URL+"/3")
	r.fetch = func(ctx context.Context, q *crawl.Request, next crawl.Fetcher) (*crawl.Response, error) {
		r.mu.Lock()
		r.log = append(r.log, filepath.Base(q.URL))
		sent = append(sent, time.Now()) // before the sending, from which the delay counts
		r.mu.Unlock()
		return next.Fetch(ctx, q)
	}
	r.page = func(context.Context, *crawl.Response, crawl.Out) error { cancel(); return nil }
	r.login = func(ctx context.Context, out crawl.Out) error {
		for range 2 {
			if _, err := out.Fetch(ctx, &crawl.Request{URL: srv.URL + "/login"}); err != nil {
				return err
			}
		}
		out.Item(record("login"))
		crawl.UpdateState(out, func(s *tally) { s.Order = append(s.Order, "login") })
		return nil
	}
	fs := faultfs.New()
	_, feed, file := inJob(t)
	opts := func() ending {
		o := probeOptions(t, &r.probe, r, "JOBDIR=/job", "DOWNLOAD_DELAY=50ms", "RANDOMIZE_DOWNLOAD_DELAY=False")
		o.FS, o.Feeds = fs, feed
		return finish(ctx, t, o)
	}
	opts().want(t, "shutdown", nil)
	if slices.Contains(r.log, "login") || len(r.log) != 1 {
		t.Fatalf("the first run fetched %q", r.log)
	}
	ctx, r.log, sent = t.Context(), nil, nil
	opts().want(t, "finished", nil)
	if len(r.log) != 4 || r.log[0] != "login" || r.log[1] != "login" {
		t.Errorf("the second run fetched %q", r.log)
	}
	if !slices.Equal(r.state.Order, []string{"login"}) || len(items(t, file)) != 1 {
		t.Errorf("state %q, items %v", r.state.Order, items(t, file))
	}
	for i := range sent[1:] {
		if gap := sent[i+1].Sub(sent[i]); gap < 50*time.Millisecond {
			t.Errorf("request %d was sent %v after the one before", i+2, gap)
		}
	}
}

// Start fetches on its own.
func TestFetchOfStart(t *testing.T) {
	srv := site(t, map[string]string{"/list": "<h1>list</h1>", "/1": "1"})
	p := &probe{}
	p.begin = func(ctx context.Context, out crawl.Out) error {
		r, err := out.Fetch(ctx, &crawl.Request{URL: srv.URL + "/list"})
		if err != nil {
			return err
		}
		p.note("%s", r.CSS("h1::text").Get())
		out.Request(&crawl.Request{URL: srv.URL + "/1"})
		return nil
	}
	p.crawl(t, "CONCURRENT_REQUESTS=1", "CONCURRENT_REQUESTS_PER_DOMAIN=1").
		want(t, "finished", map[string]int64{"downloader/response_count": 2, "scheduler/enqueued": 1})
	if got := p.notes(); !slices.Equal(got, []string{"list"}) {
		t.Errorf("got %q", got)
	}
}
