package downloader

import (
	"context"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"
)

type sentKey struct{}

// sending is what a handler reports to the one who called [WithSent].
type sending struct {
	tried atomic.Bool

	mu   sync.Mutex
	f    func(time.Time) // nil once it was called
	sent time.Time       // zero if the headers were not written
}

// WithSent returns a context for one fetch whose handler calls f once, with the
// present time, when the headers of the request are written. f is not called
// for a request that never gets so far, and never after Fetch returned; it may
// be called by another goroutine than Fetch's and must not block. Of several
// requests that a fetch sends, the first counts.
func WithSent(ctx context.Context, f func(time.Time)) context.Context {
	return context.WithValue(ctx, sentKey{}, &sending{f: f})
}

// tried notes that a handler is about to use the wire.
func tried(ctx context.Context) {
	if s := sendingOf(ctx); s != nil {
		s.tried.Store(true)
	}
}

// sendingOf returns nil without [WithSent]; all methods of that do nothing.
func sendingOf(ctx context.Context) *sending {
	s, _ := ctx.Value(sentKey{}).(*sending)
	return s
}

// Tried reports whether a handler tried to use the wire in a fetch with this
// context, which [WithSent] made, whatever became of it. It is false if the
// request was answered or refused on the way.
func Tried(ctx context.Context) bool {
	s := sendingOf(ctx)
	return s != nil && s.tried.Load()
}

// trace lets net/http report: when it sends the request, and on which connection
// the response is awaited.
func trace(ctx context.Context, a *awaited) (context.Context, *sending) {
	s := sendingOf(ctx)
	if s != nil {
		s.tried.Store(true)
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: a.await, WroteHeaders: s.wrote}), s
}

// wrote is called by the goroutine that writes to the connection.
func (s *sending) wrote() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f != nil {
		s.sent = time.Now()
		s.f(s.sent)
		s.f = nil
	}
}

// end makes sure that nothing is reported from here on.
func (s *sending) end() {
	if s != nil {
		s.mu.Lock()
		s.f = nil
		s.mu.Unlock()
	}
}

// since returns the time that passed since the request was sent, or since start
// if that is not known.
func (s *sending) since(start time.Time) time.Duration {
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.sent.After(start) {
			start = s.sent
		}
	}
	return time.Since(start)
}
