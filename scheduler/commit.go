package scheduler

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/skeincrawl/skein/jobs"
)

// Flags of a stored request.
const (
	flagStart      = 1 << iota // waits in the queue of start requests
	flagEmitted                // emitted by Start itself
	flagDontFilter             // does not mark its fingerprint
	flagFailed                 // was given up: it is kept, and not queued
)

// Keys of the job's meta records.
const (
	metaState      = "state"
	metaCookies    = "cookies"
	metaStartItem  = "start.item"
	metaStartEnd   = "start.ended"
	metaCallback   = "callback"      // a name that requests have
	metaUnstored   = "unstored"      // a request that can not be stored was taken
	metaHandled    = "unstored.done" // and one was handled
	metaStartAgain = "start.again"   // Start is to run again, as if it never had
	metaRun        = "run"           // a run begins
	metaRunEnded   = "run.end"       // and ends in good order
)

// advance takes the progress of leases.
func (f *Local) advance(progress []Progress, now time.Time) error {
	var tx *jobs.Tx
	careful := false
	for i := range progress {
		p := &progress[i]
		l := f.leases[p.Lease]
		if l == nil {
			continue
		}
		f.move(l, p, now)
		if l.layer != disk || !p.Entered && (!p.Left || !l.entered) {
			continue
		}
		if tx == nil {
			tx = f.job.Begin()
		}
		if l.entered = p.Entered; l.entered {
			tx.Attempt(jobs.Addr(l.ref.ID))
			careful = careful || f.careful(l)
		} else {
			tx.Release(l.owner())
		}
	}
	if tx == nil {
		return nil
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("write attempts: %w", err)
	}
	if careful {
		return f.job.Flush()
	}
	return nil
}

// move tells the slots how far a download is.
func (f *Local) move(l *lease, p *Progress, now time.Time) {
	if l.settled {
		return
	}
	if !p.Sent.IsZero() {
		l.sent = true
		f.slots.Sent(l.ref.Slot, p.Sent)
	}
	if p.Settled {
		f.settle(l, now, p.Hint)
	} else {
		f.refresh(l.slot, now)
	}
}

