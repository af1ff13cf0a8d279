package engine

import (
	"cmp"
	"context"

	"github.com/skeincrawl/skein/crawl"
)

type failureKey struct{}

// noteFailure tells the worker that ctx belongs to of a failure which nothing
// before the spider has handled.
func noteFailure(ctx context.Context, f *crawl.Failure) {
	if to, ok := ctx.Value(failureKey{}).(**crawl.Failure); ok {
		*to = f
	}
}

// failed returns why the request was given up, "" if it was not. Nor was one that
// a component has refused, or one whose status asks for no other try.
func (w *worker) failed() string {
	switch {
	case w.gaveUp != "":
		return w.gaveUp
	case w.failure == nil || w.failure.Kind == crawl.FailIgnored:
		return ""
	case w.failure.Kind == crawl.FailStatus:
		return w.log.GaveUp()
	}
	return w.failure.Error()
}

// tryAgain carries out what a callback or an errback asks for.
func (w *worker) tryAgain(s *step, asked *crawl.RetryError) {
	next, ok := w.e.retry.Next(cmp.Or(asked.Request, w.req), asked.Reason)
	if !ok {
		w.gaveUp = cmp.Or(asked.Reason, "unspecified")
		return
	}
	w.failure = nil
	w.follow(s, next)
}
