package extensions

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// closings collects the reasons for which a crawl is asked to close.
type closings struct {
	mu      sync.Mutex
	reasons []string
}

func (c *closings) close(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reasons = append(c.reasons, reason)
}

func (c *closings) check(t *testing.T, want ...string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Equal(c.reasons, want) {
		t.Errorf("asked to close with %q, want %q", c.reasons, want)
	}
}

func TestCloseSpiderAtCounts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		setting, reason string
		send            func(*testing.T, *crawl.Env)
	}{
		{"CLOSESPIDER_PAGECOUNT=3", "closespider_pagecount", func(t *testing.T, e *crawl.Env) { send(t, e, crawl.ResponseReceived{}) }},
		{"CLOSESPIDER_ITEMCOUNT=3", "closespider_itemcount", func(t *testing.T, e *crawl.Env) { send(t, e, crawl.ItemScraped{}) }},
		{"CLOSESPIDER_ERRORCOUNT=3", "closespider_errorcount", func(t *testing.T, e *crawl.Env) { send(t, e, crawl.SpiderError{Err: errors.New("x")}) }},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			env, _ := testEnv(t, tc.setting)
			var c closings
			env.CloseSpider = c.close
			if ext := build(t, "closespider", env); ext != nil {
				t.Errorf("got %v to run, want nothing", ext)
			}
			tc.send(t, env)
			tc.send(t, env)
			c.check(t)
			tc.send(t, env)
			c.check(t, tc.reason)
			tc.send(t, env) // what was in progress does not ask again
			c.check(t, tc.reason)
		})
	}
}

func TestCloseSpiderIsOffByDefault(t *testing.T) {
	t.Parallel()
	env, _ := testEnv(t)
	env.CloseSpider = func(reason string) { t.Errorf("asked to close with %q", reason) }
	if ext := build(t, "closespider", env); ext != nil {
		t.Errorf("got %v to run, want nothing", ext)
	}
	send(t, env, crawl.ItemScraped{})
	send(t, env, crawl.ResponseReceived{})
	send(t, env, crawl.SpiderError{})
}

func TestCloseSpiderTimeout(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		run  time.Duration
		want []string
	}{
		{"crawl ends before", 59 * time.Second, nil},
		{"time is over", 61 * time.Second, []string{"closespider_timeout"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				env, _ := testEnv(t, "CLOSESPIDER_TIMEOUT=1m")
				var c closings
				env.CloseSpider = c.close
				ext := build(t, "closespider", env)
				ctx, cancel := context.WithTimeout(t.Context(), tc.run)
				defer cancel()
				done := make(chan error, 1)
				go func() { done <- ext.Run(ctx) }()
				<-ctx.Done()
				if err := <-done; err != nil {
					t.Errorf("Run: %v", err)
				}
				c.check(t, tc.want...)
			})
		})
	}
}
