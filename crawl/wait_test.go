package crawl_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/skeincrawl/skein/crawl"
)

// Wait asks at once, and then after each event of its type and no other.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s crawl.Signals
		asked, done := 0, false
		ended := make(chan error, 1)
		go func() {
			ended <- crawl.Wait[event](t.Context(), &s, func() bool { asked++; return done })
		}()
		send := func(want int, send func() error) {
			t.Helper()
			if err := send(); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if asked != want {
				t.Errorf("asked %d times, want %d", asked, want)
			}
		}
		send(1, func() error { return nil })
		send(2, func() error { return crawl.Send(t.Context(), &s, event{}) })
		send(2, func() error { return crawl.Send(t.Context(), &s, crawl.EngineStarted{}) })
		done = true
		send(3, func() error { return crawl.Send(t.Context(), &s, event{}) })
		if err := <-ended; err != nil {
			t.Error(err)
		}
		send(3, func() error { return crawl.Send(t.Context(), &s, event{}) })
	})
}

// Without a condition Wait returns after the next event, when its handlers have
// run, for any number of those who wait.
func TestWaitForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s crawl.Signals
		handled := false
		crawl.On(&s, func(context.Context, event) error { handled = true; return nil })
		ended := make(chan bool, 2)
		for range 2 {
			go func() {
				err := crawl.Wait[event](t.Context(), &s, nil)
				ended <- err == nil && handled
			}()
		}
		synctest.Wait()
		if len(ended) > 0 {
			t.Error("Wait returned before the event")
		}
		if err := crawl.Send(t.Context(), &s, event{}); err != nil {
			t.Error(err)
		}
		if a, b := <-ended, <-ended; !a || !b {
			t.Error("Wait failed, or returned before the handler")
		}
	})
}

// An event that happened before the context ended is not lost over that.
func TestWaitTakesTheEventFirst(t *testing.T) {
	t.Parallel()
	for range 100 {
		var s crawl.Signals
		ctx, cancel := context.WithCancel(t.Context())
		asked := 0
		err := crawl.Wait[event](ctx, &s, func() bool {
			if asked++; asked == 1 {
				if err := crawl.Send(ctx, &s, event{}); err != nil {
					t.Error(err)
				}
				cancel()
			}
			return asked == 2
		})
		if err != nil {
			t.Fatalf("Wait returned %v, want none after %d questions", err, asked)
		}
	}
}

func TestWaitGivesUp(t *testing.T) {
	t.Parallel()
	var s crawl.Signals
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(crawl.ErrStopped)
	never := func() bool { return false }
	if err := crawl.Wait[event](ctx, &s, never); !errors.Is(err, crawl.ErrStopped) || !strings.Contains(err.Error(), "wait for crawl_test.event") {
		t.Errorf("a context that is over: %v", err)
	}
	if err := crawl.Wait[event](crawl.WithoutWait(t.Context()), &s, func() bool { return true }); err == nil || errors.Is(err, crawl.ErrStopped) {
		t.Errorf("within a callback: %v", err)
	}
	if err := crawl.Wait[event](t.Context(), &s, func() bool { return true }); err != nil {
		t.Errorf("what is so already: %v", err)
	}
}
