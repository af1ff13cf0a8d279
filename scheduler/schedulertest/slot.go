package schedulertest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/scheduler"
)

func slotRows() []row {
	return []row{
		{"no slot exceeds its limit", false, limitKept},
		{"settled frees the slot and keeps the lease", false, settledIsNotDone},
		{"a slow slot does not block the others", false, slowSlot},
	}
}

func limitKept(t testing.TB, open crawlOpener) {
	h := start(t, open, limited(2))
	for _, host := range []string{"a", "b", "c"} {
		for _, n := range []string{"1", "2", "3"} {
			h.emit(h.entry("http://" + host + "/" + n))
		}
	}
	h.lease(6)
	if g := h.step(nil, nil, 9); len(g.Leases) > 0 { // step checks each slot
		t.Errorf("granted %v beyond the limits", h.names(g.Leases))
	}
}

func settledIsNotDone(t testing.TB, open crawlOpener) {
	h := start(t, open, limited(1))
	h.emit(h.pages("a", "b")...)
	first := h.lease(1)[0]
	g := h.step(settled(first.ID), nil, 1)
	if len(g.Leases) != 1 {
		t.Fatal("the slot was not free when its request was settled")
	}
	h.step(settled(first.ID), nil, 0) // again: frees nothing
	h.emit(h.page("c"))
	if g := h.step(nil, []scheduler.Outcome{done(first.ID)}, 1); len(g.Leases) > 0 {
		t.Error("Done freed the slot a second time")
	}
	second := g.Leases[0]
	if g := h.step(settled(second.ID), []scheduler.Outcome{done(second.ID)}, 9); len(g.Leases) != 1 {
		t.Errorf("granted %v, want the last one", h.names(g.Leases))
	}
}

func slowSlot(t testing.TB, open crawlOpener) {
	h := start(t, open, limited(1))
	for _, n := range []string{"1", "2", "3", "4"} {
		h.emit(h.entry("http://slow/" + n))
	}
	h.lease(1)
	h.emit(h.entry("http://quick/5"))
	h.wantNames("beside the slow slot", h.drain(), "5")
}

// nothingUntil checks that nothing is granted before d has passed, that Next
// says so, and that one request is granted then.
func (h *harness) nothingUntil(d time.Duration) scheduler.Lease {
	h.Helper()
	g := h.step(nil, nil, 1)
	if len(g.Leases) > 0 || g.Next != d {
		h.Fatalf("granted %v, next in %v, want nothing before %v", h.names(g.Leases), g.Next, d)
	}
	pass(d - time.Nanosecond)
	if g := h.step(nil, nil, 1); len(g.Leases) > 0 {
		h.Fatalf("granted %v a nanosecond early", h.names(g.Leases))
	}
	pass(time.Nanosecond)
	return h.lease(1)[0]
}

// pass lets the time of the bubble go on.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func delayRows() []row {
	return []row{
		{"a delay counts from Sent", true, delayFromSent},
		{"a delay waits for Sent or Settled", true, delayWaitsForSent},
		{"Unused gives the delay back", true, unusedGivesBack},
		{"a release gives the delay back", true, releaseGivesBack},
		{"a server's back-off holds the slot", true, backOff},
		{"a back-off puts off the next request", true, laterBackOff},
		{"a release of what was sent lets nothing else go", true, releaseOfSent},
		{"a slot keeps its delay when it runs dry", true, drySlot},
		{"Next is that of the earliest slot", true, nextOfEarliest},
		{"NotBefore waits and does not block", true, notBefore},
		{"a delayed request enters its queue in its place", true, notBeforeOrder},
	}
}

func delayFromSent(t testing.TB, open crawlOpener) {
	h := start(t, open, delayed(10*time.Second))
	h.emit(h.pages("a", "b", "c")...)
	l := h.lease(1)[0]
	if !l.Paced {
		t.Error("the lease does not say that its slot is paced")
	}
	pass(3 * time.Second)
	h.step(sent(l.ID, time.Now().Add(-time.Second)), nil, 0)
	l = h.nothingUntil(9 * time.Second)
	h.step(sent(l.ID, time.Now()), nil, 0)
	h.step(settled(l.ID), nil, 0)
	h.nothingUntil(10 * time.Second)
}

func delayWaitsForSent(t testing.TB, open crawlOpener) {
	h := start(t, open, delayed(10*time.Second))
	h.emit(h.pages("a", "b")...)
	l := h.lease(1)[0]
	pass(time.Hour)
	if g := h.step(nil, nil, 1); len(g.Leases) > 0 || g.Next != 0 {
		t.Errorf("granted %v, next in %v, while a request was not sent", h.names(g.Leases), g.Next)
	}
	h.step([]scheduler.Progress{{Lease: l.ID, Settled: true}}, nil, 0)
	h.nothingUntil(10 * time.Second)
}

