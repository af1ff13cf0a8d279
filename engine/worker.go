package engine

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/scheduler"
)

// worker carries one lease from its request to its outcome.
type worker struct {
	e         *Engine
	run       *run
	lease     scheduler.Lease
	req       *crawl.Request
	settled   bool
	placeless bool  // has given its place of the wire gate back for a while
	bytes     int64 // counted in the bytes gate
	share     *downloader.Share
	parsing   bool // holds a place of the parse gate
	parts     uint64
	log       crawl.StepLog
	failure   *crawl.Failure // that reached the spider's errback, or nobody
	gaveUp    string         // why a callback's request for another try was refused
}

// work runs in a goroutine of its own and always ends with an outcome.
func (w *worker) work() {
	outcome := scheduler.Outcome{Kind: scheduler.Dead}
	var s *step
	defer func() { w.end(outcome, s) }() // a callback that calls runtime.Goexit ends so too
	err := crawl.Guard(func() error {
		outcome, s = w.handle()
		return nil
	})
	if err != nil {
		w.e.log.Error().Err(err).Msgf("Error in the engine while handling %v", w.req)
	}
}

// end gives back what the worker holds and tells the loop.
func (w *worker) end(outcome scheduler.Outcome, s *step) {
	w.settle(scheduler.SlotHint{Unused: outcome.Kind == scheduler.Release})
	w.leaveParse()
	w.share.Release()
	outcome.Key.Lease = w.lease.ID
	if outcome.Kind == scheduler.Done {
		outcome.Cookies = w.log.TakeCookies()
	}
	m := message{outcome: &outcome, bytes: w.bytes}
	if s != nil {
		m.changes = s.changes
	}
	w.run.send(m)
}

// handle downloads the request and handles what comes.
func (w *worker) handle() (scheduler.Outcome, *step) {
	req, err := w.decode()
	if err != nil {
		w.e.log.Error().Err(err).Msg("A queued request can not be read and is given up")
		return scheduler.Outcome{Kind: scheduler.Dead, Failed: "it can not be read: " + err.Error()}, nil
	}
	w.req = req
	resp, hint, err := w.download()
	if errors.Is(err, crawl.ErrStopped) {
		return scheduler.Outcome{Kind: scheduler.Release}, nil
	}
	if re := new(crawl.RescheduleError); errors.As(err, &re) {
		s, rerr := w.replace(re.Request)
		if rerr == nil {
			w.countBytes(nil)
			w.settle(hint)
			return scheduler.Outcome{Kind: scheduler.Done, Push: s.push, Answered: resp != nil}, s
		}
		err = rerr
	}
	w.countBytes(resp)
	w.settle(hint)
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		w.e.log.Warn().Msgf("No file descriptor is left: %v goes back into the queue (ulimit -n)", req)
		w.waitToUndo(w.run.work)
		return scheduler.Outcome{Kind: scheduler.Release}, nil
	}
	if resp != nil {
		w.e.answered.Add(1)
		w.e.received(w.run.work, resp, req)
	} else {
		w.e.unanswered.Add(1)
	}
	if !w.enterParse() || !w.enterSpider() {
		return scheduler.Outcome{Kind: scheduler.Release}, nil
	}
	var failure *crawl.Failure
	if err != nil {
		failure = &crawl.Failure{Request: req, Err: err, Kind: crawl.KindOf(err)}
	}
	return w.callback(resp, failure)
}

func (w *worker) decode() (*crawl.Request, error) {
	if w.lease.Body == nil {
		return w.lease.Request, nil
	}
	return w.e.env.Callbacks.DecodeRequest(w.lease.Body)
}

func (w *worker) download() (*crawl.Response, scheduler.SlotHint, error) {
	ctx := crawl.WithWait(crawl.WithStepLog(withBeside(w.run.work, w.beside), &w.log), w.whileWaiting)
	ctx, w.share = w.e.budget.Share(ctx)
	if !w.lease.Paced {
		return w.e.fetch(ctx, w.lease.Slot, w.req)
	}
	ctx = downloader.WithSent(ctx, func(at time.Time) {
		w.run.send(message{progress: scheduler.Progress{Lease: w.lease.ID, Sent: at}})
	})
	resp, hint, err := w.e.fetch(ctx, w.lease.Slot, w.req)
	hint.Unused = !downloader.Tried(ctx)
	return resp, hint, err
}

