package crawl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
)

// Wait blocks until done reports true. It asks at once, and again after every
// event of type E; a nil done waits for the next event. So a Start that gives
// way to the requests of callbacks waits before each of its own:
//
//	crawl.Wait[crawl.SchedulerEmpty](ctx, env.Signals, func() bool { return !env.NeedsBackout() })
//
// done is called in the caller's goroutine; events that happen while it runs
// count as one. An event counts also if ctx ended since. The error wraps the cause of ctx, which is [ErrStopped] in a
// Start that is stopped.
//
// Start, an extension and goroutines of their own may wait. A callback and a
// handler of a signal get an error at once: what they wait for may not happen
// before they return.
func Wait[E any](ctx context.Context, s *Signals, done func() bool) error {
	t := reflect.TypeFor[E]()
	if ctx.Value(noWaitKey{}) != nil {
		return fmt.Errorf("wait for %v: %w", t, errNoWait)
	}
	told, forget := s.watch(t)
	defer forget()
	if done != nil && done() {
		return nil
	}
	for {
		ended := false
		select {
		case <-told:
		case <-ctx.Done():
			ended = !received(told) // of both the event came first
		}
		switch {
		case ended:
			return fmt.Errorf("wait for %v: %w", t, context.Cause(ctx))
		case done == nil || done():
			return nil
		}
	}
}

// received takes what is in a channel, and reports whether there was anything.
func received(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

var errNoWait = errors.New("callbacks and handlers of signals can not wait for an event: it may not happen before they return")

type noWaitKey struct{}

// WithoutWait returns a context in which [Wait] fails at once, for code that
// holds the crawl up while it runs.
func WithoutWait(ctx context.Context) context.Context {
	return context.WithValue(ctx, noWaitKey{}, true)
}

// watch returns a channel that receives after events of a type, and what ends
// that.
func (s *Signals) watch(t reflect.Type) (told chan struct{}, forget func()) {
	told = make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watching == nil {
		s.watching = map[reflect.Type]map[chan struct{}]struct{}{}
	}
	if s.watching[t] == nil {
		s.watching[t] = map[chan struct{}]struct{}{}
	}
	s.watching[t][told] = struct{}{}
	select {
	case s.waitsHeld() <- struct{}{}:
	default:
	}
	return told, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watching[t], told)
	}
}

// tell tells those who wait for events of a type.
func (s *Signals) tell(t reflect.Type) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for told := range s.watching[t] {
		select {
		case told <- struct{}{}:
		default:
		}
	}
}

// Waits returns a channel that receives when somebody begins to [Wait]. The engine
// then looks again: what is waited for may be so already.
func (s *Signals) Waits() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waitsHeld()
}

// waitsHeld is for who holds mu.
func (s *Signals) waitsHeld() chan struct{} {
	if s.waits == nil {
		s.waits = make(chan struct{}, 1)
	}
	return s.waits
}
