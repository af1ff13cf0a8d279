package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/scheduler"
)

const (
	// heartbeat is how often the loop looks again when nothing happens.
	heartbeat = 5 * time.Second

	// lastGrace is what callbacks have to end once the wire was cut.
	lastGrace = 2 * time.Second

	// startBatch bounds the start entries that are taken ahead of a step.
	startBatch = 512
)

// run is one run of the crawl. The fields of the loop belong to its goroutine.
type run struct {
	e        *Engine
	frontier scheduler.Frontier
	wire     gate
	inbox    inbox
	parse    chan struct{}
	bytes    atomic.Int64 // of responses that wait for their callback, are in it, or are on their way to a step
	undos    atomic.Int64
	msgs     chan message
	over     chan struct{}   // closed when the loop has ended
	patient  context.Context //nolint:containedctx // of this run; it outlives the first stop.
	work     context.Context //nolint:containedctx // of callbacks and handlers, which can not wait for events.
	cut      context.CancelCauseFunc
	unstart  context.CancelCauseFunc // stops Start
	workers  sync.WaitGroup
	stepper  *stepper
	ordinal  uint64 // of the last start entry; of the goroutine of Start

	// Of the loop.
	active    int // leases without outcome
	progress  []scheduler.Progress
	done      []scheduler.Outcome
	acks      []chan error
	held      []chan error // of Start, while SCHEDULER_MAX_PENDING is reached
	starts    int          // start entries in done
	enqueued  uint64       // ordinal of the last request from outside
	ahead     int64        // requests of Start that the backlog does not count yet
	handed    int64        // those of them that are with the frontier
	stepping  bool
	look      bool // something may be leasable
	unnoted   bool // something was committed since the last notes
	taught    bool // a server has asked for rest since then
	started   bool // Start is over, well or not
	hold      bool // nothing is leased until the spider has resumed
	stopping  bool
	hurried   bool // only Start is left, and has its last time
	left      bool // callbacks or Start did not end and were left behind
	empty     bool // as of the last step
	backlog   int64
	reserved  int
	asked     bool        // SpiderIdle was sent and nothing was leased since
	idleAgain time.Time   // when it is to be sent again
	timer     *time.Timer // until something is leasable
	notes     *time.Timer // until the components are asked what they keep
	grace     *time.Timer // until the wire is cut
	last      *time.Timer // until callbacks are left behind
	err       error
}

// loop runs until the crawl ends.
func (r *run) loop(ctx context.Context) {
	first, closing, cutting := ctx.Done(), r.e.closing, r.e.cutting
	waits := r.e.env.Signals.Waits()
	r.notes.Reset(notesInterval)
	defer r.notes.Stop()
	for {
		r.drain()
		r.step()
		if r.ended() {
			return
		}
		select {
		case m := <-r.msgs:
			r.take(m)
		case <-r.inbox.wake:
		case res := <-r.stepper.results:
			r.stepped(res)
		case <-r.frontier.Ready():
			r.look = true
		case <-waits:
			r.look = true
		case <-r.timer.C:
			r.look = true
		case <-r.notes.C:
			r.note()
			r.taught = false
			r.notes.Reset(notesInterval)
		case <-first:
			first = nil
			r.e.closeSpider("shutdown")
			r.grace.Reset(r.e.cfg.Grace)
		case <-closing:
			closing = nil
			r.stop()
		case <-cutting:
			cutting = nil
			r.cutWire()
		case <-r.grace.C:
			r.cutWire()
		case <-r.last.C:
			r.leave()
		}
	}
}

// leave gives up on callbacks that do not end. Their requests go back.
func (r *run) leave() {
	if r.active > 0 {
		r.e.log.Warn().Msgf("%d callbacks did not end and are left behind; their requests go back into the queue", r.active)
	}
	r.left, r.active, r.started = true, 0, true
}

// drain takes every message there is.
func (r *run) drain() {
	r.takeEnqueued()
	for {
		select {
		case m := <-r.msgs:
			r.take(m)
		default:
			return
		}
	}
}

func (r *run) take(m message) {
	r.takeEnqueued() // what the sender has enqueued before comes first
	r.hold = r.hold && !m.resumed
	r.started = r.started || m.startOver
	if m.progress.Lease != 0 {
		r.progress = append(r.progress, m.progress)
	}
	if !m.progress.Hint.BackOff.IsZero() && !r.taught {
		r.taught = true
		r.notes.Reset(lessonInterval)
	}
	r.bytes.Add(-m.bytes)
	if m.outcome != nil {
		r.takeOutcome(m)
	}
	switch {
	case m.ack == nil:
	case r.err != nil:
		m.ack <- r.err
	case m.start:
		r.answerStart(m.ack)
	default:
		r.acks = append(r.acks, m.ack)
	}
	r.look = r.look || m.look || m.resumed || m.startOver
}

func (r *run) takeOutcome(m message) {
	o := m.outcome
	r.unnoted = true
	switch o.Kind {
	case scheduler.Part, scheduler.StartEnded:
	case scheduler.StartEntry:
		r.starts++
		r.ahead += int64(len(o.Push))
	default:
		r.active = max(r.active-1, 0)
	}
	for _, b := range o.Feeds {
		r.e.feeds.Add(b.Feed, b.Items)
	}
	if len(m.changes) > 0 {
		b, err := r.e.state.apply(m.changes)
		if err != nil {
			r.e.failed(r.work, err, nil, nil)
		}
		o.State = b
	}
	r.done = append(r.done, *o)
}

