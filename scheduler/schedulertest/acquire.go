package schedulertest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/scheduler"
)

// acquired is a call of Acquire under way.
type acquired struct {
	release func(scheduler.SlotHint)
	err     error
	over    chan struct{}
}

// acquire calls Acquire beside the test. Call only within a bubble.
func (h *harness) acquire(ctx context.Context, l scheduler.LeaseID, slot string) *acquired {
	a := &acquired{over: make(chan struct{})}
	go func() {
		defer close(a.over)
		a.release, a.err = h.f.Acquire(ctx, l, slot)
	}()
	synctest.Wait()
	return a
}

func (a *acquired) isOver() bool {
	synctest.Wait()
	select {
	case <-a.over:
		return true
	default:
		return false
	}
}

// granted checks that the slot may be used by now.
func (a *acquired) granted(t testing.TB, what string) {
	t.Helper()
	if !a.isOver() || a.err != nil {
		t.Fatalf("%s: over %v, error %v, want the slot", what, a.isOver(), a.err)
	}
}

// waits checks that the slot may not be used yet.
func (a *acquired) waits(t testing.TB, what string) {
	t.Helper()
	if a.isOver() {
		t.Fatalf("%s: over with error %v, want it to wait", what, a.err)
	}
}

func acquireRows() []row {
	return []row{
		{"Acquire before the lease is settled takes no place", true, acquireNoPlace},
		{"Acquire before the lease is settled waits for the delay", true, acquireDelay},
		{"Acquire starts the delay of its slot", true, acquireStartsDelay},
		{"Acquire in its own slot does not count as sent", true, acquireOwnSlot},
		{"Acquire of a settled lease takes a place", true, acquirePlace},
		{"Acquire goes ahead of the queue", true, acquireAhead},
	}
}

func acquireNoPlace(t testing.TB, open crawlOpener) {
	h := start(t, open, limited(1))
	h.emit(h.page("a"), h.page("b"), h.entry("http://other/c"), h.entry("http://other/d"))
	l := h.lease(2)[0]
	own, other := h.acquire(t.Context(), l.ID, "s"), h.acquire(t.Context(), l.ID, "other")
	own.granted(t, "a full slot")
	other.granted(t, "another full slot")
	own.release(scheduler.SlotHint{})
	other.release(scheduler.SlotHint{})
	if g := h.step(nil, nil, 9); len(g.Leases) > 0 {
		t.Errorf("granted %v: a release freed a place that was not taken", h.names(g.Leases))
	}
}

func acquireDelay(t testing.TB, open crawlOpener) {
	h := start(t, open, delayed(10*time.Second))
	h.emit(h.entry("http://other/b"))
	h.step(sent(h.lease(1)[0].ID, time.Now()), nil, 0)
	h.emit(h.page("a"))
	a := h.acquire(t.Context(), h.lease(1)[0].ID, "other")
	a.waits(t, "during the delay")
	select {
	case <-h.f.Ready():
	default:
		t.Error("Ready does not tell that someone waits: nobody would ask when to step next")
	}
	if g := h.step(nil, nil, 0); g.Next != 10*time.Second {
		t.Errorf("next in %v, want 10s: someone waits", g.Next)
	}
	pass(10 * time.Second)
	h.step(nil, nil, 0)
	a.granted(t, "after the delay")
	a.release(scheduler.SlotHint{})
}

func acquireStartsDelay(t testing.TB, open crawlOpener) {
	h := start(t, open, delayed(10*time.Second))
	h.emit(h.page("a"))
	l := h.lease(1)[0]
	a := h.acquire(t.Context(), l.ID, "other")
	a.granted(t, "an idle slot")
	h.emit(h.entry("http://other/b"))
	h.nothingUntil(10 * time.Second)
	a.release(scheduler.SlotHint{})
}

func acquireOwnSlot(t testing.TB, open crawlOpener) {
	h := start(t, open, delayed(10*time.Second))
	h.emit(h.pages("a", "b")...)
	l := h.lease(1)[0]
	a := h.acquire(t.Context(), l.ID, "s")
	a.granted(t, "the slot of the lease")
	a.release(scheduler.SlotHint{})
	pass(time.Hour)
	if g := h.step(nil, nil, 1); len(g.Leases) > 0 {
		t.Errorf("granted %v while the request itself is not sent", h.names(g.Leases))
	}
	h.step(sent(l.ID, time.Now()), nil, 0)
	h.nothingUntil(10 * time.Second)
}

func acquirePlace(t testing.TB, open crawlOpener) {
	h := start(t, open, limited(1))
	h.emit(h.pages("a", "b")...)
	l := h.lease(1)[0]
	h.step(settled(l.ID), nil, 0)
	a := h.acquire(t.Context(), l.ID, "s")
	a.granted(t, "a free slot")
	if g := h.step(nil, nil, 1); len(g.Leases) > 0 {
		t.Errorf("granted %v: Acquire took no place", h.names(g.Leases))
	}
	for len(h.f.Ready()) > 0 {
		<-h.f.Ready()
	}
	a.release(scheduler.SlotHint{Latency: time.Second})
	select {
	case <-h.f.Ready():
	default:
		t.Error("Ready does not tell that a place became free")
	}
	h.lease(1)
}

