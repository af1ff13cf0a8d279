package engine_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/scheduler"
)

// minimal is a scheduler of three methods, first in, first out, each URL once.
type minimal struct {
	queue []*crawl.Request
	seen  map[string]bool
}

func (m *minimal) Enqueue(_ context.Context, r *crawl.Request) (bool, error) {
	if m.seen[r.URL] {
		return false, nil
	}
	m.seen[r.URL] = true
	m.queue = append(m.queue, r)
	return true, nil
}

func (m *minimal) Next(context.Context) (*crawl.Request, error) {
	if len(m.queue) == 0 {
		return nil, nil
	}
	r := m.queue[0]
	m.queue = m.queue[1:]
	return r, nil
}

func (m *minimal) HasPending(context.Context) (bool, error) { return len(m.queue) > 0, nil }

func newMinimal(*crawl.Env) (scheduler.Scheduler, error) {
	return &minimal{seen: map[string]bool{}}, nil
}

// SCH-10 and SCH-14: a scheduler of three methods runs a crawl, and what it
// refuses is dropped.
func TestMinimalScheduler(t *testing.T) {
	var dropped atomic.Int32
	p := &probe{schedule: newMinimal, fetch: always}
	p.connect = func(env *crawl.Env) {
		crawl.On(env.Signals, func(context.Context, crawl.RequestDropped) error { dropped.Add(1); return nil })
	}
	p.starts("http://a.test/start")
	p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		if !strings.HasSuffix(r.URL, "start") {
			out.Item(record(r.URL))
			return nil
		}
		for _, path := range []string{"/1", "/2", "/1", "/3"} {
			out.Follow(path, p.Parse)
		}
		return nil
	}
	o := probeOptions(t, p, p, "SCHEDULER=probe", "CONCURRENT_REQUESTS_PER_DOMAIN=1")
	file := filepath.Join(t.TempDir(), "out.jsonl")
	o.Feeds = append(o.Feeds, target(t, file))
	finish(t.Context(), t, o).want(t, "finished", map[string]int64{"item_scraped_count": 3, "response_received_count": 4})
	if n := dropped.Load(); n != 1 {
		t.Errorf("%d requests were dropped, want the one that is there twice", n)
	}
	if got := len(items(t, file)); got != 3 {
		t.Errorf("%d items in the feed, want 3", got)
	}
}

// slow is a minimal scheduler whose open and close take their time.
type slow struct {
	minimal
	p      *probe
	opened bool
}

func (s *slow) Open(context.Context) error {
	<-time.After(time.Minute)
	s.opened = true
	return nil
}

func (s *slow) Close(_ context.Context, reason string) error {
	<-time.After(time.Minute)
	s.p.note("scheduler closed, %s, opened %v", reason, s.opened)
	return nil
}

// SCH-11: the crawl waits for open and close.
func TestSchedulerOpensAndCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &probe{fetch: always}
		p.schedule = func(*crawl.Env) (scheduler.Scheduler, error) {
			return &slow{minimal: minimal{seen: map[string]bool{}}, p: p}, nil
		}
		p.connect = func(env *crawl.Env) {
			crawl.On(env.Signals, func(context.Context, crawl.SpiderClosed) error { p.note("spider closed"); return nil })
		}
		p.starts("http://a.test/1").crawl(t, "SCHEDULER=probe").want(t, "finished", map[string]int64{"response_received_count": 1})
		if got, want := p.log, []string{"scheduler closed, finished, opened true", "spider closed"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// pausing is a minimal scheduler that has requests and does not hand them out.
type pausing struct {
	minimal
	paused atomic.Bool
}

func (p *pausing) Next(ctx context.Context) (*crawl.Request, error) {
	if p.paused.Load() {
		return nil, nil
	}
	return p.minimal.Next(ctx)
}

// telling is one that tells when it goes on.
type telling struct {
	*pausing
	ready chan struct{}
}

func (p telling) Ready() <-chan struct{} { return p.ready }

// LOOP-01: the engine goes on by itself when a scheduler that has requests hands
// them out again, at its next heartbeat, or at once if it is told.
func TestSchedulerPauses(t *testing.T) {
	t.Run("heartbeat", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &pausing{minimal: minimal{seen: map[string]bool{}}}
			pauses(t, s, s, 5*time.Second, func() { s.paused.Store(false) })
		})
	})
	t.Run("told", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := telling{&pausing{minimal: minimal{seen: map[string]bool{}}}, make(chan struct{}, 1)}
			pauses(t, s, s.pausing, 0, func() {
				s.paused.Store(false)
				s.ready <- struct{}{}
			})
		})
	})
}

