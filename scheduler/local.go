package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/skeincrawl/skein/jobs"
)

// Local is the default frontier: all of it in this process, in memory or in the
// journal of a job directory.
type Local struct {
	report  *reporter
	pick    PriorityQueue
	slots   Slots
	job     *jobs.Job
	durable bool // there is a job directory
	filter  seenFilter
	ready   chan struct{}

	mu        sync.Mutex
	layers    [layers]layer
	store     memStore
	bySlot    map[string]*slot
	last      *slot // picked last; it may be gone since
	recent    *slot // asked for last; nil if it is gone
	timers    timeHeap[*slot]
	delayed   timeHeap[delayed]
	leases    map[LeaseID]*lease
	nextLease LeaseID
	ordinal   uint64 // of the last start entry
	enqueued  uint64 // ordinal of the last request from outside
	startDone bool
	names     map[string]bool // of callbacks, known to the job
	granted   Grant           // the last one
	paused    bool
	closed    bool
	suspects  []Ref  // requests that may have killed the process, to be tried alone
	alone     uint64 // the suspect that is queued or leased, 0 for none
	kept      kept   // for snapshots
	stopFor   string // why the job ends the crawl, "" if it does not
	startCut  bool   // an entry of Start did not fit on the disk
	boundary  uint64 // requests with lower addresses may have been with a process that died
}

var (
	_ Frontier   = (*Local)(nil)
	_ Controller = (*Local)(nil)
	_ Haser      = (*Local)(nil)
)

// delayed is a request that waits for its time.
type delayed struct {
	ref   Ref
	layer int
}

// lease is a request handed out.
type lease struct {
	ref     Ref
	layer   int
	slot    *slot
	sent    bool
	settled bool
	entered bool   // spider code handles it
	parts   []part // of a step too large for one record
	ordinal uint64 // of the last part
	cut     bool   // a part did not fit on the disk
}

// Ready implements [Frontier].
func (f *Local) Ready() <-chan struct{} { return f.ready }

// Has implements [Haser].
func (f *Local) Has(fp Fingerprint) bool { return f.filter.has(fp) }

// Pause implements [Controller].
func (f *Local) Pause() { f.setPaused(true) }

// Resume implements [Controller].
func (f *Local) Resume() { f.setPaused(false) }

func (f *Local) setPaused(p bool) {
	f.mu.Lock()
	f.paused = p
	f.mu.Unlock()
	f.poke()
}

func (f *Local) poke() {
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// Step implements [Frontier].
func (f *Local) Step(_ context.Context, progress []Progress, done []Outcome, want int) (Grant, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return Grant{}, errClosed("step")
	}
	if f.durable && f.job.SnapshotDue() {
		f.job.Snapshot(f.snapshot)
	}
	f.lookForRoom()
	g := f.emptyGrant()
	defer func() { f.granted = g }()
	now := time.Now()
	if err := f.advance(progress, now); err != nil {
		return g, err
	}
	for i := range done {
		if err := f.commit(&g, &done[i], now); err != nil {
			return g, err
		}
	}
	if err := f.job.Barrier(); err != nil {
		return g, fmt.Errorf("write the step: %w", err)
	}
	if err := f.wake(now); err != nil {
		return g, err
	}
	if err := f.grantAll(&g, want, now); err != nil {
		return g, err
	}
	f.describe(&g, now)
	return g, nil
}

// emptyGrant returns a grant with the slices of the last one, which are the
// frontier's again.
func (f *Local) emptyGrant() Grant {
	clear(f.granted.Leases)
	clear(f.granted.Refused)
	return Grant{Leases: f.granted.Leases[:0], Refused: f.granted.Refused[:0]}
}

// describe fills in the state of the whole.
func (f *Local) describe(g *Grant, now time.Time) {
	g.Backlog = f.pending()
	switch {
	case f.stopFor != "":
		g.State, g.Reason = Stopping, f.stopFor
	case f.paused:
		g.State = Paused
	case g.Backlog == 0 && len(f.leases) == 0:
		g.State = Empty
	}
	if at, ok := f.delayed.next(); ok {
		g.Next = max(at.Sub(now), 1)
	}
	if at, ok := f.nextAlarm(); ok && (g.Next == 0 || at.Sub(now) < g.Next) {
		g.Next = max(at.Sub(now), 1)
	}
}

func (f *Local) pending() int64 {
	return int64(f.layers[memory].n + f.layers[disk].n + len(f.delayed) + len(f.suspects))
}

// wake moves what has become due: delayed requests into their queues, slots
// whose delay is over among the ready ones.
func (f *Local) wake(now time.Time) error {
	for {
		d, ok := f.delayed.popDue(now)
		if !ok {
			break
		}
		if err := f.queue(d.ref, d.layer, now); err != nil {
			return err
		}
	}
	for {
		at, ok := f.nextAlarm()
		if !ok || at.After(now) {
			return nil
		}
		s := f.timers.pop()
		s.timer = 0
		f.refresh(s, now)
	}
}

