package middleware

import (
	"context"

	"github.com/skeincrawl/skein/crawl"
)

func init() { Registry.Register("start", newStart) }

// newStart marks the requests that Start emits. The mark stays with a request
// over retries and redirects, so that each goes back to the queue of start
// requests.
func newStart(*crawl.Env) (crawl.SpiderMiddleware, error) {
	return func(next crawl.Handler) crawl.Handler {
		return func(ctx context.Context, r *crawl.Response, f *crawl.Failure, out crawl.Out) error {
			if r == nil && f == nil {
				out = out.Through(markStart)
			}
			return next(ctx, r, f, out)
		}
	}, nil
}

func markStart(v any) any {
	r, ok := v.(*crawl.Request)
	if !ok || r.Trail.Start {
		return v
	}
	c := *r
	c.Trail.Start = true
	return &c
}