// settle frees the places that the download held.
func (w *worker) settle(hint scheduler.SlotHint) {
	if w.settled {
		return
	}
	w.settled = true
	if !w.placeless {
		w.run.wire.give(1)
	}
	w.run.send(message{progress: scheduler.Progress{Lease: w.lease.ID, Settled: true, Hint: hint}})
}

// whileWaiting calls f, and lets another download start meanwhile.
func (w *worker) whileWaiting(f func()) {
	if w.settled || w.placeless {
		f()
		return
	}
	w.placeless = true
	w.run.wire.give(1)
	w.run.send(message{look: true})
	f()
	w.placeless = w.run.wire.take(w.run.work) != nil
}

// countBytes adds a response to those that wait for their callback or are in it.
func (w *worker) countBytes(resp *crawl.Response) {
	w.bytes = 1024
	if resp != nil {
		w.bytes = max(int64(len(resp.Body)), 1024)
	}
	w.run.bytes.Add(w.bytes)
	w.share.Set(w.bytes)
}

// enterParse waits for a place among the running callbacks.
func (w *worker) enterParse() bool {
	if w.run.work.Err() != nil { // else a free place may win below
		return false
	}
	select {
	case w.run.parse <- struct{}{}:
		w.parsing = true
		return true
	case <-w.run.work.Done():
		return false
	}
}

// enterSpider tells the frontier that spider code begins to handle the request.
// If that may have killed an earlier process, it waits until this is written.
func (w *worker) enterSpider() bool {
	if w.e.cfg.JobDir == "" {
		return true
	}
	m := message{progress: scheduler.Progress{Lease: w.lease.ID, Entered: true}}
	if !w.lease.Careful {
		w.run.send(m)
		return true
	}
	return w.run.deliver(w.run.work, m) == nil
}

func (w *worker) leaveParse() {
	if w.parsing {
		w.parsing = false
		<-w.run.parse
	}
}

// replace returns a step with another request in place of this one.
func (w *worker) replace(r *crawl.Request) (*step, error) {
	s, _ := w.e.newStep(nil)
	if err := w.emit(s, r); err != nil {
		return nil, fmt.Errorf("reschedule %v: %w", w.req, err)
	}
	w.e.resolve(w.run.work, s.push)
	return s, nil
}

// emit adds a request that follows from the present one. A stop in between must
// not lose it.
func (w *worker) emit(s *step, r *crawl.Request) error {
	s.retried = r.Trail.Retries > w.req.Trail.Retries
	return s.take(context.WithoutCancel(w.run.work), r)
}

// follow is emit for what a callback has asked for.
func (w *worker) follow(s *step, r *crawl.Request) {
	if err := w.emit(s, r); err != nil {
		w.e.log.Error().Err(err).Msgf("Error rescheduling %v", w.req)
	}
}

// callback runs the handler chain and turns its result into the outcome.
func (w *worker) callback(resp *crawl.Response, failure *crawl.Failure) (scheduler.Outcome, *step) {
	s, emitter := w.e.newStep(resp)
	s.flush = w.flush
	ctx := context.WithValue(w.run.work, failureKey{}, &w.failure)
	out := crawl.NewOut(ctx, resp, emitter, crawl.FetcherFunc(w.nested))
	err := crawl.Guard(func() error { return w.e.handler(ctx, resp, failure, out) })
	s.end()
	if ctx.Err() != nil { // it may have been cut short, whatever it made of it
		return scheduler.Outcome{Kind: scheduler.Release}, nil
	}
	if err == nil {
		err = out.Err()
	}
	if err == nil && resp != nil {
		err = resp.SelectorErr()
	}
	if !w.judge(ctx, s, err, resp) {
		return scheduler.Outcome{Kind: scheduler.Release}, nil
	}
	w.e.scraped(ctx, s)
	if w.e.cfg.PerAddress > 0 {
		w.leaveParse() // the resolver may take its time
		w.e.resolve(ctx, s.push)
	}
	return scheduler.Outcome{
		Kind: scheduler.Done, Push: s.push, Feeds: s.feedBytes(), Answered: resp != nil, Failed: w.failed(),
	}, s
}

