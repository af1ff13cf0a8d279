package scheduler_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
	"github.com/skeincrawl/skein/scheduler/schedulertest"
)

// plain is the least scheduler there can be: first in, first out, each URL once.
type plain struct {
	queue []*crawl.Request
	seen  map[string]bool
	stats *crawl.Stats
}

func (p *plain) Enqueue(_ context.Context, r *crawl.Request) (bool, error) {
	if p.seen[r.URL] && !r.DontFilter {
		p.stats.Inc("dupefilter/filtered")
		return false, nil
	}
	p.seen[r.URL] = p.seen[r.URL] || !r.DontFilter
	p.queue = append(p.queue, r)
	return true, nil
}

func (p *plain) Next(context.Context) (*crawl.Request, error) {
	if len(p.queue) == 0 {
		return nil, nil
	}
	r := p.queue[0]
	p.queue = p.queue[1:]
	return r, nil
}

func (p *plain) HasPending(context.Context) (bool, error) { return len(p.queue) > 0, nil }

func newPlain(env *crawl.Env) *plain { return &plain{seen: map[string]bool{}, stats: env.Stats} }

// counting is a plain scheduler that knows its length.
type counting struct{ *plain }

func (c counting) Len(context.Context) (int, error) { return len(c.queue), nil }

// adaptedStore keeps a crawl in a plain scheduler.
type adaptedStore struct{}

func (adaptedStore) Open(t testing.TB, r schedulertest.Run) (scheduler.Frontier, scheduler.Resume, error) {
	t.Helper()
	return openAdapted(t, r, counting{newPlain(r.Env)}, jobs.Volatile(nil))
}

func openAdapted(t testing.TB, r schedulertest.Run, s scheduler.Scheduler, job *jobs.Job) (scheduler.Frontier, scheduler.Resume, error) {
	t.Helper()
	open, err := scheduler.Adapt(r.Env, s)
	if err != nil {
		t.Fatal(err)
	}
	return open(t.Context(), scheduler.Deps{
		Env: r.Env, Slots: schedulertest.NewSlots(r.Limit, r.Delay), SlotOf: r.SlotOf, Job: job,
	})
}

// TestAdaptContract covers SCH-14 too, with a scheduler of three methods.
func TestAdaptContract(t *testing.T) {
	t.Parallel()
	schedulertest.Contract(t, func(testing.TB) schedulertest.Store { return adaptedStore{} })
}

// adaptedBy opens a frontier around a scheduler, with slots for one request each.
func adaptedBy(t *testing.T, s scheduler.Scheduler, assign ...string) scheduler.Frontier {
	t.Helper()
	slotOf := func(_ context.Context, r *crawl.Request) string { return r.Options.Slot }
	r := schedulertest.Run{Env: newEnv(t, assign...), Limit: 1, SlotOf: slotOf}
	f, _, err := openAdapted(t, r, s, jobs.Volatile(nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close(context.Background(), "cleanup") })
	return f
}

// peeking is a plain scheduler that shows its head.
type peeking struct{ *plain }

func (p peeking) Peek(context.Context) (*crawl.Request, error) {
	if len(p.queue) == 0 {
		return nil, nil
	}
	return p.queue[0], nil
}

// Requests for a slot that is busy are parked, as many as may be. Beyond that a
// scheduler that shows its head is asked for what can start, and for nothing else.
func TestParking(t *testing.T) {
	t.Parallel()
	for _, peeks := range []bool{false, true} {
		p := &plain{seen: map[string]bool{}}
		for _, slot := range []string{"busy", "busy", "busy", "busy", "idle", "busy", "other"} {
			p.queue = append(p.queue, &crawl.Request{URL: "http://x/", Options: crawl.Options{Slot: slot}})
		}
		var s scheduler.Scheduler = p
		if peeks {
			s = peeking{p}
		}
		f := adaptedBy(t, s, "CONCURRENT_REQUESTS=3")
		var slots []string
		g, err := f.Step(t.Context(), nil, nil, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range g.Leases {
			slots = append(slots, l.Slot)
		}
		want, left := []string{"busy"}, 3
		if peeks {
			want, left = []string{"busy", "idle"}, 2
		}
		if !slices.Equal(slots, want) || len(p.queue) != left || g.Backlog != 4 {
			t.Errorf("peeking %v: granted %v, %d left, backlog %d, want %v, %d and 4", peeks, slots, len(p.queue), g.Backlog, want, left)
		}
	}
}

// A request that came back is neither filtered nor changed by what a callback did
// to it.
func TestReleaseIsNotFiltered(t *testing.T) {
	t.Parallel()
	p := &plain{seen: map[string]bool{}, stats: crawl.NewStats()}
	f := adaptedBy(t, p)
	r := &crawl.Request{URL: "http://x/1", Meta: map[string]any{"n": 1}}
	if ok, err := p.Enqueue(t.Context(), r); !ok || err != nil {
		t.Fatal(ok, err)
	}
	for range 3 {
		g, err := f.Step(t.Context(), nil, nil, 1)
		if err != nil || len(g.Leases) != 1 || g.Leases[0].Request.Meta["n"] != 1 {
			t.Fatalf("got %+v, %v, want the request", g.Leases, err)
		}
		g.Leases[0].Request.Meta["n"] = 2
		release := scheduler.Outcome{Key: scheduler.Key{Lease: g.Leases[0].ID}, Kind: scheduler.Release}
		if g, err = f.Step(t.Context(), nil, []scheduler.Outcome{release}, 0); err != nil || g.State != scheduler.Running || g.Backlog != 1 {
			t.Errorf("after the release: %+v, %v, want it pending", g, err)
		}
	}
}

// failing is a scheduler one of whose methods fails.
type failing struct {
	counting
	in string
}

var errFailing = errors.New("the database is gone")

func (f failing) fail(in string) error {
	if f.in == in {
		return errFailing
	}
	return nil
}

func (f failing) Open(context.Context) error          { return f.fail("Open") }
func (f failing) Close(context.Context, string) error { return f.fail("Close") }
func (f failing) Len(context.Context) (int, error)    { return 0, f.fail("Len") }

func (f failing) Enqueue(context.Context, *crawl.Request) (bool, error) {
	return true, f.fail("Enqueue")
}
func (f failing) HasPending(context.Context) (bool, error)     { return true, f.fail("HasPending") }
func (f failing) Next(context.Context) (*crawl.Request, error) { return nil, f.fail("Next") }

// An error of any method of a scheduler is one of the crawl.
func TestSchedulerErrors(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"Open", "Len", "Enqueue", "Next", "HasPending", "Close"} {
		env := newEnv(t)
		open, err := scheduler.Adapt(env, failing{counting{newPlain(env)}, in})
		if err != nil {
			t.Fatal(err)
		}
		f, _, err := open(t.Context(), scheduler.Deps{Env: env, Slots: schedulertest.NewSlots(1, 0), Job: jobs.Volatile(nil)})
		if err == nil {
			_, err = f.Step(t.Context(), nil, []scheduler.Outcome{startOutcome(1, "s", &crawl.Request{URL: "http://s/1"})}, 1)
			err = errors.Join(err, f.Close(t.Context(), "finished"))
		}
		if !errors.Is(err, errFailing) {
			t.Errorf("%s: error %v, want %v", in, err, errFailing)
		}
	}
}
