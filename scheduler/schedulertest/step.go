package schedulertest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/scheduler"
)

func stepRows() []row {
	return []row{
		{"pushes are visible with their Done", false, visibleWithDone},
		{"the duplicate filter refuses in order", false, refusedInOrder},
		{"DUP-01 SCH-14 each of many duplicates is refused", false, manyDuplicates},
		{"Has runs beside Step", false, hasBesideStep},
		{"want is never exceeded", false, wantIsKept},
		{"a lease is what was pushed", false, leaseIsThePush},
		{"empty when nothing is queued, delayed or leased", false, emptyState},
		{"a dead lease is gone", false, deadLease},
		{"pause and resume", false, pauseAndResume},
	}
}

func (h *harness) has(e scheduler.Entry) bool {
	f, ok := h.f.(scheduler.Haser)
	return ok && f.Has(e.Fingerprint)
}

func visibleWithDone(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.emit(h.page("a"))
	l := h.lease(1)[0]
	links := h.pages("b", "c")
	g := h.step(settled(l.ID), nil, 9)
	h.wantState(g, scheduler.Running, 0)
	if len(g.Leases) > 0 || h.has(links[0]) {
		t.Errorf("before the Done: leases %v, known %v", h.names(g.Leases), h.has(links[0]))
	}
	g = h.step(nil, []scheduler.Outcome{done(l.ID, links...)}, 0)
	h.wantState(g, scheduler.Running, 2)
	if _, ok := h.f.(scheduler.Haser); ok && (!h.has(links[0]) || !h.has(links[1])) {
		t.Error("pushed requests are not known after their Done")
	}
	h.wantSet("after the Done", h.drain(), "b", "c")
}

func refusedInOrder(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.emit(h.page("a"), h.page("b"))
	if e := h.page("b"); h.has(e) { // as a worker does that looks early
		e.Body, e.Known = nil, true
		if g := h.emit(e); len(g.Refused) != 1 || !g.Refused[0].Known {
			t.Errorf("a known entry was not refused: %+v", g)
		}
	}
	l := h.lease(1)[0]
	push := append(h.pages("b", "c", "a", "c"), h.page("a", dontFilter))
	g := h.step(nil, []scheduler.Outcome{done(l.ID, push...)}, 0)
	var refused []string
	for _, e := range g.Refused {
		refused = append(refused, e.Request.URL)
	}
	h.wantNames("refused", refused, "http://s/b", "http://s/a", "http://s/c")
	other := map[string]string{"a": "b", "b": "a"}[h.name(l)]
	h.wantSet("granted", h.drain(), "c", "a", other)
}

func manyDuplicates(t testing.TB, open crawlOpener) {
	h := start(t, open)
	var entries []scheduler.Entry
	for range 32 {
		entries = append(entries, h.pages("1", "2", "3")...)
	}
	g := h.emit(entries...)
	if len(g.Refused) != 31*3 {
		t.Errorf("%d entries were refused, want %d", len(g.Refused), 31*3)
	}
	h.wantSet("granted", h.drain(), "1", "2", "3")
	if g := h.emit(h.pages("1")...); len(g.Refused) != 1 {
		t.Error("a request is not known any more after its Done")
	}
}

func hasBesideStep(t testing.TB, open crawlOpener) {
	h := start(t, open)
	f, ok := h.f.(scheduler.Haser)
	if !ok {
		t.Skip("this frontier can not tell early")
	}
	var pushed []scheduler.Entry
	for i := range 50 {
		pushed = append(pushed, h.page(fmt.Sprint(i)))
	}
	never := h.page("never")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			seen := make([]bool, len(pushed))
			for i := 0; ; i = (i + 1) % len(pushed) {
				select {
				case <-stop:
					return
				default:
				}
				has := f.Has(pushed[i].Fingerprint)
				if seen[i] && !has {
					t.Errorf("request %d was known and is not any more", i)
				}
				seen[i] = has
				if f.Has(never.Fingerprint) {
					t.Error("a request is known that was never pushed")
				}
			}
		})
	}
	for i := range pushed {
		h.emit(pushed[i])
		if !f.Has(pushed[i].Fingerprint) {
			t.Errorf("request %d is not known after its Step", i)
		}
	}
	close(stop)
	wg.Wait()
}

