package scheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/skeincrawl/skein/jobs"
)

// recovery rebuilds the frontier from the operations of the journal.
type recovery struct {
	f        *Local
	now      time.Time
	resume   Resume
	places   places
	pending  []pending // by address
	dead     int       // of them
	notBef   map[uint64]int64
	parts    map[jobs.Addr][]pending
	fps      map[uint64]Fingerprint // of provisional pushes
	failed   map[jobs.Addr]pending  // requests that were given up
	attempts map[jobs.Addr]bool     // in the present run
	suspects map[jobs.Addr]suspicion
	names    map[string]bool // of callbacks that requests of the job had
	began    time.Time       // the last run
	unstored int             // requests that the last run held in memory when it died
}

func newRecovery(f *Local) *recovery {
	return &recovery{
		f: f, now: time.Now(), notBef: map[uint64]int64{},
		places: places{slots: map[string]string{}, numbers: map[place]uint32{}},
		parts:  map[jobs.Addr][]pending{}, fps: map[uint64]Fingerprint{}, failed: map[jobs.Addr]pending{},
		attempts: map[jobs.Addr]bool{}, suspects: map[jobs.Addr]suspicion{}, names: map[string]bool{},
	}
}

func (f *Local) recover(d Deps) (Resume, error) {
	if !f.durable {
		return Resume{Round: 1}, nil
	}
	r := newRecovery(f)
	r.resume.Resumed = d.Job.State() == jobs.StateResumed
	r.resume.Reason = d.Job.Info().Reason
	rec, err := d.Job.Recover(d.Feeds, r.visit)
	if err != nil {
		return Resume{}, fmt.Errorf("recover the job: %w", err)
	}
	for _, w := range rec.Warnings {
		f.report.log.Warn().Msg(w)
	}
	if r.resume.Round = int(rec.Round); rec.NewRound {
		r.round()
	}
	r.warnLost()
	r.endRun()
	r.sweep()
	f.kept.emitted.prune()
	if err := r.checkCallbacks(d.Env); err != nil {
		return Resume{}, err
	}
	f.kept.tell(&r.resume, r.now)
	f.kept.restoreSlots(f.slots, &f.report.log, r.now)
	if err := r.fill(); err != nil {
		return Resume{}, err
	}
	r.resume.Pending = f.pending()
	if r.resume.Start == StartPartial {
		r.resume.Accepted = f.kept.emitted.accepted()
	}
	r.keep()
	return r.resume, r.begin()
}

// keep hands to the frontier what its snapshots need.
func (r *recovery) keep() {
	f := r.f
	f.startDone = r.resume.Start == StartDone
	f.names = r.names
	f.kept.suspects, f.kept.began = r.suspects, r.now
}

// visit takes one operation of the journal.
func (r *recovery) visit(op jobs.Op) error {
	switch op.Kind {
	case jobs.OpPush:
		r.push(op)
	case jobs.OpAck:
		r.ack(op.Addr)
	case jobs.OpPending:
		r.add(op)
	case jobs.OpAttempt:
		r.attempts[op.Addr] = true
	case jobs.OpTally:
		r.suspects[op.Addr] = suspicionOf(op.N)
	case jobs.OpRelease:
		delete(r.attempts, op.Addr)
		r.drop(op.Addr)
	case jobs.OpSeen:
		r.f.filter.mark(op.Fingerprint, true)
	case jobs.OpUnseen:
		r.f.filter.forget(HashOf(op.Fingerprint))
		r.f.kept.emitted.remove(HashOf(op.Fingerprint))
	case jobs.OpSeenKeys:
		r.f.filter.know(op.Value)
	case jobs.OpEmitted:
		r.resume.Start = StartPartial
		r.f.kept.emitted.know(op.Value)
	case jobs.OpProvisional:
		r.parts[op.Owner] = append(r.parts[op.Owner], r.pendingOf(op))
		r.fps[uint64(op.Addr)] = op.Fingerprint
	case jobs.OpAdopt:
		r.adopt(op.Owner)
	case jobs.OpMeta:
		return r.meta(op)
	case jobs.OpRound:
		r.round()
	}
	return nil
}

func (r *recovery) pendingOf(op jobs.Op) pending {
	if op.NotBefore != 0 {
		r.notBef[uint64(op.Addr)] = op.NotBefore
	}
	return pending{id: uint64(op.Addr), place: r.places.number(op.Slot, int(op.Priority)), flags: op.Flags}
}

func (r *recovery) push(op jobs.Op) {
	if op.Flags&flagDontFilter == 0 {
		r.f.filter.mark(op.Fingerprint, true)
	}
	if op.Flags&flagEmitted != 0 {
		r.accept(HashOf(op.Fingerprint))
	}
	r.add(op)
}