// judge reports, counts and carries out what an error of the handler asks for.
// It returns false if nothing of the step is to be kept.
func (w *worker) judge(ctx context.Context, s *step, err error, resp *crawl.Response) bool {
	retry, reschedule := new(crawl.RetryError), new(crawl.RescheduleError)
	undo, stop := new(crawl.UndoError), new(crawl.CloseError)
	switch {
	case err == nil:
		w.run.undos.Store(0)
	case errors.As(err, &undo):
		w.e.log.Warn().Err(undo.Err).Msgf("Undone: %v goes back into the queue", w.req)
		w.waitToUndo(ctx)
		return false
	case errors.As(err, &stop):
		w.e.closeSpider(stop.Reason)
	case errors.As(err, &retry):
		w.tryAgain(s, retry) //nolint:contextcheck // it must outlive the cut.
	case errors.As(err, &reschedule):
		w.failure = nil
		w.follow(s, reschedule.Request) //nolint:contextcheck // it must outlive the cut.
	case ctx.Err() != nil:
		return false // what failed may have failed because of the cut
	default:
		w.e.failed(ctx, err, w.req, resp)
	}
	return true
}

// waitToUndo waits before a request goes back, longer each time: what it needs (a
// database, a descriptor) may take a while to come back.
func (w *worker) waitToUndo(ctx context.Context) {
	w.leaveParse()
	w.share.Release()
	w.run.send(message{progress: scheduler.Progress{Lease: w.lease.ID, Left: true}})
	w.run.undone(ctx)
}

// flush writes the beginning of a large step and waits until it is taken.
func (w *worker) flush(ctx context.Context, push []scheduler.Entry) error {
	w.e.resolve(ctx, push)
	w.parts++
	key := scheduler.Key{Lease: w.lease.ID, Ordinal: w.parts}
	return w.run.deliver(ctx, message{outcome: &scheduler.Outcome{Key: key, Kind: scheduler.Part, Push: push}})
}

// nested downloads a request in the middle of a step: through the slots and the
// middlewares, past the scheduler. A callback that waits for it makes room for
// another.
func (w *worker) nested(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	if w.parsing {
		w.leaveParse()
		defer w.enterParse()
	}
	w.share.Yield()
	ctx, cancel := context.WithCancelCause(crawl.WithStepLog(ctx, &w.log))
	defer cancel(nil)
	defer context.AfterFunc(w.run.work, func() { cancel(crawl.ErrStopped) })() //nolint:contextcheck // ctx may be any.
	return downloader.Follow(crawl.FetcherFunc(w.beside)).Fetch(ctx, r)
}

// beside downloads one request beside the queue.
func (w *worker) beside(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	lease := w.lease.ID
	if w.settled {
		lease = 0 // the frontier may not have heard of it yet, and would grant a place that does not count
	}
	slot := w.e.slotOf(ctx, r)
	release, err := w.run.frontier.Acquire(ctx, lease, slot)
	if err != nil {
		return nil, err
	}
	var hint scheduler.SlotHint
	defer func() { release(hint) }()
	if w.settled {
		if err := w.run.wire.take(ctx); err != nil {
			return nil, fmt.Errorf("wait for a connection: %w", err)
		}
		defer func() {
			w.run.wire.give(1)
			w.run.send(message{look: true})
		}()
	}
	var resp *crawl.Response
	ctx = w.e.withinBeside(ctx)
	if w.settled || slot != w.lease.Slot {
		ctx = w.e.tellsLate(ctx, slot)
	}
	resp, hint, err = w.e.fetch(ctx, slot, r)
	return resp, err
}
