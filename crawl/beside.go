package crawl

import (
	"context"
	"sync"
)

// A StepLog takes what components note while the requests of one step are
// downloaded. It is safe for concurrent use.
type StepLog struct {
	mu      sync.Mutex
	cookies []byte
	gaveUp  string
}

type stepLogKey struct{}

// WithStepLog returns a context in which components note into log.
func WithStepLog(ctx context.Context, log *StepLog) context.Context {
	return context.WithValue(ctx, stepLogKey{}, log)
}

// NoteGaveUp notes that the request of the step was not tried again although its
// response asks for it, and why. Outside a step it does nothing.
func NoteGaveUp(ctx context.Context, reason string) {
	if log, ok := ctx.Value(stepLogKey{}).(*StepLog); ok {
		log.mu.Lock()
		defer log.mu.Unlock()
		log.gaveUp = reason
	}
}

// GaveUp returns what NoteGaveUp noted, "" if it was not called.
func (l *StepLog) GaveUp() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gaveUp
}

// NoteCookies adds a change of cookies to the step that ctx belongs to. It is
// kept with the step, and given back as Env.Cookies when the job is resumed, all
// changes one after the other. Outside a step it does nothing.
func NoteCookies(ctx context.Context, change []byte) {
	if log, ok := ctx.Value(stepLogKey{}).(*StepLog); ok {
		log.mu.Lock()
		defer log.mu.Unlock()
		log.cookies = append(log.cookies, change...)
	}
}

// TakeCookies returns the changes noted since the last call, nil if there were
// none.
func (l *StepLog) TakeCookies() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	changes := l.cookies
	l.cookies = nil
	return changes
}

type waitKey struct{}

// WithWait returns a context for a download that gives its place back while it
// waits for something else; wait calls what it is given, and returns after it.
func WithWait(ctx context.Context, wait func(f func())) context.Context {
	return context.WithValue(ctx, waitKey{}, wait)
}

// WhileWaiting calls f, in which a middleware waits for something else than the
// wire, such as the robots.txt that another request is reading. The download that
// ctx belongs to takes no place of CONCURRENT_REQUESTS meanwhile.
func WhileWaiting(ctx context.Context, f func()) {
	if wait, ok := ctx.Value(waitKey{}).(func(func())); ok {
		wait(f)
		return
	}
	f()
}
