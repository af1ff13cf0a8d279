package downloader

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// ENG-19, ENG-20: a chain is followed in a loop, up to a bound that no honest one
// reaches.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f := Follow(crawl.FetcherFunc(func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
			if n := len(r.Trail.Redirects); n < 3 {
				c := *r
				c.URL, c.NotBefore = fmt.Sprintf("http://a.test/%d", n), time.Now().Add(time.Minute)
				c.Trail.Redirects = append(c.Trail.Redirects, crawl.Hop{URL: r.URL})
				return nil, fmt.Errorf("redirect: %w", crawl.Reschedule(&c))
			}
			return &crawl.Response{URL: r.URL}, nil
		}))
		resp := mustFetch(t, f, &crawl.Request{URL: "http://a.test/"})
		if resp.URL != "http://a.test/2" || time.Since(start) != 3*time.Minute {
			t.Errorf("%s after %v, want http://a.test/2 after 3m", resp.URL, time.Since(start))
		}
	})
}

func TestFollowEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := errors.New("failed")
		_, err := Follow(crawl.FetcherFunc(func(context.Context, *crawl.Request) (*crawl.Response, error) {
			return nil, failed
		})).Fetch(t.Context(), &crawl.Request{})
		if !errors.Is(err, failed) {
			t.Errorf("error = %v, want %v", err, failed)
		}

		calls := 0
		again := Follow(crawl.FetcherFunc(func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
			calls++
			return nil, crawl.Reschedule(r)
		}))
		if _, err := again.Fetch(t.Context(), &crawl.Request{}); err == nil || calls != maxFollow {
			t.Errorf("error = %v after %d calls, want one after %d", err, calls, maxFollow)
		}

		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(crawl.ErrStopped) })
		_, err = again.Fetch(ctx, &crawl.Request{NotBefore: time.Now().Add(time.Hour)})
		if !errors.Is(err, crawl.ErrStopped) {
			t.Errorf("error = %v, want one that wraps ErrStopped", err)
		}
	})
}