func unusedGivesBack(t testing.TB, open crawlOpener) {
	h := start(t, open, delayed(10*time.Second))
	h.emit(h.pages("a", "b")...)
	l := h.lease(1)[0]
	h.step([]scheduler.Progress{{Lease: l.ID, Settled: true, Hint: scheduler.SlotHint{Unused: true}}}, nil, 0)
	h.lease(1)
}

func releaseGivesBack(t testing.TB, open crawlOpener) {
	h := start(t, open, delayed(10*time.Second))
	h.emit(h.page("a"))
	h.step(nil, []scheduler.Outcome{release(h.lease(1)[0].ID)}, 0)
	l := h.lease(1)[0]
	h.step(sent(l.ID, time.Now()), nil, 0)
	h.step(nil, []scheduler.Outcome{release(l.ID)}, 0) // cut on the wire: the delay counts
	h.nothingUntil(10 * time.Second)
}

func backOff(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.emit(h.pages("a", "b")...)
	hint := scheduler.SlotHint{Latency: time.Second, BackOff: time.Now().Add(time.Minute)}
	h.step([]scheduler.Progress{{Lease: h.lease(1)[0].ID, Settled: true, Hint: hint}}, nil, 0)
	h.nothingUntil(time.Minute)
}

func laterBackOff(t testing.TB, open crawlOpener) {
	h := start(t, open, delayed(10*time.Second))
	h.emit(h.pages("a", "b")...)
	l := h.lease(1)[0]
	if g := h.step(sent(l.ID, time.Now()), nil, 1); len(g.Leases) > 0 || g.Next != 10*time.Second {
		t.Errorf("granted %v, next in %v, want nothing before 10s", h.names(g.Leases), g.Next)
	}
	hint := scheduler.SlotHint{Latency: time.Second, BackOff: time.Now().Add(time.Minute)}
	h.step([]scheduler.Progress{{Lease: l.ID, Settled: true, Hint: hint}}, nil, 0)
	h.nothingUntil(time.Minute)
}

func releaseOfSent(t testing.TB, open crawlOpener) {
	h := start(t, open, delayed(10*time.Second))
	h.emit(h.pages("a", "b", "c")...)
	first := h.lease(1)[0]
	h.step(sent(first.ID, time.Now()), nil, 0)
	h.nothingUntil(10 * time.Second) // leases the second, which is not sent
	if g := h.step(nil, []scheduler.Outcome{release(first.ID)}, 9); len(g.Leases) > 0 {
		t.Errorf("granted %v while another request is not sent", h.names(g.Leases))
	}
}

func drySlot(t testing.TB, open crawlOpener) {
	h := start(t, open, delayed(10*time.Second), limited(1))
	h.emit(h.pages("a", "b")...)
	l := h.lease(1)[0]
	h.step(sent(l.ID, time.Now()), []scheduler.Outcome{done(l.ID)}, 0)
	l = h.nothingUntil(10 * time.Second)
	if g := h.step(sent(l.ID, time.Now()), []scheduler.Outcome{done(l.ID)}, 1); g.Next != 0 {
		t.Errorf("next in %v, want 0: nothing is pending", g.Next)
	}
	pass(4 * time.Second)
	h.emit(h.pages("c", "d")...)
	l = h.nothingUntil(6 * time.Second)
	h.step(nil, []scheduler.Outcome{done(l.ID)}, 0)
	h.nothingUntil(10 * time.Second)
}

func nextOfEarliest(t testing.TB, open crawlOpener) {
	h := start(t, open, delayed(10*time.Second))
	h.emit(h.entry("http://a/1"), h.entry("http://a/2"), h.entry("http://b/1"), h.entry("http://b/2"))
	var progress []scheduler.Progress
	for i, l := range h.lease(2) {
		progress = append(progress, sent(l.ID, time.Now().Add(time.Duration(i)*time.Second))...)
	}
	h.step(progress, nil, 0)
	h.emit(h.page("late", at(time.Now().Add(time.Minute))))
	h.nothingUntil(10 * time.Second)
	h.nothingUntil(time.Second)
	h.nothingUntil(49 * time.Second)
}

func notBefore(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.wantState(h.emit(h.page("later", priority(9), at(time.Now().Add(time.Minute)))), scheduler.Running, 1)
	h.emit(h.page("past", at(time.Now().Add(-time.Minute))), h.page("now"))
	h.wantSet("at once", h.drain(), "past", "now")
	h.nothingUntil(time.Minute)
}

// notBeforeOrder compares with the order of requests that were pushed alike but
// did not wait.
func notBeforeOrder(t testing.TB, open crawlOpener) {
	plain := start(t, open)
	plain.emit(plain.pages("a", "b", "c")...)
	want := plain.drain()
	h := start(t, open)
	h.emit(h.page("a"), h.page("b", at(time.Now().Add(time.Minute))), h.page("c"))
	pass(time.Minute)
	h.wantNames("when all may start", h.drain(), want...)
}
