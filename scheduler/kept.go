package scheduler

import (
	"encoding/binary"
	"time"

	"github.com/skeincrawl/skein/jobs"
)

// Keys of the records that only snapshots have.
const (
	metaEmitted = "start.emitted" // hashes of what Start emitted in this round
	metaPending = "unstored.now"  // how many requests are in memory that can not be stored
	metaSuspect = "suspect"       // a request that was with spider code when a process died
)

// kept is what the journal's snapshots need of the past, beside what the queues
// and the filter hold anyway. It is filled only if there is a job directory.
type kept struct {
	state    []byte   // of the spider, after the last step
	cookies  []byte   // the changes of cookies
	emitted  []uint64 // hashes of what Start emitted, as long as it may have to run again
	answered bool     // some request of this run got a response
	unstored int      // requests in memory that can not be stored
	suspects map[jobs.Addr]suspicion
	failed   int         // requests that were given up
	vain     []jobs.Addr // those of Start among them, given up in this run before anything answered
	began    time.Time
}

// forgetStart drops what Start emitted once it will not run again in this round.
func (k *kept) forgetStart(ended bool) {
	if ended && k.answered {
		k.emitted = nil
	}
}

// snapshot hands the state of the frontier to the job: what recovery would read
// from all steps up to now. A run begins in it before the attempts of that run.
func (f *Local) snapshot(s *jobs.Snapshot) {
	for a, v := range f.kept.suspects {
		s.Set(metaSuspect, v.append(number(uint64(a))))
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
	if f.kept.state != nil {
		s.Set(metaState, f.kept.state)
	}
	if len(f.kept.cookies) > 0 {
		s.Set(metaCookies, f.kept.cookies)
	}
	if len(f.kept.emitted) > 0 {
		s.Set(metaEmitted, appendHashes(nil, f.kept.emitted))
	}
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

func appendHashes(dst []byte, hashes []uint64) []byte {
	for _, h := range hashes {
		dst = binary.LittleEndian.AppendUint64(dst, h)
	}
	return dst
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
	for _, h := range f.kept.emitted {
		tx.Unseen(unhash(h))
		f.filter.unmark(unhash(h))
	}
	tx.Set(metaStartAgain, nil)
	f.kept.emitted, f.startDone = nil, false
}
