package schedulertest

import (
	"testing"

	"github.com/skeincrawl/skein/scheduler"
)

func outsideRows() []row {
	return []row{
		{"a request from outside is filtered as a callback's", false, outsideFiltered},
		{"a repeated request from outside changes nothing", false, outsideRepeated},
		{"a request from outside outlives a crash and is no start entry", false, outsideKept},
	}
}

// enqueue commits entries as requests from outside, one outcome each, numbered
// from first.
func (h *harness) enqueue(first uint64, entries ...scheduler.Entry) scheduler.Grant {
	h.Helper()
	var outcomes []scheduler.Outcome
	for i := range entries {
		outcomes = append(outcomes, scheduler.Outcome{
			Key: scheduler.Key{Ordinal: first + uint64(i)}, Kind: scheduler.Enqueue, Push: entries[i : i+1],
		})
	}
	return h.step(nil, outcomes, 0)
}

func outsideFiltered(t testing.TB, open crawlOpener) {
	h := start(t, open)
	g := h.enqueue(1, h.page("a"), h.page("a"), h.page("free", dontFilter), h.page("free"))
	if len(g.Refused) != 1 || g.Refused[0].Request.URL != "http://s/a" {
		t.Errorf("refused %+v, want the second a only: an unfiltered request marks nothing", g.Refused)
	}
	h.wantSet("granted", h.drain(), "a", "free", "free")
}

func outsideRepeated(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.emit(h.page("start", dontFilter))
	h.enqueue(1, h.page("a", dontFilter), h.page("b", dontFilter))
	h.enqueue(2, h.page("b", dontFilter), h.page("c", dontFilter))
	h.emit(h.page("more", dontFilter))
	h.wantSet("granted", h.drain(), "start", "a", "b", "c", "more")
}

func outsideKept(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.enqueue(1, h.page("a"), h.page("free", dontFilter))
	for _, end := range []func(*harness){(*harness).crash, (*harness).reopen} {
		end(h)
		if h.resume.Start != scheduler.StartFresh || h.resume.Accepted.Len() != 0 || h.resume.Pending != 2 {
			t.Errorf("resume %+v, want 2 pending and a Start that never ran", h.resume)
		}
		if g := h.enqueue(1, h.page("a")); len(g.Refused) != 1 {
			t.Error("a request from outside is not known any more")
		}
	}
	h.wantSet("after both", h.drain(), "a", "free")
}