func wantIsKept(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.emit(h.pages("1", "2", "3", "4", "5")...)
	for _, want := range []int{0, 2, 1, 0} {
		if g := h.step(nil, nil, want); len(g.Leases) != want {
			t.Errorf("granted %d, want %d", len(g.Leases), want)
		}
	}
	if g := h.step(nil, nil, 9); len(g.Leases) != 2 {
		t.Errorf("granted %d of the last 2", len(g.Leases))
	}
}

func leaseIsThePush(t testing.TB, open crawlOpener) {
	h := start(t, open)
	e := h.page("a", priority(-7), isStart, h.pageOf, h.errbackOf, func(r *crawl.Request) { r.Options.Slot = "elsewhere" })
	body := string(e.Body)
	h.emit(e)
	l := h.lease(1)[0]
	if got := h.body(l); l.Slot != "elsewhere" || got != body {
		t.Errorf("got slot %q, request %s, want slot elsewhere, request %s", l.Slot, got, body)
	}
	if l.Paced || l.Careful {
		t.Errorf("paced %v, careful %v, want neither", l.Paced, l.Careful)
	}
}

func emptyState(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.wantState(h.step(nil, nil, 1), scheduler.Empty, 0)
	h.wantState(h.emit(h.page("a")), scheduler.Running, 1)
	l := h.lease(1)[0]
	h.wantState(h.step(nil, nil, 0), scheduler.Running, 0)
	h.wantState(h.step(settled(l.ID), nil, 1), scheduler.Running, 0)
	h.wantState(h.step(nil, []scheduler.Outcome{release(l.ID)}, 0), scheduler.Running, 1)
	l = h.lease(1)[0]
	h.wantState(h.step(nil, []scheduler.Outcome{done(l.ID)}, 1), scheduler.Empty, 0)
}

func deadLease(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.emit(h.page("a"))
	o := done(h.lease(1)[0].ID)
	o.Kind = scheduler.Dead
	h.wantState(h.step(nil, []scheduler.Outcome{o}, 1), scheduler.Empty, 0)
	if g := h.emit(h.page("a")); len(g.Refused) != 1 {
		t.Error("a request that was given up is not known any more")
	}
}

func pauseAndResume(t testing.TB, open crawlOpener) {
	h := start(t, open)
	c, ok := h.f.(scheduler.Controller)
	if !ok {
		t.Skip("this frontier can not be paused")
	}
	h.emit(h.pages("a", "b")...)
	l := h.lease(1)[0]
	c.Pause()
	g := h.step(settled(l.ID), []scheduler.Outcome{done(l.ID, h.page("c"))}, 9)
	h.wantState(g, scheduler.Paused, 2)
	if len(g.Leases) > 0 || g.Next != 0 {
		t.Errorf("paused: granted %v, next in %v", h.names(g.Leases), g.Next)
	}
	for len(h.f.Ready()) > 0 {
		<-h.f.Ready()
	}
	c.Resume()
	select {
	case <-h.f.Ready():
	default:
		t.Error("Ready does not tell of Resume")
	}
	if got := len(h.drain()); got != 2 {
		t.Errorf("granted %d after Resume, want 2", got)
	}
}

func repeatRows() []row {
	return []row{
		{"a repeated Done changes nothing", false, repeatedDone},
		{"a repeated start entry changes nothing", false, repeatedStart},
		{"a repeated Part changes nothing", false, repeatedPart},
		{"a release after the Done changes nothing", false, lateRelease},
	}
}

