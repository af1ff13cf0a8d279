package scheduler_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
	"github.com/skeincrawl/skein/scheduler/schedulertest"
)

// lifted are slots whose limit somebody else lifts.
type lifted struct {
	*schedulertest.Slots
	lifted bool
}

func (s *lifted) Ready(slot string, now time.Time) (bool, time.Time) {
	if s.lifted {
		return true, time.Time{}
	}
	return s.Slots.Ready(slot, now)
}

// A frontier tells what is queued in each slot, and looks anew at a slot that was
// changed behind its back.
func TestSlotKeeper(t *testing.T) {
	t.Parallel()
	slots := &lifted{Slots: schedulertest.NewSlots(1, 0)}
	construct, err := scheduler.Frontiers.Lookup("default")
	if err != nil {
		t.Fatal(err)
	}
	env := newEnv(t)
	open, err := construct(env)
	if err != nil {
		t.Fatal(err)
	}
	f, _, err := open(t.Context(), scheduler.Deps{Env: env, Slots: slots, Job: jobs.Volatile(nil)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close(context.Background(), "cleanup") })
	keeper := f.(scheduler.SlotKeeper)
	wantQueued := func(want map[string]int) {
		t.Helper()
		if got := keeper.QueuedBySlot(); !maps.Equal(got, want) {
			t.Errorf("queued %v, want %v", got, want)
		}
	}
	granted := func(done []scheduler.Outcome) int {
		t.Helper()
		g, err := f.Step(t.Context(), nil, done, 9)
		if err != nil {
			t.Fatal(err)
		}
		return len(g.Leases)
	}
	later := time.Now().Add(time.Hour)
	var done []scheduler.Outcome
	for i, r := range []*crawl.Request{{URL: "a1"}, {URL: "a2"}, {URL: "a3", NotBefore: later}, {URL: "b1"}} {
		done = append(done, startOutcome(uint64(i+1), r.URL[:1], r))
	}
	wantQueued(map[string]int{})
	if n := granted(done); n != 2 {
		t.Errorf("%d leases, want one a slot", n)
	}
	wantQueued(map[string]int{"a": 2})
	slots.lifted = true
	keeper.RefreshSlots("a", "b", "unknown")
	select {
	case <-f.Ready():
	default:
		t.Error("the engine does not hear of it")
	}
	if n := granted(nil); n != 1 {
		t.Errorf("%d leases once the limit is lifted, want 1", n)
	}
	wantQueued(map[string]int{"a": 1})
}
