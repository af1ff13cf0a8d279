package scheduler

import (
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
)

// part is a provisional push.
type part struct {
	ref        Ref
	layer      int
	fp         Fingerprint
	dontFilter bool
	notBefore  time.Time
	request    *crawl.Request // in memory only
}

// commitPart stores the beginning of a large step. Its requests are neither seen
// nor queued before the step's Done.
func (f *Local) commitPart(g *Grant, o *Outcome) error {
	l := f.leases[o.Key.Lease]
	if l == nil || o.Key.Ordinal <= l.ordinal {
		return nil
	}
	l.ordinal = o.Key.Ordinal
	tx := f.job.Begin()
	for i := range o.Push {
		if e := &o.Push[i]; e.Known && !e.Request.DontFilter {
			f.refuse(g, e)
		} else {
			f.writePart(tx, l, e)
		}
	}
	return tx.Commit()
}

// owner is what the journal knows a lease's parts by. The IDs of the memory
// layer are no addresses, and none of them outlives the run.
func (l *lease) owner() jobs.Addr { return jobs.Addr(l.ref.ID) }

func (f *Local) writePart(tx *jobs.Tx, l *lease, e *Entry) {
	r := e.Request
	p := part{
		ref: Ref{Slot: e.Slot, Priority: r.Priority, Start: r.Trail.Start},
		fp:  e.Fingerprint, dontFilter: r.DontFilter, notBefore: r.NotBefore,
	}
	if f.durable && e.Body != nil {
		f.noteNames(tx, e)
		p.layer = disk
		p.ref.ID = uint64(tx.Provisional(l.owner(), record(e, 0)))
	} else {
		p.request = r
		p.ref.ID = f.store.add(f.stored(e, 0))
	}
	l.parts = append(l.parts, p)
}

// adopt makes the parts of a step real, in their order.
func (f *Local) adopt(g *Grant, tx *jobs.Tx, l *lease, now time.Time) error {
	if len(l.parts) == 0 {
		return nil
	}
	written := l.onDisk()
	for _, p := range l.parts {
		if !p.dontFilter && !f.filter.mark(p.fp, p.layer == disk) {
			f.refusePart(g, tx, p)
			continue
		}
		f.report.enqueue(p.layer)
		if p.layer == memory {
			f.noteUnstored(tx)
		}
		if err := f.place(p.ref, p.layer, p.notBefore, now); err != nil {
			return err
		}
	}
	if written {
		tx.Adopt(l.owner())
	}
	l.parts = nil
	return nil
}

// onDisk reports whether the journal has parts of the lease.
func (l *lease) onDisk() bool {
	for i := range l.parts {
		if l.parts[i].layer == disk {
			return true
		}
	}
	return false
}

// refusePart drops a part that turned out to be a duplicate. Only what memory
// holds can be shown to those who listen; the rest is counted. The journal notes
// the decision, for what it does not know may have been the reason: a request in
// memory.
func (f *Local) refusePart(g *Grant, tx *jobs.Tx, p part) {
	if p.layer == disk {
		f.report.countDuplicate()
		tx.Ack(jobs.Addr(p.ref.ID))
		return
	}
	f.store.remove(p.ref.ID)
	f.refuse(g, &Entry{Request: p.request, Fingerprint: p.fp, Slot: p.ref.Slot})
}

// forget drops the parts of a lease that is given back.
func (f *Local) forget(l *lease) {
	for _, p := range l.parts {
		if p.layer == memory {
			f.store.remove(p.ref.ID)
		}
	}
}
