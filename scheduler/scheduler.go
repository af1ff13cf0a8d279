package scheduler

import (
	"context"
	"fmt"

	"github.com/skeincrawl/skein/crawl"
)

// A Scheduler is the least that a scheduler of someone else's has to be (Scrapy's
// BaseScheduler): it accepts requests and hands them out. [Register] gives it a
// name, and [Adapt] makes a [Frontier] of it, which adds slots, delays, NotBefore,
// leases and feeds.
//
// What else it can do are the interfaces [Opener], [Closer], [Lener],
// [HeadPeeker], [Readier] and [Durable]. All its methods are called by one
// goroutine at a time, and none may wait for requests to appear: while one runs
// nothing is committed or started. An error, or a panic, of any of them ends the
// crawl. The requests that it holds are its own until Next returns them, and it
// must not change them.
type Scheduler interface {
	// Enqueue takes a request. If it answers false the request is refused, most
	// often as a duplicate: RequestDropped is sent and it does not come again. The
	// scheduler filters by itself, or not at all; DontFilter asks it not to.
	Enqueue(ctx context.Context, r *crawl.Request) (bool, error)

	// Next removes and returns a request, nil if there is none to start now.
	Next(ctx context.Context) (*crawl.Request, error)

	// HasPending reports whether Next will return something now or later: the
	// crawl does not end before it says no.
	HasPending(ctx context.Context) (bool, error)
}

// An Opener is a [Scheduler] that is told when the crawl begins, before any other
// of its methods is called. The crawl waits for it; an error ends the crawl before
// its first request.
type Opener interface {
	Open(ctx context.Context) error
}

// A Closer is a [Scheduler] that is told when the crawl ends and why, after every
// other method. The crawl waits for it.
type Closer interface {
	Close(ctx context.Context, reason string) error
}

// A Lener is a [Scheduler] that can tell how many requests it holds, those that
// wait for their time too. Without it only those show in logs and limits that
// Next has returned.
type Lener interface {
	Len(ctx context.Context) (int, error)
}

// A HeadPeeker is a [Scheduler] that can show what Next would return, nil for
// nothing. While as many requests are parked as may be, the frontier takes one
// more if it sees that it can start at once.
type HeadPeeker interface {
	Peek(ctx context.Context) (*crawl.Request, error)
}

// A Readier is a [Scheduler] that tells when Next has something new by itself.
// The channel stays the same and is never closed. Without it Next is asked when a
// step or a push is over, and every five seconds.
type Readier interface {
	Ready() <-chan struct{}
}

// A Durable is a [Scheduler] whose requests outlive the process; JOBDIR needs one.
// It keeps what Next returned until Done, and hands out again in the next run what
// was neither done nor returned.
//
// The job directory holds the rest: feeds, the spider's state, cookies, and how
// far Start had come. Done comes once that is in its file, so nothing is lost, but
// the two are no one record: after a crash in between a request is handled a
// second time, and its items are there twice. JOB_SYNC_INTERVAL=0 makes this hold
// after a power cut too.
type Durable interface {
	// Done tells that a request was handled, all that it brought is accepted, and
	// it need not be kept.
	Done(ctx context.Context, r *crawl.Request) error

	// Return takes back, at the end of a run, a request that was not handled. It
	// is pending again, whatever a filter would say. Several come in the order in
	// which Next returned them.
	Return(ctx context.Context, r *crawl.Request) error
}

// Register makes a scheduler available as SCHEDULER=name. The constructor reads
// the settings; files and connections are for Open. Register is called from init
// functions and panics if the name is taken.
func Register(name string, newScheduler func(*crawl.Env) (Scheduler, error)) {
	Frontiers.Register(name, func(env *crawl.Env) (Open, error) {
		s, err := newScheduler(env)
		if err != nil {
			return nil, fmt.Errorf("SCHEDULER %s: %w", name, err)
		}
		open, err := Adapt(env, s)
		if err != nil {
			return nil, fmt.Errorf("SCHEDULER %s: %w", name, err)
		}
		return open, nil
	})
}
