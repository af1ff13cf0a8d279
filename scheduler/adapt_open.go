package scheduler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
)

// open recovers the job and opens the scheduler.
func (f *adapted) open(ctx context.Context, d Deps) (Resume, error) {
	resume := Resume{Round: 1}
	if f.durable != nil {
		var err error
		if resume, err = f.recover(d); err != nil {
			return resume, err
		}
	}
	if o, ok := f.s.(Opener); ok {
		if err := o.Open(ctx); err != nil {
			return resume, err
		}
	}
	if l, ok := f.s.(Lener); ok {
		n, err := l.Len(ctx)
		if err != nil {
			return resume, fmt.Errorf("ask the scheduler for its length: %w", err)
		}
		resume.Pending = int64(n)
	}
	f.startDone = resume.Start == StartDone
	if r, ok := f.s.(Readier); ok {
		f.beside.Go(func() { f.forward(r.Ready()) })
	}
	return resume, nil
}

// recover reads what the job holds beside the requests.
func (f *adapted) recover(d Deps) (Resume, error) {
	p := past{kept: &f.kept, now: time.Now()}
	p.resume.Resumed, p.resume.Reason = d.Job.State() == jobs.StateResumed, d.Job.Info().Reason
	rec, err := d.Job.Recover(d.Feeds, p.visit)
	if err != nil {
		return Resume{}, fmt.Errorf("recover the job: %w", err)
	}
	log := d.Env.Logger("scheduler")
	for _, w := range rec.Warnings {
		log.Warn().Msg(w)
	}
	if p.resume.Round = int(rec.Round); rec.NewRound {
		p.round()
	}
	f.kept.tell(&p.resume, p.now)
	f.kept.restoreSlots(f.slots, &log, p.now)
	if p.resume.Start == StartPartial {
		p.resume.Accepted = f.kept.emitted.accepted()
	}
	return p.resume, nil
}

// snapshot keeps what the job has to know of all steps up to now.
func (f *adapted) snapshot(s *jobs.Snapshot) {
	f.kept.snapshot(s)
	if f.startDone {
		s.Set(metaStartEnd, nil)
	}
}

// past is what the journal of an adapted scheduler tells of earlier runs.
type past struct {
	resume Resume
	kept   *remembered
	now    time.Time
}

// round begins a new round: Start runs again.
func (p *past) round() {
	p.resume.Start = StartFresh
	p.kept.emitted.forget()
}

func (p *past) visit(op jobs.Op) error {
	switch op.Kind {
	case jobs.OpRound:
		p.round()
	case jobs.OpEmitted:
		p.resume.Start = StartPartial
		p.kept.emitted.know(op.Value)
	case jobs.OpMeta:
		return p.meta(op)
	}
	return nil
}

func (p *past) meta(op jobs.Op) error {
	switch string(op.Key) {
	case metaStartAgain:
		p.round()
	case metaStartEnd:
		p.resume.Start = StartDone
		p.kept.emitted.forget()
	case metaStartItem:
		return eachHash(op, p.accept)
	default:
		p.kept.replay(op, p.now)
	}
	return nil
}

func (p *past) accept(hash uint64) {
	p.resume.Start = StartPartial
	p.kept.emitted.add(hash)
}

// Close implements [Frontier].
func (f *adapted) Close(ctx context.Context, reason string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	close(f.quit)
	f.beside.Wait()
	finished, err := false, error(nil)
	if f.durable != nil {
		err = crawl.Guard(func() (err error) { finished, err = f.endRun(ctx, reason); return err })
	}
	if c, ok := f.s.(Closer); ok {
		err = errors.Join(err, crawl.Guard(func() error { return c.Close(ctx, reason) }))
	}
	return errors.Join(err, f.job.Close(jobs.End{Reason: reason, Finished: finished && err == nil, Fill: f.snapshot}))
}

// endRun gives back what was not handled, and reports whether the job is
// finished.
func (f *adapted) endRun(ctx context.Context, reason string) (finished bool, err error) {
	if err := f.returnAll(ctx); err != nil {
		return false, err
	}
	if reason == NoResponse {
		f.startDone = false
		f.kept.emitted.forget()
		tx := f.job.Begin()
		tx.Set(metaStartAgain, nil)
		return false, tx.Commit()
	}
	pending, err := f.s.HasPending(ctx)
	return reason == "finished" && f.startDone && !pending && err == nil, err
}

// returnAll gives back to a durable scheduler what it has handed out.
func (f *adapted) returnAll(ctx context.Context) error {
	all := slices.AppendSeq(f.parked, maps.Values(f.leases))
	for _, d := range f.delayed {
		all = append(all, d.v)
	}
	slices.SortFunc(all, cmpPlace)
	var errs []error
	for _, t := range all {
		if err := f.durable.Return(ctx, t.request); err != nil {
			errs = append(errs, fmt.Errorf("give %v back to the scheduler: %w", t.request, err))
		}
	}
	return errors.Join(errs...)
}
