package crawl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
)

// The events of a crawl, in the order in which they can happen. Handlers are
// called one after the other by the goroutine in which the event happens, which
// waits for them.
type (
	// SpiderOpened is sent when everything is open and before the first request.
	// A handler's [CloseSpider] ends the crawl.
	SpiderOpened struct{ Spider Spider }

	// EngineStarted is sent after SpiderOpened, when the loop begins.
	EngineStarted struct{}

	// RequestScheduled is sent for a request on its way to the scheduler, before
	// the duplicate filter. A handler's [Ignore] drops the request, and nothing more
	// is sent for it.
	RequestScheduled struct{ Request *Request }

	// RequestDropped is sent when the scheduler refused a request: as a duplicate,
	// or because the spider does not admit it (see [Admitter]).
	RequestDropped struct{ Request *Request }

	// RequestReachedDownloader is sent when a request is about to be downloaded.
	RequestReachedDownloader struct{ Request *Request }

	// RequestLeftDownloader is sent when its download ended, whatever the end.
	RequestLeftDownloader struct{ Request *Request }

	// ResponseDownloaded is sent for every response as it came.
	ResponseDownloaded struct {
		Response *Response
		Request  *Request
	}

	// ResponseReceived is sent for a response that passed the middlewares.
	ResponseReceived struct {
		Response *Response
		Request  *Request
	}

	// ItemScraped is sent for an item that is part of its step.
	ItemScraped struct {
		Item     any
		Response *Response // nil for an item of Start
	}

	// ItemDropped is sent for an item that was dropped (see [Drop]).
	ItemDropped struct {
		Item     any
		Response *Response
		Err      error
	}

	// ItemError is sent for an item whose export failed.
	ItemError struct {
		Item     any
		Response *Response
		Err      error
	}

	// SpiderError is sent when a callback, an errback or Start failed. Response
	// is nil for Start and for a failure without one.
	SpiderError struct {
		Err      error
		Response *Response
	}

	// MemoryWarningReached is sent once, when the memory in use has passed
	// MEMUSAGE_WARNING_MB (Scrapy's memusage_warning_reached).
	MemoryWarningReached struct{}

	// SchedulerEmpty is sent each time the engine looks for a request and the
	// scheduler holds none, not even one that waits for its slot or its time.
	// [Wait] waits for it.
	SchedulerEmpty struct{}

	// SpiderIdle is sent when nothing is queued, in progress or still to start.
	// A request that a handler adds with Env.Enqueue keeps the crawl alive, unless it
	// is refused. So does a handler's [ErrDontClose]: it is asked again after 5 s, or
	// when the crawl is idle again. Its [CloseSpider] sets the reason.
	SpiderIdle struct{}

	// SpiderClosed is sent when the scheduler and the feeds are closed.
	SpiderClosed struct {
		Spider Spider
		Reason string
	}

	// EngineStopped is sent at the very end.
	EngineStopped struct{}
)

// ErrDontClose is returned by a handler of [SpiderIdle] that has more to do.
var ErrDontClose = errors.New("don't close the spider")

// Signals connects events with their handlers. It is safe for concurrent use.
type Signals struct {
	mu       sync.RWMutex
	m        map[reflect.Type]any // event type -> []func(context.Context, E) error
	watching map[reflect.Type]map[chan struct{}]struct{}
	waits    chan struct{} // see Waits
}

// On calls f for every event of type E. Handlers must be safe for concurrent
// use: events of several requests happen at the same time.
func On[E any](s *Signals, f func(ctx context.Context, event E) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		s.m = map[reflect.Type]any{}
	}
	t := reflect.TypeFor[E]()
	old, _ := s.m[t].([]func(context.Context, E) error)
	s.m[t] = append(slices.Clip(old), f)
}

// Send calls the handlers of an event in the order in which they were added, then
// tells those who [Wait] for it, and returns the errors of the handlers joined. A
// panic of a handler is one of the errors.
func Send[E any](ctx context.Context, s *Signals, event E) error {
	t := reflect.TypeFor[E]()
	s.mu.RLock()
	fs, _ := s.m[t].([]func(context.Context, E) error)
	watched := len(s.watching[t]) > 0
	s.mu.RUnlock()
	var errs []error
	for _, f := range fs {
		if err := Guard(func() error { return f(ctx, event) }); err != nil {
			errs = append(errs, err)
		}
	}
	if watched {
		s.tell(t)
	}
	return errors.Join(errs...)
}

// A PanicError is a panic of code that a crawl called.
type PanicError struct {
	Value any
	Stack []byte
}

// Error returns the value of the panic.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value of the panic, if it was an error.
func (e *PanicError) Unwrap() error { err, _ := e.Value.(error); return err }

// Guard calls f and turns a panic into a [PanicError]. A call of
// [runtime.Goexit] by f is not caught.
func Guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}
