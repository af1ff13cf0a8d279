package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
)

// Adapt makes a frontier of a scheduler. Requests that Next returns for a slot
// that can not start them yet are parked in the frontier, at most
// CONCURRENT_REQUESTS of them; those with a NotBefore wait there as well, however
// many. With JOBDIR the scheduler has to be a [Durable].
//
// A request that is released goes back among the parked ones, into its old place,
// and not through Enqueue: a filter would take it for a duplicate.
func Adapt(env *crawl.Env, s Scheduler) (Open, error) {
	durable, ok := s.(Durable)
	switch {
	case s == nil:
		return nil, errors.New("its constructor returned no scheduler")
	case env.Settings.Int("CONCURRENT_REQUESTS_PER_IP") > 0:
		return nil, errors.New("it hands out requests whose addresses are not known yet, and so does not support CONCURRENT_REQUESTS_PER_IP: SCHEDULER=default does")
	case env.JobDir != "" && !ok:
		return nil, fmt.Errorf("it keeps nothing beyond the run (it is no scheduler.Durable), so that the job of JOBDIR=%s could not go on: leave JOBDIR out, or take SCHEDULER=default", env.JobDir)
	case env.JobDir == "":
		durable = nil
	}
	return func(ctx context.Context, d Deps) (Frontier, Resume, error) {
		f := &adapted{
			s: s, durable: durable, env: d.Env, slots: d.Slots, slotOf: d.SlotOf, job: d.Job,
			room: env.Settings.Int("CONCURRENT_REQUESTS"), ready: make(chan struct{}, 1), quit: make(chan struct{}),
			leases: map[LeaseID]*taken{}, lines: map[string]*line{},
		}
		var resume Resume
		err := crawl.Guard(func() (err error) { resume, err = f.open(ctx, d); return err })
		if err != nil {
			return nil, resume, errors.Join(err, d.Job.Close(jobs.End{}))
		}
		return f, resume, nil
	}, nil
}

// adapted is the frontier around a [Scheduler].
type adapted struct {
	s       Scheduler
	durable Durable // nil without a job directory
	env     *crawl.Env
	slots   Slots
	slotOf  func(context.Context, *crawl.Request) string
	job     *jobs.Job
	room    int // for parked requests
	ready   chan struct{}
	quit    chan struct{} // ends what runs beside
	beside  sync.WaitGroup

	mu        sync.Mutex
	parked    []*taken // in the order in which they were taken
	delayed   timeHeap[*taken]
	leases    map[LeaseID]*taken
	lines     map[string]*line // of those who wait in Acquire, by slot
	handled   []*crawl.Request // of which the scheduler was not told yet
	lastTaken uint64
	lastLease LeaseID
	ordinal   uint64 // of the last start entry
	enqueued  uint64 // of the last request from outside
	startDone bool
	closed    bool
	kept      remembered // if it is durable
}

// taken is a request that Next returned.
type taken struct {
	place   uint64
	request *crawl.Request
	slot    string

	// While it is leased.
	sent, settled bool
	parts         []Entry // of a step too large for one record
	ordinal       uint64  // of the last part
}

var _ Frontier = (*adapted)(nil)

// Ready implements [Frontier].
func (f *adapted) Ready() <-chan struct{} { return f.ready }

