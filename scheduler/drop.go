package scheduler

import (
	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
)

// Dropped counts what was dropped.
type Dropped struct {
	Queued int // requests
	Failed int // requests that had been given up
	Seen   int // fingerprints of the duplicate filter
}

// Drop forgets requests: they are neither queued, nor failed, nor seen any more,
// so that they are crawled when they are found again. Of requests that are over
// the job knows the fingerprint alone: of a selection by URL it forgets that of
// GET without a body.
func (e *Editor) Drop(which *Selection) (Dropped, error) {
	var done Dropped
	pending, failed := len(e.Pending), len(e.Failed)
	var err error
	if e.Pending, err = remove(e.Pending, e.forgetter(which, &done, e.readQueued)); err != nil {
		return done, err
	}
	readFailed := func(q Queued) (*crawl.Stored, error) {
		r, _, err := e.readFailed(q)
		return r, err
	}
	if e.Failed, err = remove(e.Failed, e.forgetter(which, &done, readFailed)); err != nil {
		return done, err
	}
	done.Queued, done.Failed = pending-len(e.Pending), failed-len(e.Failed)
	for fp := range which.keys {
		if !e.Has(fp) {
			continue
		}
		if err := e.change(func(tx *jobs.Tx) { e.unsee(tx, fp, &done) }); err != nil {
			return done, err
		}
	}
	return done, nil
}

// forgetter returns what forgets a request if it is one of the selection.
func (e *Editor) forgetter(which *Selection, done *Dropped, read func(Queued) (*crawl.Stored, error)) func(Queued) (bool, error) {
	return func(q Queued) (bool, error) {
		r, err := read(q)
		if err != nil || r == nil || !which.Has(*r) {
			return false, err
		}
		return true, e.change(func(tx *jobs.Tx) {
			tx.Ack(q.Addr)
			e.unsee(tx, fingerprintOf(*r), done)
		})
	}
}

// unsee also lets Start emit the request again, if it is to be called again.
func (e *Editor) unsee(tx *jobs.Tx, fp Fingerprint, done *Dropped) {
	tx.Unseen(fp)
	if e.Has(fp) {
		e.seen.Remove(fp)
		done.Seen++
	}
}

// DropSlot takes all requests of a slot out of the queue, and returns how many.
// They stay seen.
func (e *Editor) DropSlot(name string) (int, error) {
	before := len(e.Pending)
	var err error
	e.Pending, err = remove(e.Pending, func(q Queued) (bool, error) {
		if q.Slot != name {
			return false, nil
		}
		return true, e.change(func(tx *jobs.Tx) { tx.Ack(q.Addr) })
	})
	return before - len(e.Pending), err
}

// DropFailed forgets all requests that were given up, and returns how many. They
// stay seen.
func (e *Editor) DropFailed() (int, error) {
	before := len(e.Failed)
	var err error
	e.Failed, err = remove(e.Failed, func(q Queued) (bool, error) {
		return true, e.change(func(tx *jobs.Tx) { tx.Ack(q.Addr) })
	})
	return before - len(e.Failed), err
}