// step hands what has gathered to the frontier, if there is something, and asks
// for as many leases as there is room for.
func (r *run) step() {
	if r.stepping || r.err != nil {
		return
	}
	want := r.want()
	if len(r.progress) == 0 && len(r.done) == 0 && len(r.acks) == 0 && !r.look {
		r.wire.fill(0)
		return
	}
	r.stepping, r.look, r.reserved = true, false, want
	r.stepper.requests <- stepRequest{progress: r.progress, done: r.done, acks: r.acks, want: want}
	r.progress, r.done, r.acks, r.starts, r.handed = nil, nil, nil, 0, r.ahead
}

// want reserves the places of the wire gate that may be filled now.
func (r *run) want() int {
	if r.stopping || r.hold || r.bytes.Load() > r.e.cfg.MaxBytes {
		return 0
	}
	return r.wire.reserve(r.e.cfg.Requests)
}

// stepped takes the frontier's answer.
func (r *run) stepped(res stepResult) {
	r.stepping = false
	for _, ack := range res.acks {
		ack <- res.err
	}
	if res.err != nil {
		r.wire.fill(0)
		r.fatal(res.err)
		return
	}
	g := res.grant
	r.wire.fill(len(g.Leases))
	for i := range g.Leases {
		r.dispatch(g.Leases[i])
	}
	for i := range g.Refused {
		r.e.dropped(r.work, g.Refused[i].Request)
	}
	r.backlog, r.ahead = g.Backlog, r.ahead-r.handed
	r.e.queued.Store(g.Backlog)
	r.empty = g.State == scheduler.Empty
	if g.State == scheduler.Stopping {
		r.e.closeSpider(cmp.Or(g.Reason, "shutdown"))
	}
	if g.Backlog == 0 && r.reserved > len(g.Leases) && len(r.done) == 0 {
		r.e.schedulerEmpty(r.work)
	}
	r.releaseStart()
	r.setTimer(g.Next)
}

// fatal ends the crawl because the frontier can not go on.
func (r *run) fatal(err error) {
	if p := new(crawl.PanicError); errors.As(err, &p) {
		r.e.log.Error().Msgf("The scheduler panicked: %v\n%s", p.Value, p.Stack)
	}
	r.err = fmt.Errorf("the crawl can not go on: %w", err)
	r.e.closeSpider(reasonOf(err))
	r.stop()
	r.cutWire()
	for _, ack := range r.acks {
		ack <- r.err
	}
	r.acks = nil
}

func (r *run) setTimer(next time.Duration) {
	if next == 0 || next > heartbeat {
		next = heartbeat
	}
	r.timer.Reset(next)
}

// dispatch starts a worker for a lease, or gives back one that came too late.
func (r *run) dispatch(l scheduler.Lease) {
	if r.stopping {
		r.wire.give(1)
		r.done = append(r.done, scheduler.Outcome{Key: scheduler.Key{Lease: l.ID}, Kind: scheduler.Release})
		return
	}
	r.active++
	r.asked, r.idleAgain = false, time.Time{}
	w := &worker{e: r.e, run: r, lease: l}
	r.workers.Go(w.work)
}

// stop begins the end: nothing new is leased, and Start goes no further.
func (r *run) stop() {
	if r.stopping {
		return
	}
	r.stopping, r.look = true, true
	r.e.announceClose()
	r.unstart(crawl.ErrStopped)
	r.releaseStart()
}

// cutWire cancels downloads and callbacks; what was not done goes back.
func (r *run) cutWire() {
	r.cut(crawl.ErrStopped)
	r.last.Reset(lastGrace)
}

// ended reports whether everything is over, after it has asked those who listen
// to the idle signal.
func (r *run) ended() bool {
	switch {
	case r.stepping || r.active > 0:
		return false
	case r.err != nil:
		return r.started
	case len(r.done)+len(r.progress)+len(r.acks)+len(r.msgs) > 0:
		return false
	case r.stopping:
		r.hurryStart()
		return r.started && r.inbox.close()
	}
	return r.started && !r.hold && r.empty && r.idle()
}

// hurryStart leaves a Start behind that does not end although all else has: it
// may be reading from a terminal.
func (r *run) hurryStart() {
	if !r.started && !r.hurried {
		r.hurried = true
		r.last.Reset(lastGrace)
	}
}

// idle asks whether the crawl is really over. Those who listen are not asked
// again if all that came of it was refused.
func (r *run) idle() bool {
	switch {
	case time.Now().Before(r.idleAgain):
		return false
	case r.asked:
		return r.inbox.close()
	}
	err := crawl.Send(r.work, r.e.env.Signals, crawl.SpiderIdle{})
	if stop := new(crawl.CloseError); errors.As(err, &stop) {
		r.e.closeSpider(stop.Reason)
		return r.inbox.close()
	}
	if errors.Is(err, crawl.ErrDontClose) {
		r.idleAgain = time.Now().Add(heartbeat)
		r.timer.Reset(heartbeat) // no earlier than idleAgain, or it would be asked at every other beat
		return false
	}
	r.e.signalErr("SpiderIdle", err)
	r.asked = true
	return len(r.msgs) == 0 && r.inbox.close()
}
