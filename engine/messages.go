package engine

import (
	"context"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/scheduler"
)

// message is what workers and Start tell the loop.
type message struct {
	progress scheduler.Progress // if Lease is set
	outcome  *scheduler.Outcome
	changes  []func(any) // of the spider's state
	bytes    int64       // of the bytes gate, which the step has held
	ack      chan error  // receives once a step took the message
	look     bool        // there is room for more

	// Of Start.
	start     bool // an entry: it may be held back
	resumed   bool // the spider is ready to go on
	startOver bool // Start has returned
}

// send hands a message to the loop.
func (r *run) send(m message) {
	select {
	case r.msgs <- m:
	case <-r.over:
	}
}

// deliver hands a message to the loop and waits until a step took it.
func (r *run) deliver(ctx context.Context, m message) error {
	m.ack = make(chan error, 1)
	select {
	case r.msgs <- m:
	case <-r.over:
		return crawl.ErrStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-m.ack:
		return err
	case <-r.over:
		return crawl.ErrStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// undone waits before a step that was undone goes back, longer with each one
// since the last that was not: what it needs (a database) may take a while to
// come back. A stop ends the wait.
func (r *run) undone(ctx context.Context) {
	n := min(r.undos.Add(1), 5)
	t := time.NewTimer(time.Second << (n - 1))
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.e.closing:
	case <-ctx.Done():
	}
}
