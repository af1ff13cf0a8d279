package scheduler

import (
	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
)

// Requeued is what [Editor.Requeue] did.
type Requeued struct {
	Queued     int // again
	Pending    int // were in the queue already, and are only not failed any more
	Unreadable int // and left as they are
}

// Requeue puts requests that were given up back into the queue as if they had
// never been tried: those of the selection or, if it is nil, all. The next run
// goes on with them, in the same round. One that is pending already is not queued
// a second time.
func (e *Editor) Requeue(which *Selection) (Requeued, error) {
	var done Requeued
	pending, err := e.pendingForms()
	if err != nil {
		return done, err
	}
	e.Failed, err = remove(e.Failed, func(q Queued) (bool, error) {
		r, body, err := e.readFailed(q)
		switch {
		case err != nil:
			return false, err
		case r == nil:
			done.Unreadable++
			return false, nil
		case which != nil && !which.Has(*r):
			return false, nil
		case pending[formOf(r)]:
			done.Pending++
			return true, e.change(func(tx *jobs.Tx) { tx.Ack(q.Addr) })
		}
		pending[formOf(r)] = true
		done.Queued++
		return true, e.requeue(q, r, body)
	})
	return done, err
}

// requeue is one step: the request is pending, and not failed any more.
func (e *Editor) requeue(q Queued, r *crawl.Stored, body []byte) error {
	fresh, err := crawl.RenewStored(body)
	if err != nil {
		return err
	}
	rec := jobs.Record{Slot: q.Slot, Priority: int64(q.Priority), Fingerprint: fingerprintOf(*r), Body: fresh}
	if r.Trail.Start {
		rec.Flags |= flagStart
	}
	if r.DontFilter || CheckFingerprints(e.Identity()) != nil {
		rec.Flags |= flagDontFilter
	}
	return e.change(func(tx *jobs.Tx) {
		tx.Ack(q.Addr)
		q.Addr = tx.Push(rec)
		tx.Reopen()
		e.Pending = append(e.Pending, Queued{Addr: q.Addr, Slot: q.Slot, Priority: q.Priority, Start: r.Trail.Start})
	})
}

// form tells requests apart that a job may hold both.
type form struct {
	fp                      Fingerprint
	callback, errback, args string
}

func formOf(r *crawl.Stored) form {
	return form{fingerprintOf(*r), r.Callback, r.Errback, string(r.Args)}
}

// pendingForms tells which of the requests that were given up are pending again.
func (e *Editor) pendingForms() (map[form]bool, error) {
	pending, slots := map[form]bool{}, map[string]bool{}
	for _, q := range e.Failed {
		r, _, err := e.readFailed(q)
		if err != nil {
			return nil, err
		}
		if r != nil {
			pending[formOf(r)], slots[q.Slot] = false, true
		}
	}
	for _, q := range e.Pending {
		if !slots[q.Slot] {
			continue
		}
		r, err := e.readQueued(q)
		if err != nil {
			return nil, err
		}
		if r != nil {
			if _, failed := pending[formOf(r)]; failed {
				pending[formOf(r)] = true
			}
		}
	}
	return pending, nil
}
