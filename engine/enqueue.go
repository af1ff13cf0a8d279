package engine

import (
	"errors"
	"fmt"
	"sync"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/scheduler"
)

// inbox holds what is enqueued from outside of steps until the loop takes it. It
// has no bound: a handler that the loop calls must never wait for the loop.
type inbox struct {
	wake   chan struct{} // receives when something was put
	mu     sync.Mutex
	list   []scheduler.Entry
	closed bool
}

// put adds an entry and reports whether it will be taken.
func (b *inbox) put(e scheduler.Entry) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.list = append(b.list, e)
	select {
	case b.wake <- struct{}{}:
	default:
	}
	return true
}

// take returns what is there.
func (b *inbox) take() []scheduler.Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.list
	b.list = nil
	return list
}

// close makes sure that nothing is put any more, if nothing is there, and reports
// whether it did.
func (b *inbox) close() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = b.closed || len(b.list) == 0
	return b.closed
}

// takeEnqueued makes a step of each request from outside.
func (r *run) takeEnqueued() {
	list := r.inbox.take()
	for i := range list {
		r.enqueued++
		key := scheduler.Key{Ordinal: r.enqueued}
		r.done = append(r.done, scheduler.Outcome{Key: key, Kind: scheduler.Enqueue, Push: list[i : i+1]})
	}
}

// enqueue is the Enqueue of [crawl.Env].
func (e *Engine) enqueue(r *crawl.Request) error {
	run := e.running.Load()
	switch {
	case r == nil:
		return errors.New("enqueue: the request is nil")
	case run == nil:
		return fmt.Errorf("enqueue %v: the spider is not open yet", r)
	case e.isClosing():
		return fmt.Errorf("enqueue %v: %w", r, crawl.ErrStopped)
	}
	entry, err := e.admit(run.work, r, false)
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	if entry.Request == nil {
		return nil
	}
	entries := []scheduler.Entry{entry}
	e.resolve(run.work, entries)
	if !run.inbox.put(entries[0]) {
		return fmt.Errorf("enqueue %v: %w", r, crawl.ErrStopped)
	}
	return nil
}

// needsBackout is the NeedsBackout of [crawl.Env].
func (e *Engine) needsBackout() bool {
	run := e.running.Load()
	return run == nil || e.isClosing() || run.wire.full() || run.bytes.Load() > e.cfg.MaxBytes
}

func (e *Engine) isClosing() bool {
	select {
	case <-e.closing:
		return true
	default:
		return false
	}
}
