package extensions

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// CLOSE-03, CLOSE-04: CLOSESPIDER_PAGECOUNT_NO_ITEM counts from the last item, and CLOSESPIDER_PAGECOUNT
// is looked at first.
func TestClosePagesWithoutItem(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		settings []string
		want     []string
	}{
		{"CLOSE-03 alone", []string{"CLOSESPIDER_PAGECOUNT_NO_ITEM=3"}, []string{"closespider_pagecount_no_item"}},
		{
			"CLOSE-04 long before PAGECOUNT",
			[]string{"CLOSESPIDER_PAGECOUNT_NO_ITEM=3", "CLOSESPIDER_PAGECOUNT=20"},
			[]string{"closespider_pagecount_no_item"},
		},
		{
			"at the same page as PAGECOUNT",
			[]string{"CLOSESPIDER_PAGECOUNT_NO_ITEM=3", "CLOSESPIDER_PAGECOUNT=5"},
			[]string{"closespider_pagecount", "closespider_pagecount_no_item"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env, _ := testEnv(t, tc.settings...)
			var c closings
			env.CloseSpider = c.close
			if ext := build(t, "closespider", env); ext != nil {
				t.Errorf("got %v to run, want nothing", ext)
			}
			pages := func(n int) {
				for range n {
					send(t, env, crawl.ResponseReceived{})
				}
			}
			pages(2)
			send(t, env, crawl.ItemScraped{})
			pages(2)
			c.check(t)
			pages(1)
			c.check(t, tc.want...)
			pages(5) // what was in progress does not ask again
			c.check(t, tc.want...)
		})
	}
}

// CLOSE-07, CLOSESPIDER_TIMEOUT_NO_ITEM: windows follow each other, whole ones count.
func TestCloseTimeoutWithoutItem(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		items []time.Duration // after the start
		end   time.Duration   // when it asks to close
	}{
		{"none", nil, 10 * time.Second},
		{"one in the first window", []time.Duration{time.Second}, 20 * time.Second},
		{"late ones", []time.Duration{9 * time.Second, 11 * time.Second, 12 * time.Second}, 30 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				env, log := testEnv(t, "CLOSESPIDER_TIMEOUT_NO_ITEM=10")
				start := time.Now()
				var closed []time.Duration
				env.CloseSpider = func(reason string) {
					if reason != "closespider_timeout_no_item" {
						t.Errorf("reason %q", reason)
					}
					closed = append(closed, time.Since(start))
				}
				ext := build(t, "closespider", env)
				done := make(chan error, 1)
				go func() { done <- ext.Run(t.Context()) }()
				for _, at := range tc.items {
					time.Sleep(at - time.Since(start))
					send(t, env, crawl.ItemScraped{})
				}
				if err := <-done; err != nil || !slices.Equal(closed, []time.Duration{tc.end}) {
					t.Errorf("closed after %v, %v, want %v", closed, err, tc.end)
				}
				want := []string{
					"info closespider Spider will stop when no items are produced after 10 seconds.",
					"info closespider Closing spider since no items were produced in the last 10 seconds.",
				}
				if got := messages(t, log); !slices.Equal(got, want) {
					t.Errorf("log:\n got %q\nwant %q", got, want)
				}
			})
		})
	}
}

// Both timers run, and both end with the crawl.
func TestCloseTimersSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env, _ := testEnv(t, "CLOSESPIDER_TIMEOUT_NO_ITEM=10", "CLOSESPIDER_TIMEOUT=5")
		var c closings
		env.CloseSpider = c.close
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("the crawl is over"))
		defer cancel()
		if err := build(t, "closespider", env).Run(ctx); err != nil {
			t.Error(err)
		}
		c.check(t, "closespider_timeout", "closespider_timeout_no_item")
	})
}
