package scheduler

import (
	"context"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// A Frontier holds the requests of a crawl and decides which may start. It is
// what the engine drives. The default one keeps everything in this process, in
// memory or in a job directory.
//
// A request is *pending* (queued or delayed), *leased* (handed out), or gone. A
// lease ends with an [Outcome]; a lease without one, because the process died,
// is pending again when the job is opened, in its old place.
type Frontier interface {
	// Step takes what happened to leases, commits the outcomes, each as one
	// atomic record and in their order, and grants up to want leases to requests
	// that may start now. It does not wait for requests. It returns when the
	// outcomes are buffered: they reach the file within 10 ms, and with
	// JOB_SYNC_INTERVAL=0 they are on the disk before Step returns.
	//
	// The engine calls Step from one goroutine at a time. An outcome whose Key
	// was committed before in this run changes nothing. An error is fatal: the
	// crawl ends, and nothing that was not buffered is committed. A failed write
	// in the background is returned by the next Step.
	//
	// The frontier keeps nothing of progress and done, and the engine nothing of
	// the grant's slices, beyond the next call.
	Step(ctx context.Context, progress []Progress, done []Outcome, want int) (Grant, error)

	// Ready receives when something may be leasable that was not when the last
	// Step returned, other than by the passing of time, which Grant.Next tells.
	// The channel is buffered and never closed.
	Ready() <-chan struct{}

	// Acquire waits until slot may be used for a request that did not come from
	// the queue: robots.txt, a media file, [crawl.Out.Fetch]. For a lease whose
	// own download is not over it waits only for the slot's delay and takes no
	// place, in its own slot or another, since the lease holds one place already
	// and must not wait for another. For a settled lease it takes a place ahead
	// of the queue; lease 0 counts as settled. release must be called once, when that download ended, with
	// what it taught. Acquire is safe for concurrent use, also beside Step, and
	// gives up with ctx.
	Acquire(ctx context.Context, lease LeaseID, slot string) (release func(SlotHint), err error)

	// Close gives back what is leased, to its old place, and closes the job. The
	// reason is kept; "finished" marks the job as finished, provided that Start
	// has ended and nothing is pending; [NoResponse] makes the next run start as
	// if Start had never run. Step and Acquire must not be called afterwards.
	// Close may be called again, and then does nothing.
	Close(ctx context.Context, reason string) error
}

// NoResponse is the reason of a crawl whose start requests all failed.
const NoResponse = "no_response"

// A LeaseID names a lease within a run. 0 is never one.
type LeaseID uint64

// A Lease is one request handed out.
type Lease struct {
	ID   LeaseID
	Slot string

	// Body is the stored form of the request. It is the engine's from here on.
	// It is nil for a request that could not be stored, which Request then holds.
	Body    []byte
	Request *crawl.Request

	// Paced tells that the slot has a delay and waits for Progress.Sent.
	Paced bool

	// Careful tells that the request may have been with spider code when an
	// earlier process died: its callback must not run before a Step has taken
	// Progress.Entered.
	Careful bool
}

// Progress tells what happened to a lease before its outcome.
type Progress struct {
	Lease LeaseID

	// Sent is when the request went out on the wire. It starts the slot's delay.
	// Zero if it is not known, or not new.
	Sent time.Time

	// Settled means: the download is over, the slot is free. The request stays
	// leased until its outcome.
	Settled bool

	Hint SlotHint

	// Entered means: spider code begins to handle the lease. If the process dies
	// before the lease ends or Left follows, it may have died of that.
	Entered bool

	// Left means: spider code is over, although the outcome has yet to come.
	Left bool
}

// A SlotHint is what a download taught about its slot.
type SlotHint struct {
	// Unused means that nothing went out on the wire (a cached or refused
	// request): the slot's delay does not count from it.
	Unused bool

	// Sent tells that the slot was told when the request went out. The frontier
	// sets it.
	Sent bool

	// NoThrottle keeps the response from changing the delay of the slot.
	NoThrottle bool

	// Latency is the time to the headers, 0 if there were none.
	Latency time.Duration

	// Status is the status of the response, 0 if there was none, and Size the
	// length of its body as it came, in bytes.
	Status, Size int

	// BackOff is the time before which the server wants no more requests
	// (Retry-After). Zero if it said nothing.
	BackOff time.Time
}

// A Kind is how a lease ended.
type Kind uint8

// The kinds of outcome.
const (
	Done       Kind = iota // handled: its pushes, feed bytes and state are made real
	Release                // never started, or cut by the stop: pending again in its old place
	Dead                   // given up by the frontier's user without being handled
	Part                   // a part of a step that is too large for one record; its Done follows
	StartEntry             // one emission of Start; there is no lease
	Enqueue                // a request from outside of steps; there is no lease
	StartEnded             // Start returned and will not be called again
	Notes                  // values that components keep; there is no lease
)

// A Key makes the repetition of an outcome harmless. For a lease it is the
// lease's ID and, for a Part, its number from 1; for a start entry 0 and its
// ordinal, and for an Enqueue 0 and its own, each counted from 1 in every run.
type Key struct {
	Lease   LeaseID
	Ordinal uint64
}

// An Outcome is one crawl step, or for Kind Part the beginning of one.
type Outcome struct {
	Key  Key
	Kind Kind

	// Push are the new requests. They become visible with their Done, never
	// before. The frontier filters them and reports those that it refused.
	Push []Entry

	// Feeds are the bytes of the step's items.
	Feeds []FeedBytes

	// Items are hashes of the items of a start entry, so that an interrupted
	// Start does not export them again.
	Items []uint64

	// State is the spider's state after the step; nil means unchanged.
	State []byte

	// Cookies are the changes of cookies that the step brought.
	Cookies []byte

	// Answered tells that a response came, of whatever status.
	Answered bool

	// Failed is why the request was given up after its retries; "" if it was not.
	// A job keeps such requests, to be listed and put back.
	Failed string

	// Notes are what components keep in the job, of the kind of that name. Of
	// those with the same key the last one counts; they have no Key above.
	Notes []crawl.Note
}

// An Entry is a request on its way into the frontier. The worker that emitted
// it has encoded it and computed its fingerprint.
type Entry struct {
	Request     *crawl.Request // as emitted; kept only if Body is nil and Known is false
	Fingerprint Fingerprint
	Slot        string
	Body        []byte // stored form; nil if it can not be stored
	Why         error  // why not, if Body is nil

	// Callback and Errback are their names in the stored form.
	Callback, Errback string

	// Known tells that the fingerprint was already in the filter when the worker
	// looked, so it saved the encoding. The frontier refuses the entry.
	Known bool
}

// FeedBytes are the rendered items of one step for one feed.
type FeedBytes struct {
	Feed  int // index into the feeds of the job
	Bytes []byte
	Items int
}

// A Grant is the answer of a Step.
type Grant struct {
	Leases []Lease

	// Refused are the entries that the duplicate filter refused, in their order.
	Refused []Entry

	// Next is the time from now after which something is leasable for sure, if
	// nothing else happens before; 0 if that can not be told.
	Next time.Duration

	State State

	// Reason is why the frontier is Stopping; "" stands for "shutdown".
	Reason string

	// Backlog is the number of pending requests.
	Backlog int64
}

// State is the state of the frontier as a whole.
type State uint8

// The states.
const (
	Running  State = iota // something is pending or leased
	Empty                 // nothing is queued, delayed or leased
	Paused                // nothing is granted until Resume
	Stopping              // the crawl is asked to stop, by the frontier's own side
)

// StartState tells whether Start has to run.
type StartState uint8

// The states of Start.
const (
	StartFresh   StartState = iota // it was never called in this round
	StartPartial                   // it was cut short: what it emits again is passed over
	StartDone                      // it has ended
)

// Resume is what the constructor of a frontier returns beside it.
type Resume struct {
	Resumed bool // the job was stopped before its end, whatever the reason
	Round   int  // 1 for the first; each finished job that runs again adds one
	Pending int64
	Start   StartState

	// Accepted are the entries and items that an interrupted Start had emitted.
	Accepted *Accepted

	State   []byte // as of the last committed step; nil if there is none
	Cookies []byte // the changes that steps brought, without those that have no effect any more
	Reason  string // why the last run ended, "" if it was killed

	Notes map[string][]byte // the last value of each note
}

// A Controller is a [Frontier] whose leasing can be steered at run time. Its
// methods are safe for concurrent use.
type Controller interface {
	Pause()
	Resume()
}

// A Haser is a [Frontier], or a [Filter], that can tell early that a fingerprint
// is known, which saves the encoding of the request. Has is safe for concurrent
// use, also beside Step and Seen, and marks nothing. A false answer promises
// nothing.
type Haser interface {
	Has(fp Fingerprint) bool
}

// Slots is what the frontier needs of the downloader's slots. The frontier
// serialises all calls.
type Slots interface {
	// Ready reports whether a request of the slot may start now. If not, at is
	// when it may because its delay is over, or zero if it waits for a download
	// of the slot to end or to be sent.
	Ready(slot string, now time.Time) (ok bool, at time.Time)

	// Take counts a request of the slot as active.
	Take(slot string, now time.Time) (paced bool)

	// Sent starts the slot's delay.
	Sent(slot string, at time.Time)

	// Free ends a request of the slot. One with neither hint.Sent nor hint.Unused
	// set went out at a time that nobody knows: it starts the delay now.
	Free(slot string, now time.Time, hint SlotHint)

	// Active returns the number of active requests of the slot.
	Active(slot string) int

	// DelayOnly works as Ready, for a request that takes no place.
	DelayOnly(slot string, now time.Time) (ok bool, at time.Time)
}

// A SlotRestorer is [Slots] that go on with what an earlier run learned.
type SlotRestorer interface {
	// Restore is called before any other method, with the notes of the job, if it
	// has any. It leaves them as they are. After an error the slots are as new.
	Restore(notes map[string][]byte, now time.Time) error
}