func number(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

// careful reports whether a lease may be of the page that killed an earlier
// run: its attempt must be in the file before spider code sees it.
func (f *Local) careful(l *lease) bool { return l.layer == disk && l.ref.ID < f.boundary }

func (f *Local) settle(l *lease, now time.Time, hint SlotHint) {
	if l.settled {
		return
	}
	l.settled = true
	hint.Sent = l.sent
	f.slots.Free(l.ref.Slot, now, hint)
	f.refresh(l.slot, now)
}

// refreshName refreshes a slot if anything waits in it.
func (f *Local) refreshName(name string, now time.Time) {
	if s := f.find(name); s != nil {
		f.refresh(s, now)
	}
}

// commit makes one outcome real.
func (f *Local) commit(g *Grant, o *Outcome, now time.Time) error {
	refused, err := f.refuses(o, now)
	if refused || err != nil {
		return err
	}
	switch o.Kind {
	case StartEntry:
		err = f.commitOutside(g, o, &f.ordinal, flagEmitted, now)
	case Enqueue:
		err = f.commitOutside(g, o, &f.enqueued, 0, now)
	case StartEnded:
		err = f.commitStartEnd()
	case Notes:
		err = f.finishTx(f.job.Begin(), o)
	case Part:
		err = f.commitPart(g, o)
	case Release:
		err = f.release(o.Key.Lease, now)
	default:
		err = f.commitDone(g, o, now)
	}
	if err != nil {
		return fmt.Errorf("commit a step: %w", err)
	}
	return nil
}

// commitOutside commits what comes from no lease. last is the ordinal of the last
// one of its kind.
func (f *Local) commitOutside(g *Grant, o *Outcome, last *uint64, flags uint8, now time.Time) error {
	if o.Key.Ordinal <= *last {
		return nil
	}
	*last = o.Key.Ordinal
	tx := f.job.Begin()
	if f.durable {
		for _, h := range o.Items {
			tx.Set(metaStartItem, number(h))
			f.kept.emitted.add(h)
		}
	}
	for i := range o.Push {
		if err := f.push(g, tx, &o.Push[i], flags, now); err != nil {
			return err
		}
	}
	return f.finishTx(tx, o)
}

func (f *Local) commitStartEnd() error {
	if f.startDone {
		return nil
	}
	f.startDone = true
	if !f.durable {
		return nil
	}
	f.kept.emitted.settle(false, true)
	tx := f.job.Begin()
	tx.Set(metaStartEnd, nil)
	return tx.Commit()
}

// finishTx adds what an outcome has beside its requests, and commits.
func (f *Local) finishTx(tx *jobs.Tx, o *Outcome) error {
	for _, b := range o.Feeds {
		tx.Feed(b.Feed, b.Bytes)
	}
	if f.durable {
		f.kept.write(tx, o, time.Now())
	}
	return tx.Commit()
}

// commitDone ends a lease: its request is gone, what it brought is there.
func (f *Local) commitDone(g *Grant, o *Outcome, now time.Time) error {
	l := f.leases[o.Key.Lease]
	if l == nil {
		return nil
	}
	delete(f.leases, o.Key.Lease)
	f.settle(l, now, SlotHint{})
	f.recent = l.slot
	tx := f.job.Begin()
	if err := f.adopt(g, tx, l, now); err != nil {
		return err
	}
	if o.Answered {
		f.kept.vain = nil
		f.kept.emitted.settle(true, f.startDone)
	}
	if err := f.keepFailed(tx, l, o); err != nil {
		return err
	}
	f.drop(tx, l)
	for i := range o.Push {
		if err := f.push(g, tx, &o.Push[i], 0, now); err != nil {
			return err
		}
	}
	f.leaveSlot(l.slot, now)
	return f.finishTx(tx, o)
}

// drop removes a handled request from where it was stored. One that could not
// be stored is known to the job from now on.
func (f *Local) drop(tx *jobs.Tx, l *lease) {
	if l.layer == disk {
		tx.Ack(jobs.Addr(l.ref.ID))
		delete(f.kept.suspects, jobs.Addr(l.ref.ID))
		if l.ref.ID == f.alone {
			f.alone = 0
		}
		return
	}
	if s := f.store.get(l.ref.ID).live; f.durable && s != nil {
		tx.Set(metaHandled, nil)
		f.kept.unstored--
		if s.marked {
			tx.Seen(s.fp)
			f.filter.note(s.fp)
		}
	}
	f.store.remove(l.ref.ID)
}

// release gives a request back in the middle of a run: the journal must know
// that its attempt killed nothing, and that its parts are void.
func (f *Local) release(id LeaseID, now time.Time) error {
	l := f.leases[id]
	if l == nil {
		return nil
	}
	if l.entered || l.onDisk() {
		tx := f.job.Begin()
		tx.Release(l.owner())
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return f.giveBack(id, now)
}

// giveBack returns a leased request to its old place.
func (f *Local) giveBack(id LeaseID, now time.Time) error {
	l := f.leases[id]
	delete(f.leases, id)
	f.forget(l)
	if l.ref.ID == f.alone && l.layer == disk {
		f.suspects, f.alone = append(f.suspects, l.ref), 0
	} else if err := f.enter(l.slot, l.ref, l.layer); err != nil {
		return err
	}
	f.settle(l, now, SlotHint{Unused: !l.sent})
	l.slot.leased--
	f.refresh(l.slot, now)
	return nil
}

// push filters a new request and queues it. What Start emits is marked as seen
// even where it is not filtered: a link back to a start URL is a duplicate.
func (f *Local) push(g *Grant, tx *jobs.Tx, e *Entry, flags uint8, now time.Time) error {
	r := e.Request
	if !r.DontFilter && (e.Known || !f.filter.mark(e.Fingerprint, e.Body != nil)) {
		f.refuse(g, e)
		return nil
	}
	if r.DontFilter && flags&flagEmitted != 0 {
		f.filter.mark(e.Fingerprint, false)
		if e.Body != nil { // also if a request that the job does not know has marked it
			f.filter.note(e.Fingerprint)
		}
	}
	ref, layer := f.write(tx, e, flags)
	f.report.enqueue(layer)
	return f.place(ref, layer, r.NotBefore, now)
}

// refuse reports a duplicate.
func (f *Local) refuse(g *Grant, e *Entry) {
	f.report.duplicate(e.Request)
	g.Refused = append(g.Refused, *e)
}

// write stores a request in the layer where it belongs.
func (f *Local) write(tx *jobs.Tx, e *Entry, flags uint8) (Ref, int) {
	r := e.Request
	ref := Ref{Slot: e.Slot, Priority: r.Priority, Start: r.Trail.Start}
	if !f.durable || e.Body == nil {
		ref.ID = f.store.add(f.stored(e, flags))
		f.noteUnstored(tx)
		return ref, memory
	}
	f.noteNames(tx, e)
	ref.ID = uint64(tx.Push(record(e, flags)))
	if flags&flagEmitted != 0 {
		f.kept.emitted.add(HashOf(e.Fingerprint))
	}
	return ref, disk
}

// stored is what the memory layer keeps of a request.
func (f *Local) stored(e *Entry, flags uint8) stored {
	if e.Body != nil {
		return stored{body: e.Body}
	}
	if f.durable {
		f.report.unstorable(e.Request, e.Why)
	}
	return stored{live: &live{request: e.Request, fp: e.Fingerprint, marked: marks(e, flags)}}
}

// noteUnstored lets the next run tell how many requests died with this one.
func (f *Local) noteUnstored(tx *jobs.Tx) {
	if f.durable {
		tx.Set(metaUnstored, nil)
		f.kept.unstored++
	}
}

// noteNames tells the job of callbacks that its requests had not used before.
func (f *Local) noteNames(tx *jobs.Tx, e *Entry) {
	for _, name := range [2]string{e.Callback, e.Errback} {
		if name != "" && !f.names[name] {
			f.names[name] = true
			tx.Set(metaCallback, []byte(name))
		}
	}
}

// marks reports whether an accepted entry counts as seen.
func marks(e *Entry, flags uint8) bool { return !e.Request.DontFilter || flags&flagEmitted != 0 }

func record(e *Entry, flags uint8) jobs.Record {
	r := e.Request
	rec := jobs.Record{Slot: e.Slot, Priority: int64(r.Priority), Fingerprint: e.Fingerprint, Flags: flags, Body: e.Body}
	if r.Trail.Start {
		rec.Flags |= flagStart
	}
	if !marks(e, flags) {
		rec.Flags |= flagDontFilter
	}
	if !r.NotBefore.IsZero() {
		rec.NotBefore = r.NotBefore.UnixMilli()
	}
	return rec
}

// place queues a stored request, or lets it wait for its time.
func (f *Local) place(ref Ref, layer int, notBefore, now time.Time) error {
	if notBefore.After(now) {
		f.delayed.push(notBefore, delayed{ref, layer})
		return nil
	}
	return f.queue(ref, layer, now)
}

// endRun notes that the run ended in good order: attempts without an end killed
// nothing.
func (f *Local) endRun(reason string) error {
	tx := f.job.Begin()
	if reason == NoResponse {
		f.startAgain(tx)
	}
	tx.Set(metaRunEnded, nil)
	return tx.Commit()
}
