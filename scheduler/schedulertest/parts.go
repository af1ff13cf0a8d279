package schedulertest

import (
	"testing"

	"github.com/skeincrawl/skein/scheduler"
)

func partRows() []row {
	return []row{
		{"parts are neither seen nor queued before their Done", false, partsInvisible},
		{"a Done makes all parts real, filtered in order", false, partsAdopted},
		{"known entries of a part are refused", false, knownParts},
		{"a crash before the Done leaves nothing of the parts", false, partsCrashed},
		{"a release leaves nothing of the parts", false, partsReleased},
	}
}

func partsInvisible(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.emit(h.page("a"))
	l := h.lease(1)[0]
	b := h.page("b")
	g := h.step(nil, []scheduler.Outcome{part(l.ID, 1, b)}, 9)
	h.wantState(g, scheduler.Running, 0)
	if len(g.Leases) > 0 || h.has(b) {
		t.Errorf("granted %v, known %v, before the Done", h.names(g.Leases), h.has(b))
	}
	h.wantState(h.step(nil, []scheduler.Outcome{done(l.ID)}, 0), scheduler.Running, 1)
	h.wantNames("after the Done", h.drain(), "b")
}

// partsAdopted has, in another step between the parts and their Done, one of
// their requests pushed.
func partsAdopted(t testing.TB, open crawlOpener) {
	for _, crash := range []bool{false, true} {
		h := start(t, open)
		h.emit(h.page("a"))
		l := h.lease(1)[0]
		h.step(nil, []scheduler.Outcome{part(l.ID, 1, h.page("b"), h.page("c"), h.page("b"))}, 0)
		h.emit(h.page("c"), h.page("x"))
		g := h.step(nil, []scheduler.Outcome{
			part(l.ID, 2, h.page("d"), h.page("b"), h.page("b", dontFilter)), done(l.ID, h.pages("d", "e")...),
		}, 0)
		h.wantState(g, scheduler.Running, 6)
		if last := g.Refused[len(g.Refused)-1]; last.Request.URL != "http://s/d" {
			t.Errorf("refused %v last, want d", last.Request)
		}
		if got := h.stats.Count("dupefilter/filtered"); got != 4 {
			t.Errorf("%d requests were filtered, want 4", got)
		}
		if crash {
			h.crash()
		}
		h.wantSet("after the Done", h.drain(), "b", "b", "c", "d", "e", "x")
	}
}

func knownParts(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.emit(h.page("a"))
	l := h.lease(1)[0]
	known := h.page("a")
	if !h.has(known) {
		t.Skip("this frontier can not tell early, so that no entry is known")
	}
	known.Body, known.Known = nil, true
	g := h.step(nil, []scheduler.Outcome{part(l.ID, 1, known, h.page("b"))}, 0)
	if len(g.Refused) != 1 || !g.Refused[0].Known {
		t.Errorf("refused %+v, want the known entry", g.Refused)
	}
	h.step(nil, []scheduler.Outcome{done(l.ID)}, 0)
	h.wantNames("after the Done", h.drain(), "b")
	if n := h.stats.Count("scheduler/unserializable"); n > 0 {
		t.Errorf("scheduler/unserializable is %d, want 0", n)
	}
}

func partsCrashed(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.page("a"))
	first := h.page("b", dontFilter)
	h.step(nil, []scheduler.Outcome{part(h.lease(1)[0].ID, 1, first, h.page("c"))}, 0)
	h.crash()
	h.wantState(h.step(nil, nil, 0), scheduler.Running, 1)
	if h.has(h.page("c")) {
		t.Error("a part of a step that was never done is known")
	}
	l := h.lease(1)[0]
	h.step(nil, []scheduler.Outcome{part(l.ID, 1, h.page("b", dontFilter)), done(l.ID)}, 0)
	h.crash()
	h.wantSet("after the repeated step", h.drain(), "b")
}

func partsReleased(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.emit(h.page("a"))
	l := h.lease(1)[0]
	h.step(nil, []scheduler.Outcome{part(l.ID, 1, h.page("b", dontFilter), h.page("c")), release(l.ID)}, 0)
	l = h.lease(1)[0]
	h.step(nil, []scheduler.Outcome{part(l.ID, 1, h.page("d", dontFilter)), done(l.ID)}, 0)
	h.wantState(h.step(nil, nil, 0), scheduler.Running, 1)
	if _, ok := h.store.(Crasher); ok {
		h.crash()
	}
	h.wantSet("after the repeated step", h.drain(), "d")
}

func partsOfUnstored(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.page("a", closure))
	h.step(nil, []scheduler.Outcome{part(h.lease(1)[0].ID, 1, h.page("never", dontFilter))}, 0)
	h.crash()
	h.emit(h.page("a", closure))
	l := h.lease(1)[0]
	h.step(nil, []scheduler.Outcome{part(l.ID, 1, h.page("b"), h.page("lost", closure)), done(l.ID, h.page("c"))}, 0)
	h.crash()
	h.wantSet("after the crash", h.drain(), "b", "c")
}
