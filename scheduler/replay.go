package scheduler

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/skeincrawl/skein/jobs"
)

// meta takes a record of the journal that is about no single request.
func (r *recovery) meta(op jobs.Op) error {
	switch string(op.Key) {
	case metaState:
		r.resume.State = slices.Clone(op.Value)
	case metaCookies:
		r.resume.Cookies = append(r.resume.Cookies, op.Value...)
	case metaStartEnd:
		r.resume.Start = StartDone
	case metaStartAgain:
		r.startAgain()
	case metaUnstored:
		r.unstored++
	case metaHandled:
		r.unstored--
	case metaStartItem, metaReleased, metaRefused:
		if len(op.Value) != 8 {
			return fmt.Errorf("the record %s has %d bytes, not 8", op.Key, len(op.Value))
		}
		r.number(string(op.Key), binary.LittleEndian.Uint64(op.Value))
	case metaCallback:
		r.names[string(op.Value)] = true
	case metaRun:
		r.endRun()
		r.unstored = 0
	case metaRunEnded:
		clear(r.attempts)
		r.unstored = 0
	}
	return nil
}

// number takes a record whose value is a number.
func (r *recovery) number(key string, n uint64) {
	switch key {
	case metaStartItem:
		r.accept(n)
	case metaReleased:
		delete(r.attempts, jobs.Addr(n))
		r.drop(jobs.Addr(n))
	case metaRefused:
		delete(r.fps, n)
	}
}

// round begins a new round: Start runs again, what was seen stays seen.
func (r *recovery) round() {
	r.resume.Start, r.emitted = StartFresh, nil
}

// startAgain forgets what Start emitted in this round.
func (r *recovery) startAgain() {
	if r.emitted != nil {
		for _, h := range r.emitted.hashes {
			r.f.filter.forget(h)
		}
	}
	r.round()
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
