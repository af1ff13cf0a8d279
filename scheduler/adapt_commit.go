package scheduler

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

func cmpPlace(a, b *taken) int { return cmp.Compare(a.place, b.place) }

// advance tells the slots how far a download is.
func (f *adapted) advance(p *Progress, now time.Time) {
	t := f.leases[p.Lease]
	if t == nil || t.settled {
		return
	}
	if !p.Sent.IsZero() {
		t.sent = true
		f.slots.Sent(t.slot, p.Sent)
		f.serve(t.slot, now)
	}
	if p.Settled {
		f.settle(t, now, p.Hint)
	}
}

func (f *adapted) settle(t *taken, now time.Time, hint SlotHint) {
	if t.settled {
		return
	}
	t.settled = true
	hint.Sent = t.sent
	f.slots.Free(t.slot, now, hint)
	f.serve(t.slot, now)
}

// commit makes one outcome real.
func (f *adapted) commit(ctx context.Context, g *Grant, o *Outcome, now time.Time) error {
	switch o.Kind {
	case StartEntry:
		return f.commitOutside(ctx, g, o, &f.ordinal)
	case Enqueue:
		return f.commitOutside(ctx, g, o, &f.enqueued)
	case StartEnded:
		return f.commitStartEnd()
	case Notes:
		return f.write(o, nil)
	}
	t := f.leases[o.Key.Lease]
	switch {
	case t == nil:
		return nil
	case o.Kind == Part:
		if o.Key.Ordinal > t.ordinal {
			t.ordinal, t.parts = o.Key.Ordinal, append(t.parts, o.Push...)
		}
		return nil
	}
	delete(f.leases, o.Key.Lease)
	if o.Kind == Release {
		f.settle(t, now, SlotHint{Unused: !t.sent})
		f.park(t)
		return nil
	}
	f.settle(t, now, SlotHint{})
	return f.commitDone(ctx, g, t, o)
}

// commitDone ends a lease. What it brought is accepted before the scheduler hears
// that the request is handled.
func (f *adapted) commitDone(ctx context.Context, g *Grant, t *taken, o *Outcome) error {
	for _, push := range [2][]Entry{t.parts, o.Push} {
		for i := range push {
			if _, err := f.enqueue(ctx, g, &push[i]); err != nil {
				return err
			}
		}
	}
	if f.durable != nil {
		f.handled = append(f.handled, t.request)
	}
	return f.write(o, nil)
}

// commitOutside commits what comes from no lease. last is the ordinal of the last
// one of its kind.
func (f *adapted) commitOutside(ctx context.Context, g *Grant, o *Outcome, last *uint64) error {
	if o.Key.Ordinal <= *last {
		return nil
	}
	*last = o.Key.Ordinal
	emitted := slices.Clone(o.Items)
	for i := range o.Push {
		accepted, err := f.enqueue(ctx, g, &o.Push[i])
		if err != nil {
			return err
		}
		if accepted && o.Kind == StartEntry {
			emitted = append(emitted, HashOf(o.Push[i].Fingerprint))
		}
	}
	return f.write(o, emitted)
}

func (f *adapted) commitStartEnd() error {
	if f.startDone {
		return nil
	}
	f.startDone = true
	f.kept.emitted.forget()
	tx := f.job.Begin()
	tx.Set(metaStartEnd, nil)
	return tx.Commit()
}

// enqueue hands a new request to the scheduler, as a copy that nobody else has.
func (f *adapted) enqueue(ctx context.Context, g *Grant, e *Entry) (bool, error) {
	r, err := f.own(e)
	if err != nil {
		return false, err
	}
	accepted, err := f.s.Enqueue(ctx, r)
	if err != nil {
		return false, fmt.Errorf("hand %v to the scheduler: %w", r, err)
	}
	if !accepted {
		g.Refused = append(g.Refused, *e)
	}
	return accepted, nil
}

// own returns the request of an entry as it would come out of a store.
func (f *adapted) own(e *Entry) (*crawl.Request, error) {
	if e.Body == nil {
		return e.Request, nil
	}
	r, err := f.env.Callbacks.DecodeRequest(e.Body)
	if err != nil {
		return nil, fmt.Errorf("read %v: %w", e.Request, err)
	}
	return r, nil
}

// write commits what an outcome has beside its requests, and for one of Start
// the hashes of what that emitted.
func (f *adapted) write(o *Outcome, emitted []uint64) error {
	tx := f.job.Begin()
	for _, h := range emitted {
		tx.Set(metaStartItem, number(h))
	}
	for _, b := range o.Feeds {
		tx.Feed(b.Feed, b.Bytes)
	}
	if f.durable != nil {
		f.kept.emitted.add(emitted...)
		f.kept.write(tx, o, time.Now())
	}
	return tx.Commit()
}

// tellHandled tells a durable scheduler which requests are handled, once the file
// has what they brought.
func (f *adapted) tellHandled(ctx context.Context) error {
	if len(f.handled) == 0 {
		return nil
	}
	if err := f.job.Flush(); err != nil {
		return fmt.Errorf("write the step: %w", err)
	}
	for _, r := range f.handled {
		if err := f.durable.Done(ctx, r); err != nil {
			return fmt.Errorf("tell the scheduler that %v is done: %w", r, err)
		}
	}
	f.handled = nil
	return nil
}

// Acquire implements [Frontier].
func (f *adapted) Acquire(ctx context.Context, id LeaseID, slot string) (func(SlotHint), error) {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil, errClosed("acquire")
	}
	t := f.leases[id]
	w := &waiter{granted: make(chan struct{}), settled: t == nil || t.settled}
	w.own = !w.settled && t.slot == slot
	l := f.line(slot)
	*l = append(*l, w)
	f.serve(slot, time.Now())
	f.mu.Unlock()
	f.poke() // the engine must learn when to step next
	return w.wait(ctx, slot, f)
}

func (f *adapted) line(slot string) *line {
	l := f.lines[slot]
	if l == nil {
		l = new(line)
		f.lines[slot] = l
	}
	return l
}

// serve grants a slot to those who wait for it in Acquire, and returns when the
// next of them can be served, zero if that can not be told.
func (f *adapted) serve(slot string, now time.Time) (next time.Time) {
	l := f.lines[slot]
	if l == nil {
		return next
	}
	if next = l.serve(f.slots, slot, now); len(*l) == 0 {
		delete(f.lines, slot)
	}
	return next
}

// free implements host.
func (f *adapted) free(slot string, hint SlotHint) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.slots.Free(slot, now, hint)
	f.serve(slot, now)
	f.poke()
}

// leave implements host.
func (f *adapted) leave(w *waiter, slot string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.line(slot).remove(w, f.slots, slot, now)
	f.serve(slot, now)
	f.poke()
}