func repeatedDone(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.emit(h.page("a"))
	o := done(h.lease(1)[0].ID, h.page("b", dontFilter))
	h.wantState(h.step(nil, []scheduler.Outcome{o, o}, 0), scheduler.Running, 1)
	h.wantState(h.step(nil, []scheduler.Outcome{o}, 0), scheduler.Running, 1)
	h.wantNames("granted", h.drain(), "b")
}

func repeatedStart(t testing.TB, open crawlOpener) {
	h := start(t, open)
	outcome := func(n uint64, name string) scheduler.Outcome {
		return scheduler.Outcome{
			Key: scheduler.Key{Ordinal: n}, Kind: scheduler.StartEntry, Push: []scheduler.Entry{h.page(name, dontFilter)},
		}
	}
	h.step(nil, []scheduler.Outcome{outcome(1, "a"), outcome(1, "a"), outcome(2, "b")}, 0)
	h.wantState(h.step(nil, []scheduler.Outcome{outcome(2, "b"), outcome(3, "c")}, 0), scheduler.Running, 3)
	h.wantSet("granted", h.drain(), "a", "b", "c")
}

func repeatedPart(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.emit(h.page("a"))
	l := h.lease(1)[0]
	p1, p2 := part(l.ID, 1, h.page("b", dontFilter)), part(l.ID, 2, h.page("c", dontFilter))
	h.step(nil, []scheduler.Outcome{p1, p1}, 0)
	h.step(nil, []scheduler.Outcome{p1, p2, p2, done(l.ID)}, 0)
	h.wantSet("granted", h.drain(), "b", "c")
}

func lateRelease(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.emit(h.page("a"))
	l := h.lease(1)[0]
	g := h.step(nil, []scheduler.Outcome{done(l.ID), release(l.ID), done(12345)}, 9)
	h.wantState(g, scheduler.Empty, 0)
}

func closeRows() []row {
	return []row{
		{"Close gives back what is leased", false, closeGivesBack},
		{"Close twice, Step after Close", false, closeTwice},
		{"a release returns to its old place", false, releaseToOldPlace},
	}
}

func closeGivesBack(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.pages("a", "b", "c")...)
	gone := h.lease(2)[0]
	h.step(nil, []scheduler.Outcome{done(gone.ID)}, 0)
	h.reopen()
	if h.resume.Pending != 2 || !h.resume.Resumed {
		t.Errorf("pending %d, resumed %v, want 2 and true", h.resume.Pending, h.resume.Resumed)
	}
	var want []string
	for _, n := range []string{"a", "b", "c"} {
		if n != h.name(gone) {
			want = append(want, n)
		}
	}
	h.wantSet("after reopening", h.drain(), want...)
}

func closeTwice(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.emit(h.page("a"))
	h.close("shutdown")
	h.close("another")
	if g, err := h.f.Step(t.Context(), nil, nil, 1); err == nil || len(g.Leases) > 0 {
		t.Errorf("Step after Close: %d leases, error %v", len(g.Leases), err)
	}
	if _, err := h.f.Acquire(t.Context(), 1, "s"); err == nil || errors.Is(err, t.Context().Err()) {
		t.Errorf("Acquire after Close: error %v", err)
	}
}

// releaseToOldPlace compares with the order of a crawl where nothing came back.
func releaseToOldPlace(t testing.TB, open crawlOpener) {
	push := func(h *harness) {
		h.emit(h.page("a"), h.page("b"), h.page("c", priority(1)), h.page("d", isStart), h.page("e"), h.page("f", isStart))
	}
	plain := start(t, open)
	push(plain)
	want := plain.drain()
	for n := 1; n <= len(want); n++ {
		h := start(t, open)
		push(h)
		var outcomes []scheduler.Outcome
		for i, l := range h.lease(n) {
			if i%2 == 0 {
				h.step(settled(l.ID), nil, 0)
			}
			outcomes = append(outcomes, release(l.ID))
		}
		h.step(nil, outcomes, 0)
		h.wantNames(fmt.Sprintf("%d of them given back", n), h.drain(), want...)
	}
}
