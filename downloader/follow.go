package downloader

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// maxFollow bounds the requests that one fetch leads to, against middlewares
// that never stop to ask for another.
const maxFollow = 100

// Follow returns a Fetcher that sends a request to next, and then each request
// that next answers with in its place (see [crawl.Reschedule]), until there is a
// response or an error. It waits until a request's NotBefore. It is for fetches
// beside the scheduler, which otherwise does both.
func Follow(next crawl.Fetcher) crawl.Fetcher {
	return crawl.FetcherFunc(func(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
		for range maxFollow {
			if err := waitUntil(ctx, r.NotBefore); err != nil {
				return nil, fmt.Errorf("wait to fetch %v: %w", r, err)
			}
			resp, err := next.Fetch(ctx, r)
			var again *crawl.RescheduleError
			if !errors.As(err, &again) {
				return resp, err
			}
			r = again.Request
			Holds(ctx, 0)
		}
		return nil, fmt.Errorf("fetch %v: no response after %d requests in a row", r, maxFollow)
	})
}

func waitUntil(ctx context.Context, t time.Time) error {
	if t.IsZero() {
		return nil
	}
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	crawl.WhileWaiting(ctx, func() {
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	})
	return context.Cause(ctx)
}