func acquireAhead(t testing.TB, open crawlOpener) {
	h := start(t, open, limited(1))
	h.emit(h.pages("a", "b", "c")...)
	first := h.lease(1)[0]
	second := h.step(settled(first.ID), nil, 1).Leases[0]
	one, two := h.acquire(t.Context(), first.ID, "s"), h.acquire(t.Context(), first.ID, "s")
	one.waits(t, "a full slot")
	if g := h.step(settled(second.ID), []scheduler.Outcome{done(second.ID)}, 1); len(g.Leases) > 0 {
		t.Errorf("granted %v before those who wait", h.names(g.Leases))
	}
	one.granted(t, "the slot is free")
	two.waits(t, "the place is taken")
	one.release(scheduler.SlotHint{Latency: time.Second})
	two.granted(t, "the slot is free again")
	two.release(scheduler.SlotHint{Latency: time.Second})
	h.lease(1)
}

func acquireLineRows() []row {
	return []row{
		{"Acquire gives up with its context", true, acquireCancelled},
		{"a slot outlives who gave up on it", true, acquireGivenUp},
		{"no deadlock with one place a slot", true, acquireOnePlace},
		{"no deadlock of two slots on each other", true, acquireEachOther},
		{"Acquire is for many callers beside Step", false, acquireRace},
	}
}

func acquireCancelled(t testing.TB, open crawlOpener) {
	h := start(t, open, limited(1))
	h.emit(h.pages("a", "b")...)
	first := h.lease(1)[0]
	second := h.step(settled(first.ID), nil, 1).Leases[0]
	ctx, cancel := context.WithCancel(t.Context())
	a := h.acquire(ctx, first.ID, "s")
	a.waits(t, "a full slot")
	cancel()
	if !a.isOver() || !errors.Is(a.err, context.Canceled) {
		t.Fatalf("over %v, error %v, want context.Canceled", a.isOver(), a.err)
	}
	h.emit(h.page("c"))
	h.step(settled(second.ID), nil, 0)
	h.lease(1) // nobody stands in the line any more
}

// acquireGivenUp leaves an alarm behind in a slot that is used again.
func acquireGivenUp(t testing.TB, open crawlOpener) {
	h := start(t, open, limited(1), delayed(10*time.Second))
	h.emit(h.page("a"))
	first := h.lease(1)[0]
	h.step(sent(first.ID, time.Now()), nil, 0)
	h.step(settled(first.ID), nil, 0)
	ctx, cancel := context.WithCancel(t.Context())
	a := h.acquire(ctx, first.ID, "s")
	a.waits(t, "during the delay")
	cancel()
	if !a.isOver() {
		t.Fatal("Acquire goes on after its context")
	}
	if g := h.step(nil, nil, 1); g.Next != 0 {
		t.Errorf("next in %v, want 0: nobody waits", g.Next)
	}
	h.emit(h.pages("b", "c", "d")...)
	for range 3 {
		l := h.nothingUntil(10 * time.Second)
		h.step(sent(l.ID, time.Now()), nil, 0)
		h.step(settled(l.ID), nil, 0)
	}
}

// acquireOnePlace has a callback that waits for the only place, whose holder
// wants robots.txt of the same slot first.
func acquireOnePlace(t testing.TB, open crawlOpener) {
	h := start(t, open, limited(1))
	h.emit(h.pages("a", "b")...)
	first := h.lease(1)[0]
	second := h.step(settled(first.ID), nil, 1).Leases[0]
	place := h.acquire(t.Context(), first.ID, "s")
	place.waits(t, "a full slot")
	robots := h.acquire(t.Context(), second.ID, "s")
	robots.granted(t, "robots.txt of the request that holds the place")
	robots.release(scheduler.SlotHint{})
	place.waits(t, "still full")
	h.step(settled(second.ID), nil, 0)
	place.granted(t, "the slot is free")
	place.release(scheduler.SlotHint{Latency: time.Second})
}

func acquireEachOther(t testing.TB, open crawlOpener) {
	h := start(t, open, limited(1))
	h.emit(h.entry("http://a/1"), h.entry("http://b/1"))
	leases := h.lease(2)
	for i, l := range leases {
		a := h.acquire(t.Context(), l.ID, leases[1-i].Slot)
		a.granted(t, "the slot of the other")
		a.release(scheduler.SlotHint{})
	}
}

func acquireRace(t testing.TB, open crawlOpener) {
	h := start(t, open, limited(1))
	h.emit(h.page("a"))
	l := h.lease(1)[0]
	h.step(settled(l.ID), nil, 0)
	var errs []error
	results := make(chan error)
	holders := make(chan struct{}, 1)
	for range 16 {
		go func() {
			release, err := h.f.Acquire(t.Context(), l.ID, "s")
			if err == nil {
				select {
				case holders <- struct{}{}:
				default:
					err = errors.New("two callers have the only place")
				}
				<-holders
				release(scheduler.SlotHint{Latency: time.Millisecond})
			}
			results <- err
		}()
	}
	for range 16 {
		h.emit(h.entry("http://other/x", dontFilter))
		errs = append(errs, <-results)
	}
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}
