package scheduler

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// waiter is a caller of Acquire that waits for its slot.
type waiter struct {
	granted chan struct{}
	settled bool // takes a place
	own     bool // its lease holds a place of this very slot
}

// host is the frontier that a waiter waits in.
type host interface {
	// free ends a use of a slot that took a place.
	free(slot string, hint SlotHint)

	// leave takes a waiter out of its line.
	leave(w *waiter, slot string)
}

// wait waits until the waiter, which is in its line, is granted the slot.
func (w *waiter) wait(ctx context.Context, slot string, h host) (func(SlotHint), error) {
	select {
	case <-w.granted:
		return func(hint SlotHint) {
			if w.settled {
				hint.Sent = true // when it was granted
				h.free(slot, hint)
			}
		}, nil
	case <-ctx.Done():
		h.leave(w, slot)
		return nil, fmt.Errorf("wait for slot %s: %w", slot, context.Cause(ctx))
	}
}

// line is who waits for one slot, in order.
type line []*waiter

// serve grants the slot to those who wait for it, and returns when the next of
// them can be served, zero if that can not be told. Who takes no place never
// waits behind one who does: that one may be waiting for it.
func (l *line) serve(slots Slots, name string, now time.Time) (next time.Time) {
	*l = slices.DeleteFunc(*l, func(w *waiter) bool {
		check := slots.Ready
		if !w.settled {
			check = slots.DelayOnly
		}
		ok, at := check(name, now)
		if !ok {
			next = earlier(next, at)
			return false
		}
		if w.settled {
			slots.Take(name, now)
		}
		if !w.own {
			slots.Sent(name, now)
		}
		close(w.granted)
		return true
	})
	return next
}

// remove takes a waiter out. If it was granted the slot in the meantime, that
// ends.
func (l *line) remove(w *waiter, slots Slots, name string, now time.Time) {
	select {
	case <-w.granted:
		if w.settled {
			slots.Free(name, now, SlotHint{Unused: true, Sent: true})
		}
	default:
		if i := slices.Index(*l, w); i >= 0 {
			*l = slices.Delete(*l, i, i+1)
		}
	}
}
