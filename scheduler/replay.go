package scheduler

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/skeincrawl/skein/jobs"
)

// meta takes a record of the journal that is about no single request.
func (r *recovery) meta(op jobs.Op) error {
	switch string(op.Key) {
	case metaStartEnd:
		r.resume.Start = StartDone
	case metaStartAgain:
		r.round()
	case metaUnstored:
		r.unstored++
	case metaHandled:
		r.unstored--
	case metaStartItem:
		return eachHash(op, r.accept)
	case metaPending:
		return eachHash(op, func(n uint64) { r.unstored = int(n) })
	case metaCallback:
		r.names[string(op.Value)] = true
	case metaRun:
		r.began, _ = time.Parse(time.RFC3339, string(op.Value))
		r.endRun()
		r.unstored = 0
	case metaRunEnded:
		clear(r.attempts)
		r.unstored = 0
	default:
		r.f.kept.replay(op, r.now)
	}
	return nil
}

// eachHash calls f with each number in the value of a record.
func eachHash(op jobs.Op, f func(uint64)) error {
	if len(op.Value)%8 != 0 {
		return fmt.Errorf("the record %s has %d bytes, which are no numbers", op.Key, len(op.Value))
	}
	for b := op.Value; len(b) > 0; b = b[8:] {
		f(binary.LittleEndian.Uint64(b))
	}
	return nil
}

// round begins a new round: Start runs again, what was seen stays seen.
func (r *recovery) round() {
	r.resume.Start = StartFresh
	r.f.kept.emitted.forget()
}

// drop forgets the parts of an owner.
func (r *recovery) drop(owner jobs.Addr) {
	for _, p := range r.parts[owner] {
		delete(r.fps, p.id)
		delete(r.notBef, p.id)
	}
	delete(r.parts, owner)
}

// endRun counts the attempts that the run before left without an end. No lease
// outlives a run, so neither do parts.
func (r *recovery) endRun() {
	for a := range r.attempts {
		s := r.suspects[a]
		s.deaths++
		if len(r.attempts) == 1 {
			s.alone++
		}
		r.suspects[a] = s
	}
	clear(r.attempts)
	for owner := range r.parts {
		r.drop(owner)
	}
}

// warnLost tells of requests that died with the process because they could not
// be stored.
func (r *recovery) warnLost() {
	if r.unstored > 0 {
		r.f.report.lost(r.unstored)
	}
}
