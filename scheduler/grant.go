package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skeincrawl/skein/jobs"
)

// grant leases the next request, if one may start.
func (f *Local) grant(now time.Time) (Lease, bool, error) {
	for i := range f.layers {
		for b := f.next(i, now); b != nil; b = f.next(i, now) {
			l, err := f.take(b, i, now)
			if damage := new(unreadableError); errors.As(err, &damage) {
				if err = f.skip(damage, now); err == nil {
					continue
				}
			}
			return l, err == nil, err
		}
	}
	return Lease{}, false, nil
}

// unreadableError is a queued request whose record in the job is damaged.
type unreadableError struct {
	ref Ref
	err error
}

func (e *unreadableError) Error() string { return e.err.Error() }

// skip drops a request that can not be read any more. The crawl goes on without
// it.
func (f *Local) skip(u *unreadableError, now time.Time) error {
	f.report.stats.Inc("scheduler/unreadable")
	f.report.log.Error().Err(u.err).Msgf("A queued request of slot %s can not be read and is dropped", u.ref.Slot)
	tx := f.job.Begin()
	tx.Ack(jobs.Addr(u.ref.ID))
	f.refreshName(u.ref.Slot, now)
	return tx.Commit()
}

// next returns the requests of the slot whose turn it is in a layer, nil if there
// is none.
func (f *Local) next(layer int, now time.Time) *backlog {
	r := &f.layers[layer].ready
	for {
		b := r.turn(f.last)
		if b == nil || !b.stale {
			return b
		}
		r.remove(b)
		if ok, _ := f.slots.Ready(b.slot.name, now); ok && b.queue.n > 0 {
			r.insert(b, f.key(b))
		}
	}
}

// take leases the best request of a slot in a layer.
func (f *Local) take(b *backlog, layer int, now time.Time) (Lease, error) {
	s := b.slot
	ref, err := b.queue.pop()
	if err != nil {
		return Lease{}, fmt.Errorf("slot %s: %w", s.name, err)
	}
	ref.Slot = s.name
	f.layers[layer].n--
	f.last = s
	f.nextLease++
	out := Lease{ID: f.nextLease, Slot: s.name}
	l := &lease{ref: ref, layer: layer, slot: s}
	if layer == disk {
		out.Body, err = f.job.Read(jobs.Addr(ref.ID), nil)
		if damage := new(jobs.DamageError); errors.As(err, &damage) {
			return out, &unreadableError{ref, damage}
		}
		if err != nil {
			return out, fmt.Errorf("read a request of slot %s: %w", s.name, err)
		}
	} else {
		st := f.store.get(ref.ID)
		out.Body = st.body
		if out.Body == nil {
			out.Request = st.live.request
		}
	}
	if layer == disk && b.queue.n > 0 {
		f.job.Prefetch(jobs.Addr(b.queue.head().ID))
	}
	f.leases[out.ID] = l
	s.leased++
	out.Paced = f.slots.Take(s.name, now)
	out.Careful = f.careful(l)
	f.report.dequeue(layer)
	f.refresh(s, now)
	return out, nil
}

// Acquire implements [Frontier].
func (f *Local) Acquire(ctx context.Context, id LeaseID, slotName string) (func(SlotHint), error) {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil, errClosed("acquire")
	}
	l := f.leases[id]
	w := &waiter{granted: make(chan struct{}), settled: l == nil || l.settled}
	w.own = !w.settled && l.ref.Slot == slotName
	s := f.slot(slotName)
	s.wait(w)
	f.refresh(s, time.Now())
	f.mu.Unlock()
	f.poke() // the engine must learn when to step next
	return w.wait(ctx, slotName, f)
}

// free implements host.
func (f *Local) free(name string, hint SlotHint) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.slots.Free(name, now, hint)
	f.refreshName(name, now)
	f.poke()
}

// leave implements host.
func (f *Local) leave(w *waiter, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	s := f.slot(name)
	s.waiters.remove(w, f.slots, name, now)
	f.refresh(s, now)
	f.poke()
}
