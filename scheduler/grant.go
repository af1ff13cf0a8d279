package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/skeincrawl/skein/jobs"
)

// grant leases the next request, if one may start.
func (f *Local) grant(now time.Time) (Lease, bool, error) {
	for i := range f.layers {
		for s := f.next(i, now); s != nil; s = f.next(i, now) {
			l, err := f.take(s, i, now)
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

// next returns the slot whose turn it is in a layer, nil if there is none.
func (f *Local) next(layer int, now time.Time) *slot {
	r := &f.layers[layer].ready
	for {
		s := f.pick.pick(r, f.last)
		if s == nil || !r.node(s).stale {
			return s
		}
		r.remove(s)
		if ok, _ := f.slots.Ready(s.name, now); ok {
			r.insert(s, f.pick.key(s, layer, f.slots.Active(s.name)))
		}
	}
}

// take leases the best request of a slot in a layer.
func (f *Local) take(s *slot, layer int, now time.Time) (Lease, error) {
	ref, err := s.queues[layer].pop()
	if err != nil {
		return Lease{}, fmt.Errorf("slot %s: %w", s.name, err)
	}
	ref.Slot = s.name
	f.layers[layer].n--
	f.last = s
	f.nextLease++
	out := Lease{ID: f.nextLease, Slot: s.name}
	l := &lease{ref: ref, layer: layer}
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
			out.Request = st.request
		}
	}
	f.leases[out.ID] = l
	out.Paced = f.slots.Take(s.name, now)
	out.Careful = f.careful(l)
	f.report.dequeue(layer)
	f.refresh(s, now)
	return out, nil
}

// waiter is a caller of Acquire that waits for its slot.
type waiter struct {
	granted chan struct{}
	settled bool // takes a place
	own     bool // its lease holds a place of this very slot
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
	s.waiters = append(s.waiters, w)
	f.refresh(s, time.Now())
	f.mu.Unlock()
	f.poke() // the engine must learn when to step next
	select {
	case <-w.granted:
		return f.releaser(w, slotName), nil
	case <-ctx.Done():
		return nil, f.withdraw(ctx, w, slotName)
	}
}

// serve grants a slot to those who wait for it, in their order, and returns when
// the next of them can be served, zero if that can not be told. Who takes no
// place never waits behind one who does: that one may be waiting for it.
func (f *Local) serve(s *slot, now time.Time) (next time.Time) {
	s.waiters = slices.DeleteFunc(s.waiters, func(w *waiter) bool {
		check := f.slots.Ready
		if !w.settled {
			check = f.slots.DelayOnly
		}
		ok, at := check(s.name, now)
		if !ok {
			next = earlier(next, at)
			return false
		}
		if w.settled {
			f.slots.Take(s.name, now)
		}
		if !w.own {
			f.slots.Sent(s.name, now)
		}
		close(w.granted)
		return true
	})
	return next
}

func (f *Local) releaser(w *waiter, name string) func(SlotHint) {
	return func(hint SlotHint) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if !w.settled {
			return
		}
		now := time.Now()
		hint.Sent = true // when it was granted
		f.slots.Free(name, now, hint)
		f.refreshName(name, now)
		f.poke()
	}
}

// withdraw takes a waiter out of the line, or gives back what it was granted in
// the meantime.
func (f *Local) withdraw(ctx context.Context, w *waiter, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := fmt.Errorf("wait for slot %s: %w", name, context.Cause(ctx))
	select {
	case <-w.granted:
		if w.settled {
			f.slots.Free(name, time.Now(), SlotHint{Unused: true, Sent: true})
		}
	default:
		if s := f.bySlot[name]; s != nil {
			s.waiters = slices.DeleteFunc(s.waiters, func(o *waiter) bool { return o == w })
		}
	}
	f.refreshName(name, time.Now())
	f.poke()
	return err
}
