package engine

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/scheduler"
)

// starter runs the spider's Start and hands each of its emissions to the loop
// as an entry of its own.
type starter struct {
	*step
	run      *run
	ordinal  uint64
	accepted *scheduler.Accepted
	log      *crawl.StepLog // of its fetches
	entry    sync.Mutex     // one entry at a time
}

// start runs in a goroutine of its own. It returns whether Start has ended by
// itself.
func (r *run) start(ctx context.Context, resume scheduler.Resume) {
	ended := false
	defer func() { // whatever ends it: runtime.Goexit does so too
		m := message{startOver: true}
		if ended {
			m.outcome = &scheduler.Outcome{Kind: scheduler.StartEnded}
		}
		r.send(m)
	}()
	err := r.resume(ctx, resume)
	switch {
	case err != nil:
		r.e.startFailed(ctx, err)
	case resume.Start == scheduler.StartDone:
		ended = true
	case ctx.Err() == nil:
		ended = r.e.startFailed(ctx, r.emitStart(ctx, resume.Accepted))
	}
}

// resume lets the spider prepare to go on, before anything is leased.
func (r *run) resume(ctx context.Context, resume scheduler.Resume) error {
	sp, ok := r.e.env.Spider.(crawl.Resumer)
	var err error
	if ok && resume.Resumed && ctx.Err() == nil {
		err = r.withOut(crawl.WithoutWait(ctx), nil, sp.Resume) // nothing is leased before it returns
	}
	r.send(message{resumed: true})
	return err
}

// emitStart calls Start through the spider middlewares.
func (r *run) emitStart(ctx context.Context, accepted *scheduler.Accepted) error {
	return r.withOut(ctx, accepted, func(ctx context.Context, out crawl.Out) error {
		return r.e.handler(ctx, nil, nil, out)
	})
}

// withOut calls f with an Out that leads to the loop.
func (r *run) withOut(ctx context.Context, accepted *scheduler.Accepted, f func(context.Context, crawl.Out) error) error {
	s, _ := r.e.newStep(nil)
	beside := &worker{e: r.e, run: r, settled: true}
	st := &starter{step: s, run: r, accepted: accepted, ordinal: r.ordinal, log: &beside.log}
	var emitter crawl.Step = st
	if r.e.state != nil {
		emitter = &startState{stateStep{step: s, state: r.e.state}, st}
	}
	out := crawl.NewOut(ctx, nil, emitter, crawl.FetcherFunc(beside.nested))
	err := crawl.Guard(func() error { return f(ctx, out) })
	if err == nil {
		err = out.Err()
	}
	if err == nil {
		err = st.rest(ctx)
	}
	r.ordinal = st.ordinal
	return err
}

// startState is a starter of a spider with state. A change goes with the entry
// that follows it, so that it is passed over with it if Start is called again;
// what follows the last entry goes on its own.
type startState struct {
	stateStep
	*starter
}

// Emit implements [crawl.Step].
func (s *startState) Emit(ctx context.Context, v any) error { return s.starter.Emit(ctx, v) }

// rest commits the changes of state and cookies that no entry followed.
func (s *starter) rest(ctx context.Context) error {
	cookies := s.log.TakeCookies()
	if len(s.changes) == 0 && cookies == nil {
		return nil
	}
	s.ordinal++
	o := &scheduler.Outcome{Key: scheduler.Key{Ordinal: s.ordinal}, Kind: scheduler.StartEntry, Cookies: cookies}
	if err := s.run.deliver(ctx, message{outcome: o, changes: s.changes, start: true}); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	s.changes = nil
	return nil
}

// Emit implements [crawl.Step].
func (s *starter) Emit(ctx context.Context, v any) error {
	s.entry.Lock()
	defer s.entry.Unlock()
	s.push, s.items, s.counts = nil, nil, 0
	for i := range s.feeds {
		s.feeds[i] = nil
	}
	if err := s.step.Emit(ctx, v); err != nil {
		s.e.notFingerprinted(err)
		return err
	}
	if len(s.push) == 0 && s.counts == 0 {
		return nil
	}
	s.e.resolve(ctx, s.push)
	changes := s.takeChanges()
	hashes, skip := s.skip()
	if skip {
		return nil
	}
	s.ordinal++
	o := &scheduler.Outcome{
		Key: scheduler.Key{Ordinal: s.ordinal}, Kind: scheduler.StartEntry,
		Push: s.push, Feeds: s.feedBytes(), Items: hashes, Cookies: s.log.TakeCookies(),
	}
	if err := s.run.deliver(ctx, message{outcome: o, changes: changes, start: true}); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	s.e.scraped(ctx, s.step)
	return nil
}

// notFingerprinted ends the crawl, as Scrapy does, if a start request has no
// fingerprint: nothing would keep it from being fetched for ever.
func (e *Engine) notFingerprinted(err error) {
	if errors.As(err, new(*fingerprintError)) {
		e.log.Error().Err(err).Msg("Error while processing requests from start()")
		e.closeSpider("shutdown")
	}
}

// skip reports whether an interrupted Start had emitted the same already, and
// returns the hashes of the items.
func (s *starter) skip() (hashes []uint64, skip bool) {
	for _, e := range s.push {
		if s.accepted.Take(scheduler.HashOf(e.Fingerprint)) {
			return nil, true
		}
	}
	if s.counts == 0 {
		return nil, false
	}
	h := fnv.New64a()
	for _, b := range s.feeds {
		h.Write(b)
	}
	sum := h.Sum64()
	return []uint64{sum}, s.accepted.Take(sum)
}

// answerStart lets Start go on: at once while the engine is full, else when the
// entry is committed, and leased if it can be. Start is held back where
// SCHEDULER_MAX_PENDING is reached.
func (r *run) answerStart(ack chan error) {
	switch {
	case !r.stopping && r.full():
		r.held = append(r.held, ack)
	case r.wire.free() > 0 || r.starts > startBatch:
		r.acks = append(r.acks, ack)
	case r.stepping && int64(r.reserved) >= r.backlog+r.ahead: // the step holds more places than it can fill
		r.acks = append(r.acks, ack)
	default:
		ack <- nil
	}
}

// releaseStart lets Start go on once there is room for what it emits.
func (r *run) releaseStart() {
	if len(r.held) == 0 || r.full() && !r.stopping {
		return
	}
	for _, ack := range r.held {
		ack <- nil
	}
	r.held = nil
}

// full reports whether SCHEDULER_MAX_PENDING is reached.
func (r *run) full() bool {
	return r.e.cfg.MaxPending > 0 && r.backlog+r.ahead >= int64(r.e.cfg.MaxPending)
}

// startURLs is the Start of a spider without one.
func startURLs(urls []string) func(context.Context, crawl.Out) error {
	return func(_ context.Context, out crawl.Out) error {
		for _, u := range urls {
			out.Request(&crawl.Request{URL: u, DontFilter: true})
			if errors.Is(out.Err(), crawl.ErrStopped) {
				return out.Err()
			}
		}
		return nil
	}
}