// pauses crawls a and, while the scheduler pauses, b, then c, and d that is held
// back when Start has ended.
func pauses(t *testing.T, s scheduler.Scheduler, pause *pausing, most time.Duration, resume func()) {
	t.Helper()
	visits := make(chan string, 1)
	p := &probe{fetch: always, schedule: func(*crawl.Env) (scheduler.Scheduler, error) { return s, nil }}
	p.page = func(_ context.Context, r *crawl.Response, _ crawl.Out) error {
		visits <- r.URL[len("http://a.test/"):]
		return nil
	}
	var order []string
	p.begin = func(_ context.Context, out crawl.Out) error {
		emit := func(name string) { out.Request(&crawl.Request{URL: "http://a.test/" + name}) }
		emit("a")
		order = append(order, <-visits)
		pause.paused.Store(true)
		emit("b")
		<-time.After(11 * time.Second)
		if len(visits) > 0 {
			t.Error("b was sent while the scheduler paused")
		}
		began := time.Now()
		resume()
		order = append(order, <-visits)
		if waited := time.Since(began); waited > most {
			t.Errorf("b waited %v, want %v at most", waited, most)
		}
		emit("c")
		order = append(order, <-visits)
		pause.paused.Store(true)
		emit("d")
		time.AfterFunc(33*time.Second, resume)
		return out.Err()
	}
	p.crawl(t, "SCHEDULER=probe").want(t, "finished", map[string]int64{"response_received_count": 4})
	order = append(order, <-visits)
	if want := []string{"a", "b", "c", "d"}; !slices.Equal(order, want) {
		t.Errorf("visited %q, want %q", order, want)
	}
}

// A scheduler that keeps nothing is refused under JOBDIR before anything is made
// there, and so is one whose constructor fails; one that fails or panics later
// ends the crawl, and not the process.
func TestSchedulerFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "job")
	p := &probe{fetch: always}
	for words, c := range map[string]struct {
		schedule func(*crawl.Env) (scheduler.Scheduler, error)
		assign   []string
	}{
		"JOBDIR":      {newMinimal, []string{"JOBDIR=" + dir}},
		"no database": {func(*crawl.Env) (scheduler.Scheduler, error) { return nil, errors.New("no database") }, nil},
		"returned no": {func(*crawl.Env) (scheduler.Scheduler, error) { return nil, nil }, nil},
	} {
		p.schedule = c.schedule
		_, err := engine.New(probeOptions(t, p, p, append(c.assign, "SCHEDULER=probe")...))
		if !errors.As(err, new(*engine.ConfigError)) || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "SCHEDULER probe") {
			t.Errorf("error %v, want a ConfigError with %q", err, words)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the job directory was made: %v", err)
	}
	for words, s := range map[string]scheduler.Scheduler{
		"out of order": &broken{minimal: minimal{seen: map[string]bool{}}, err: errors.New("out of order")},
		"panic":        &broken{minimal: minimal{seen: map[string]bool{}}},
	} {
		p.schedule = func(*crawl.Env) (scheduler.Scheduler, error) { return s, nil }
		end := finish(t.Context(), t, probeOptions(t, p, p.starts("http://a.test/1"), "SCHEDULER=probe"))
		if end.Reason != "frontier_error" || end.err == nil || !strings.Contains(end.err.Error(), words) {
			t.Errorf("reason %q, error %v, want frontier_error with %q", end.Reason, end.err, words)
		}
	}
}

// broken is a scheduler whose Next fails, or panics.
type broken struct {
	minimal
	err error
}

func (b *broken) Next(context.Context) (*crawl.Request, error) {
	if b.err == nil && len(b.queue) > 0 {
		panic("out of order")
	}
	return nil, b.err
}
