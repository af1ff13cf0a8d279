package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
)

type besideKey struct{}

// withBeside returns a context in which f sends the requests of [crawl.Env]'s
// Fetcher.
func withBeside(ctx context.Context, f crawl.FetcherFunc) context.Context {
	return context.WithValue(ctx, besideKey{}, f)
}

// fetchBeside is the Fetcher of [crawl.Env]: it downloads a request on behalf of
// the one that ctx belongs to.
func (e *Engine) fetchBeside(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	f, ok := ctx.Value(besideKey{}).(crawl.FetcherFunc)
	if !ok {
		return nil, fmt.Errorf("fetch %v beside the queue: the context is not that of a download", r)
	}
	return downloader.Follow(f).Fetch(ctx, r)
}

// withinBeside returns the context of a download beside the queue. What is
// fetched within takes no place of its own, lest it waits for the one that the
// outer fetch holds; and it does not start the delay of the request that all this
// is done for.
func (e *Engine) withinBeside(ctx context.Context) context.Context {
	ctx = withBeside(ctx, func(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
		resp, _, err := e.fetch(ctx, e.slotOf(ctx, r), r)
		return resp, err
	})
	return downloader.WithSent(ctx, func(time.Time) {})
}