// nextAlarm returns the time of the earliest alarm that still counts. It drops
// those before it that were given for another time since, or with their slot.
func (f *Local) nextAlarm() (time.Time, bool) {
	for {
		at, ok := f.timers.next()
		if !ok || f.timers[0].v.timer == at.UnixNano() {
			return at, ok
		}
		f.timers.pop()
	}
}

// slot returns the frontier's record of a slot.
func (f *Local) slot(name string) *slot {
	s := f.find(name)
	if s == nil {
		s = &slot{name: name}
		f.bySlot[name] = s
	}
	f.recent = s
	return s
}

// find returns the record of a slot if there is one. Most often it is the same as
// the last time: that of the page whose links are queued.
func (f *Local) find(name string) *slot {
	if s := f.recent; s != nil && s.name == name {
		return s
	}
	return f.bySlot[name]
}

// queue puts a request into its queue.
func (f *Local) queue(ref Ref, layer int, now time.Time) error {
	s := f.slot(ref.Slot)
	if err := f.enter(s, ref, layer); err != nil {
		return err
	}
	f.refresh(s, now)
	return nil
}

// enter puts a request into its queue without asking whether it may start.
func (f *Local) enter(s *slot, ref Ref, layer int) error {
	ref.Start = ref.Start && f.layers[layer].starts
	if err := s.lot(layer).queue.push(ref, f.layers[layer].newQueue); err != nil {
		return fmt.Errorf("slot %s: %w", s.name, err)
	}
	f.layers[layer].n++
	return nil
}

// refresh asks the downloader's slots whether a slot may start something, serves
// those who wait for it, and places it among the ready ones or in the timer
// heap.
func (f *Local) refresh(s *slot, now time.Time) {
	at := s.serve(f.slots, now)
	ok, queueAt := f.slots.Ready(s.name, now)
	for i, b := range s.lots {
		switch r := &f.layers[i].ready; {
		case b == nil:
		case b.queue.n == 0 && s.leased > 0:
			b.stale = true // links of the page are most often of the same slot
		case b.queue.n == 0:
			r.remove(b)
			s.lots[i] = nil
		case ok:
			r.put(b, f.key(b))
			at = earlier(at, queueAt)
		default:
			b.stale = true
			at = earlier(at, queueAt)
		}
	}
	if s.idle() {
		delete(f.bySlot, s.name)
		if f.recent == s {
			f.recent = nil
		}
	}
	f.alarm(s, at)
}

// leaveSlot lets go of the slot of a lease, which may be gone then.
func (f *Local) leaveSlot(s *slot, now time.Time) {
	if s.leased--; s.leased == 0 && s.queued() == 0 {
		f.refresh(s, now)
	}
}

// alarm asks for the slot to be looked at again at a time, and not at the one
// asked for before. Zero is no time.
func (f *Local) alarm(s *slot, at time.Time) {
	timer := int64(0)
	if !at.IsZero() {
		timer = at.UnixNano()
	}
	if timer != 0 && timer != s.timer {
		f.timers.push(at, s)
	}
	s.timer = timer
}

// earlier returns the earlier of two times; zero is no time.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// active describes the disk queues as active.json shows them.
func (f *Local) active() []byte {
	m := map[string][]string{}
	for name, s := range f.bySlot {
		if b := s.lots[disk]; b != nil && b.queue.n > 0 {
			m[name] = b.queue.keys()
		}
	}
	for _, r := range f.suspects {
		m[r.Slot] = append(m[r.Slot], strconv.Itoa(r.Priority))
	}
	b, _ := json.Marshal(m) // strings: can not fail
	return b
}

// Close implements [Frontier].
func (f *Local) Close(_ context.Context, reason string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	now := time.Now()
	ids := make([]LeaseID, 0, len(f.leases))
	for id := range f.leases {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var err error
	for _, id := range ids {
		err = errors.Join(err, f.giveBack(id, now))
	}
	f.warnLost()
	end := jobs.End{Reason: reason, Finished: reason == "finished" && f.startDone && f.pending() == 0 && err == nil}
	if f.durable {
		err = errors.Join(err, f.endRun(reason))
		end.Active, end.Fill = f.active(), f.snapshot
	}
	f.tellFailed()
	return errors.Join(err, f.job.Close(end))
}

// warnLost tells of requests that a stopped job loses because they could not be
// stored.
func (f *Local) warnLost() {
	lost := f.layers[memory].n
	for _, d := range f.delayed {
		if d.v.layer == memory {
			lost++
		}
	}
	if !f.durable || lost == 0 {
		return
	}
	f.report.lost(lost)
}
