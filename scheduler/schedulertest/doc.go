// Package schedulertest is the conformance suite of frontiers. [Contract] holds
// for every one, [Journal] for one that keeps its requests in a job directory,
// [Order] for the default one, which promises exact orders.
package schedulertest

import (
	"context"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/scheduler"
)

// Run is how a test wants one run of a crawl.
type Run struct {
	// Env has settings, spider, callbacks, stats and log. The store sets JobDir
	// if it keeps crawls in one.
	Env *crawl.Env

	// Limit is how many requests of a slot may be active at once.
	Limit int

	// Delay is the time between two requests of a slot.
	Delay time.Duration

	// SlotOf is that of [scheduler.Deps].
	SlotOf func(ctx context.Context, r *crawl.Request) string
}

// A Store keeps one crawl. The frontier that it opens must have made durable
// what a Step commits when the Step returns.
type Store interface {
	// Open begins a run. The run before has been closed, or crashed.
	Open(t testing.TB, r Run) (scheduler.Frontier, scheduler.Resume, error)
}

// Crasher is a [Store] whose crawls outlive their runs. The tests of resumption
// need it.
type Crasher interface {
	// Crash ends the present run as a killed process does: nothing is given back
	// and nothing is closed, and what the run still does has no effect.
	Crash(t testing.TB)
}

// An Opener returns a new, empty store. It is called from several tests at once
// and also within a bubble of testing/synctest.
type Opener func(t testing.TB) Store