func (f *adapted) poke() {
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// forward passes on what the scheduler's channel tells.
func (f *adapted) forward(ready <-chan struct{}) {
	for {
		select {
		case <-ready:
			f.poke()
		case <-f.quit:
			return
		}
	}
}

// Step implements [Frontier].
func (f *adapted) Step(ctx context.Context, progress []Progress, done []Outcome, want int) (Grant, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var g Grant
	if f.closed {
		return g, errClosed("step")
	}
	now := time.Now()
	if f.job.SnapshotDue() {
		f.job.Snapshot(f.snapshot)
	}
	for i := range progress {
		f.advance(&progress[i], now)
	}
	for i := range done {
		if err := f.commit(ctx, &g, &done[i], now); err != nil {
			return g, fmt.Errorf("commit a step: %w", err)
		}
	}
	if err := f.job.Barrier(); err != nil {
		return g, fmt.Errorf("write the step: %w", err)
	}
	if err := f.tellHandled(ctx); err != nil {
		return g, err
	}
	if err := f.grant(ctx, &g, want, now); err != nil {
		return g, err
	}
	return g, f.describe(ctx, &g, now)
}

// describe fills in the state of the whole.
func (f *adapted) describe(ctx context.Context, g *Grant, now time.Time) error {
	pending, err := f.s.HasPending(ctx)
	if err != nil {
		return fmt.Errorf("ask the scheduler for pending requests: %w", err)
	}
	g.Backlog = f.held()
	if l, ok := f.s.(Lener); ok {
		n, err := l.Len(ctx)
		if err != nil {
			return fmt.Errorf("ask the scheduler for its length: %w", err)
		}
		g.Backlog += int64(n)
	} else if pending {
		g.Backlog++
	}
	if g.Reason = stopReason(f.job.Room()); g.Reason != "" {
		g.State = Stopping
	} else if !pending && f.held() == 0 && len(f.leases) == 0 {
		g.State = Empty
	}
	if at := f.nextTime(now); !at.IsZero() {
		g.Next = max(at.Sub(now), 1)
	}
	return nil
}

// held returns how many requests wait in the frontier itself.
func (f *adapted) held() int64 { return int64(len(f.parked) + len(f.delayed)) }

// nextTime returns when something that waits here may go, zero if that can not
// be told.
func (f *adapted) nextTime(now time.Time) time.Time {
	next, _ := f.delayed.next()
	for _, t := range f.parked {
		_, at := f.slots.Ready(t.slot, now)
		next = earlier(next, at)
	}
	for slot := range f.lines {
		next = earlier(next, f.serve(slot, now))
	}
	return next
}

// grant leases up to want requests.
func (f *adapted) grant(ctx context.Context, g *Grant, want int, now time.Time) error {
	for t, due := f.delayed.popDue(now); due; t, due = f.delayed.popDue(now) {
		f.park(t)
	}
	f.parked = slices.DeleteFunc(f.parked, func(t *taken) bool { return f.lease(g, t, want, now) })
	for len(g.Leases) < want {
		t, err := f.take(ctx, now)
		switch {
		case err != nil:
			return fmt.Errorf("ask the scheduler for a request: %w", err)
		case t == nil:
			return nil
		case t.request.NotBefore.After(now):
			f.delayed.push(t.request.NotBefore, t)
		case !f.lease(g, t, want, now):
			f.park(t)
		}
	}
	return nil
}

// take asks the scheduler for a request, if there is room for one that can not
// start.
func (f *adapted) take(ctx context.Context, now time.Time) (*taken, error) {
	if len(f.parked) >= f.room {
		if ok, err := f.headReady(ctx, now); !ok {
			return nil, err
		}
	}
	r, err := f.s.Next(ctx)
	if r == nil || err != nil {
		return nil, err
	}
	f.lastTaken++
	return &taken{place: f.lastTaken, request: r, slot: f.slotOf(ctx, r)}, nil
}

// headReady reports whether the next request is known to be able to start.
func (f *adapted) headReady(ctx context.Context, now time.Time) (bool, error) {
	p, ok := f.s.(HeadPeeker)
	if !ok {
		return false, nil
	}
	r, err := p.Peek(ctx)
	if r == nil || err != nil || r.NotBefore.After(now) {
		return false, err
	}
	ok, _ = f.slots.Ready(f.slotOf(ctx, r), now)
	return ok, nil
}

// park puts a request into its place among those that wait for their slot.
func (f *adapted) park(t *taken) {
	i, _ := slices.BinarySearchFunc(f.parked, t, cmpPlace)
	f.parked = slices.Insert(f.parked, i, t)
}

// lease hands a request out, if there is a place and its slot can start it.
func (f *adapted) lease(g *Grant, t *taken, want int, now time.Time) bool {
	if len(g.Leases) >= want {
		return false
	}
	if ok, _ := f.slots.Ready(t.slot, now); !ok {
		return false
	}
	f.lastLease++
	t.sent, t.settled, t.parts, t.ordinal = false, false, nil, 0
	f.leases[f.lastLease] = t
	// A callback may change what its maps hold, and the request may come back.
	g.Leases = append(g.Leases, Lease{ID: f.lastLease, Slot: t.slot, Request: t.request.Clone(), Paced: f.slots.Take(t.slot, now)})
	return true
}
