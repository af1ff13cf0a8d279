package scheduler

import (
	"time"

	"github.com/skeincrawl/skein/jobs"
)

// metaPending is the key of a record that only snapshots have: how many requests
// are in memory that can not be stored.
const metaPending = "unstored.now"

// kept is what the journal's snapshots need of the past, beside what the queues
// and the filter hold anyway. It is filled only if there is a job directory.
type kept struct {
	remembered
	unstored int // requests in memory that can not be stored
	suspects map[jobs.Addr]suspicion
	failed   int         // requests that were given up
	vain     []jobs.Addr // those of Start among them, given up in this run before anything answered
	began    time.Time
}

// snapshot hands the state of the frontier to the job: what recovery would read
// from all steps up to now. A run begins in it before the attempts of that run.
func (f *Local) snapshot(s *jobs.Snapshot) {
	for a, v := range f.kept.suspects {
		s.Tally(a, v.number())
	}
	s.Set(metaRun, runMark(f.kept.began))
	if !f.closed {
		f.snapshotRun(s)
	} else {
		s.Set(metaRunEnded, nil)
	}
	for name := range f.names {
		s.Set(metaCallback, []byte(name))
	}
	f.kept.snapshot(s)
	if f.startDone {
		s.Set(metaStartEnd, nil)
	}
	s.Seen(f.filter.fresh)
	f.filter.fresh = nil
}

// snapshotRun keeps what ends with the run.
func (f *Local) snapshotRun(s *jobs.Snapshot) {
	if f.kept.unstored > 0 {
		s.Set(metaPending, number(uint64(f.kept.unstored)))
	}
	for _, l := range f.leases {
		if l.entered && l.layer == disk {
			s.Attempt(jobs.Addr(l.ref.ID))
		}
	}
}

// runMark is the value of the record with which a run begins.
func runMark(at time.Time) []byte { return []byte(at.UTC().Format(time.RFC3339)) }

// startAgain makes the next run call Start as if it never had: what it emitted is
// taken out of the duplicate filter, and not kept if it was given up, since it
// comes again.
func (f *Local) startAgain(tx *jobs.Tx) {
	for _, a := range f.kept.vain {
		tx.Ack(a)
		f.kept.failed--
	}
	for _, hashes := range f.kept.emitted.all {
		for _, h := range hashes {
			tx.Unseen(unhash(h))
			f.filter.forget(h)
		}
	}
	tx.Set(metaStartAgain, nil)
	f.kept.emitted.forget()
	f.startDone = false
}