// add notes a request that is queued, or is kept because it was given up.
func (r *recovery) add(op jobs.Op) {
	if op.Flags&flagFailed != 0 {
		r.f.kept.failed++
		r.failed[op.Addr] = r.pendingOf(op)
		return
	}
	r.pending = append(r.pending, r.pendingOf(op))
}

// accept notes something that Start emitted.
func (r *recovery) accept(h uint64) {
	r.resume.Start = StartPartial
	r.f.kept.emitted.add(h)
}

func (r *recovery) adopt(owner jobs.Addr) {
	old := len(r.pending)
	for _, p := range r.parts[owner] {
		fp, ok := r.fps[p.id]
		if !ok {
			delete(r.notBef, p.id)
			continue
		}
		delete(r.fps, p.id)
		if p.flags&flagDontFilter == 0 {
			r.f.filter.mark(fp, true)
		}
		r.pending = append(r.pending, p)
	}
	delete(r.parts, owner)
	if old == len(r.pending) {
		return
	}
	i, _ := r.find(r.pending[:old], r.pending[old].id)
	slices.SortFunc(r.pending[i:], func(a, b pending) int { return cmp.Compare(a.id, b.id) })
}

func (*recovery) find(list []pending, id uint64) (int, bool) {
	return slices.BinarySearchFunc(list, id, func(p pending, id uint64) int { return cmp.Compare(p.id, id) })
}

// ack ends the life of a request. Acknowledged requests are swept out when they
// outnumber the others.
func (r *recovery) ack(a jobs.Addr) {
	delete(r.attempts, a)
	delete(r.suspects, a)
	delete(r.fps, uint64(a)) // a part that is a duplicate
	if _, ok := r.failed[a]; ok {
		delete(r.failed, a)
		r.f.kept.failed--
	}
	i, ok := r.find(r.pending, uint64(a))
	if !ok || r.pending[i].gone {
		return
	}
	r.pending[i].gone = true
	r.dead++
	if r.dead > 1024 && r.dead*2 > len(r.pending) {
		r.sweep()
	}
}

func (r *recovery) sweep() {
	r.pending = slices.DeleteFunc(r.pending, func(p pending) bool {
		if p.gone {
			delete(r.notBef, p.id)
		}
		return p.gone
	})
	r.dead = 0
}

// fill puts what is left into the queues.
func (r *recovery) fill() error {
	touched := map[*slot]struct{}{}
	for _, p := range r.pending {
		suspicion := r.suspects[jobs.Addr(p.id)]
		if suspicion.alone >= maxCrashes {
			if err := r.poisoned(p); err != nil {
				return err
			}
			continue
		}
		where := r.places.list[p.place]
		ref := Ref{ID: p.id, Slot: where.slot, Priority: where.priority, Start: p.flags&flagStart != 0}
		if at := clampNotBefore(r.notBef[p.id], r.now); at.After(r.now) {
			r.f.delayed.push(at, delayed{ref, disk})
			continue
		}
		if suspicion.deaths > maxSuspicion {
			r.f.suspects = append(r.f.suspects, ref)
			continue
		}
		s := r.f.slot(where.slot)
		if err := r.f.enter(s, ref, disk); err != nil {
			return err
		}
		touched[s] = struct{}{}
	}
	for s := range maps.Keys(touched) {
		r.f.refresh(s, r.now)
	}
	return nil
}

// poisoned takes a request out that was with spider code each time the process
// died.
func (r *recovery) poisoned(p pending) error {
	body, err := r.f.job.Read(jobs.Addr(p.id), nil)
	if err != nil {
		return fmt.Errorf("read a request: %w", err)
	}
	r.f.report.stats.Inc("scheduler/poisoned")
	r.f.report.log.Warn().Msgf("Given up: the process died %d times while this request was being handled: %s", maxCrashes, body)
	tx := r.f.job.Begin()
	where := r.places.list[p.place]
	reason := fmt.Sprintf("the process died %d times while it was being handled", maxCrashes)
	if _, err := r.f.pushFailed(tx, Ref{Slot: where.slot, Priority: where.priority}, reason, body, r.now); err != nil {
		return err
	}
	delete(r.suspects, jobs.Addr(p.id))
	tx.Ack(jobs.Addr(p.id))
	return tx.Commit()
}

// begin marks the beginning of the run in the journal.
func (r *recovery) begin() error {
	tx := r.f.job.Begin()
	tx.Set(metaRun, runMark(r.now))
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("begin the run: %w", err)
	}
	if len(r.pending) > 0 {
		r.f.boundary = r.pending[len(r.pending)-1].id + 1
	}
	return nil
}
