package schedulertest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/skeincrawl/skein/scheduler"
)

func slotOrderRows() []row {
	return []row{
		{"PQ-15 slots take turns", false, slotsTakeTurns},
		{"PQ-16 the turn outlives a drained slot", false, turnOutlivesSlot},
		{"PQ-17 PQ-18 the slot with the fewest active", false, fewestActive},
		{"SCH-06 SCH-07 each round serves all slots", false, roundsServeAll},
		{"two hosts of unequal priority, downloader-aware", false, unequalAware},
		{"two hosts of unequal priority, plain", false, unequalPlain},
		{"plain takes the best request of all slots", false, plainBestOfAll},
		{"plain passes over busy slots", false, plainPassesBusy},
	}
}

func aware() func(*harness) { return with("SCHEDULER_PRIORITY_QUEUE=downloader-aware") }
func plain() func(*harness) { return with("SCHEDULER_PRIORITY_QUEUE=priority") }

func (h *harness) slots(names ...string) (entries []scheduler.Entry) {
	h.Helper()
	for i, n := range names {
		entries = append(entries, h.entry(fmt.Sprintf("http://%s/%d", n, i)))
	}
	return entries
}

// turns drains and returns the slots in their order.
func (h *harness) turns(settle bool) (slots []string) {
	h.Helper()
	for {
		g := h.step(nil, nil, 1)
		if len(g.Leases) == 0 {
			return slots
		}
		slots = append(slots, g.Leases[0].Slot)
		if settle {
			h.step(settled(g.Leases[0].ID), nil, 0)
		}
	}
}

func slotsTakeTurns(t testing.TB, open crawlOpener) {
	either(t, open, []func(*harness){aware()}, func(h *harness) {
		h.emit(h.slots("slot-a", "slot-b", "slot-a", "slot-b")...)
	}, func(h *harness) {
		h.wantNames("slots", h.turns(true), "slot-a", "slot-b", "slot-a", "slot-b")
	})
}

func turnOutlivesSlot(t testing.TB, open crawlOpener) {
	h := start(t, open, aware())
	h.emit(h.slots("slot-a", "slot-a", "slot-b", "slot-c")...)
	h.wantNames("slots", h.turns(true), "slot-a", "slot-b", "slot-c", "slot-a")
	h.emit(h.slots("slot-a", "slot-b", "slot-c")[1:]...)
	h.wantNames("after slot-a", h.turns(true), "slot-b", "slot-c")
}

func fewestActive(t testing.TB, open crawlOpener) {
	h := start(t, open, aware())
	h.emit(h.slots("a", "c")...)
	h.lease(2)
	h.emit(h.entry("http://a/x"), h.entry("http://b/x"), h.entry("http://c/x"))
	if l := h.lease(1)[0]; l.Slot != "b" {
		t.Errorf("slot %s, want b, which has nothing active", l.Slot)
	}
}

func roundsServeAll(t testing.TB, open crawlOpener) {
	either(t, open, []func(*harness){aware()}, func(h *harness) {
		h.emit(h.slots("a", "a", "b", "b", "c", "c")...)
	}, func(h *harness) {
		got := h.turns(false)
		for round := range slices.Chunk(got, 3) {
			h.wantSet("a round", round, "a", "b", "c")
		}
		var progress []scheduler.Progress
		for id := range h.leased {
			progress = append(progress, settled(scheduler.LeaseID(id))...)
		}
		h.step(progress, nil, 0)
		for slot, n := range h.active {
			if n != 0 {
				t.Errorf("slot %s: %d active in the end, want 0", slot, n)
			}
		}
		if len(got) != 6 {
			t.Errorf("got %d leases, want 6", len(got))
		}
	})
}

// unequal has a page of host a push three requests for each of two hosts.
func unequal(h *harness) {
	h.emit(h.entry("http://a/start"))
	l := h.lease(1)[0]
	var push []scheduler.Entry
	for i := range 3 {
		push = append(push, h.entry(fmt.Sprintf("http://a/A%d", i)), h.entry(fmt.Sprintf("http://b/B%d", i), priority(100)))
	}
	h.step(nil, []scheduler.Outcome{done(l.ID, push...)}, 0)
}

func unequalAware(t testing.TB, open crawlOpener) {
	h := start(t, open, aware(), limited(1))
	unequal(h)
	h.wantNames("one active at a time", h.drain(), "B2", "A2", "B1", "A1", "B0", "A0")
}

func unequalPlain(t testing.TB, open crawlOpener) {
	h := start(t, open, plain(), limited(1))
	unequal(h)
	h.wantNames("one active at a time", h.drain(), "B2", "B1", "B0", "A2", "A1", "A0")
}

func plainBestOfAll(t testing.TB, open crawlOpener) {
	push := func(h *harness) {
		h.emit(h.entry("http://b/1"), h.entry("http://a/2"), h.entry("http://c/3", priority(1)),
			h.entry("http://b/4", isStart), h.entry("http://a/5", isStart), h.entry("http://b/6"))
	}
	either(t, open, []func(*harness){plain()}, push, func(h *harness) {
		h.wantNames("LIFO", h.drain(), "3", "6", "2", "1", "4", "5")
	})
	either(t, open, []func(*harness){plain(), fifo()}, push, func(h *harness) {
		h.wantNames("FIFO", h.drain(), "3", "1", "2", "6", "4", "5")
	})
}

func plainPassesBusy(t testing.TB, open crawlOpener) {
	h := start(t, open, plain(), limited(1))
	h.emit(h.entry("http://a/1", priority(9)), h.entry("http://a/2", priority(8)), h.entry("http://b/3"))
	h.wantNames("at once", h.names(h.lease(2)), "1", "3")
}
