package schedulertest

import (
	"testing"

	"github.com/skeincrawl/skein/scheduler"
)

func startEnded() []scheduler.Outcome { return []scheduler.Outcome{{Kind: scheduler.StartEnded}} }

func startRows() []row {
	return []row{
		{"an interrupted Start is partial, with what it emitted", false, acceptedMultiset},
		{"a Start without emissions is fresh", false, freshStart},
		{"a Start that has ended does not run again", false, endedStart},
		{"a Start that met no response runs again, as if it never had", false, startAgain},
	}
}

func acceptedMultiset(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	items := scheduler.Outcome{Key: scheduler.Key{Ordinal: 1}, Kind: scheduler.StartEntry, Items: []uint64{7, 7, 8}}
	h.step(nil, []scheduler.Outcome{items}, 0)
	h.ordinal = 1
	h.emit(h.page("a", dontFilter), h.page("b"), h.page("a", dontFilter), h.page("b"))
	h.step(nil, []scheduler.Outcome{done(h.lease(1)[0].ID, h.page("link"))}, 0)
	for _, end := range []func(*harness){(*harness).crash, (*harness).reopen} {
		end(h)
		a := h.resume.Accepted
		if h.resume.Start != scheduler.StartPartial || a.Len() != 6 {
			t.Fatalf("start %d with %d accepted, want partial with 6", h.resume.Start, a.Len())
		}
		hash := func(name string) uint64 { return scheduler.HashOf(h.page(name).Fingerprint) }
		for _, c := range []struct {
			what string
			hash uint64
			n    int
		}{{"a", hash("a"), 2}, {"b, its duplicate refused", hash("b"), 1}, {"link", hash("link"), 0}, {"item 7", 7, 2}, {"item 8", 8, 1}} {
			for i := range c.n + 1 {
				if got := a.Take(c.hash); got != (i < c.n) {
					t.Errorf("%s, time %d: accepted %v", c.what, i+1, got)
				}
			}
		}
	}
}

func freshStart(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.crash()
	if h.resume.Start != scheduler.StartFresh || h.resume.Accepted.Len() != 0 {
		t.Errorf("start %d with %d accepted, want fresh", h.resume.Start, h.resume.Accepted.Len())
	}
}

func endedStart(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.page("a"))
	h.step(nil, append(startEnded(), startEnded()...), 0)
	for _, end := range []func(*harness){(*harness).crash, (*harness).reopen} {
		end(h)
		if h.resume.Start != scheduler.StartDone || h.resume.Accepted.Len() != 0 {
			t.Errorf("start %d with %d accepted, want ended", h.resume.Start, h.resume.Accepted.Len())
		}
	}
}

func startAgain(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.page("a"), h.page("b", dontFilter))
	h.step(nil, startEnded(), 0)
	for _, l := range h.lease(2) {
		h.step(nil, []scheduler.Outcome{done(l.ID)}, 0)
	}
	h.close(scheduler.NoResponse)
	h.open()
	if h.resume.Start != scheduler.StartFresh || h.resume.Accepted.Len() != 0 || h.resume.Pending != 0 {
		t.Errorf("resume %+v, want a fresh start", h.resume)
	}
	if g := h.emit(h.page("a"), h.page("b", dontFilter)); len(g.Refused) != 0 || g.Backlog != 2 {
		t.Errorf("%d refused and %d pending, want both requests again", len(g.Refused), g.Backlog)
	}
}

func roundRows() []row {
	return []row{
		{"a finished job begins a new round", false, newRound},
		{"finished needs an ended Start, nothing pending, and the reason", false, notFinished},
	}
}

func newRound(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	for round := 1; round <= 3; round++ {
		r := h.resume
		if r.Round != round || r.Start != scheduler.StartFresh || r.Resumed || r.Pending != 0 || r.Accepted.Len() != 0 {
			t.Errorf("round %d: resume %+v", round, r)
		}
		if round > 1 && (string(r.State) != "s" || r.Reason != "finished") {
			t.Errorf("round %d: state %q, reason %q, want s and finished", round, r.State, r.Reason)
		}
		g := h.emit(h.page("start", dontFilter), h.page("known"))
		if len(g.Refused) != min(round-1, 1) {
			t.Errorf("round %d: %d refused", round, len(g.Refused))
		}
		for _, l := range h.step(nil, nil, 9).Leases {
			o := done(l.ID)
			o.State = []byte("s")
			h.step(nil, []scheduler.Outcome{o}, 0)
		}
		h.crash() // in the middle: the round goes on
		if h.resume.Round != round || h.resume.Start != scheduler.StartPartial || !h.resume.Resumed {
			t.Errorf("round %d after a crash: resume %+v", round, h.resume)
		}
		h.step(nil, startEnded(), 0)
		h.close("finished")
		h.open()
	}
}

func notFinished(t testing.TB, open crawlOpener) {
	for _, c := range []struct {
		name           string
		ended, pending bool
		reason         string
	}{
		{"Start has not ended", false, false, "finished"},
		{"something is pending", true, true, "finished"},
		{"another reason", true, false, "shutdown"},
	} {
		h := start(t, open)
		h.durable()
		h.emit(h.page("a"))
		if c.ended {
			h.step(nil, startEnded(), 0)
		}
		if l := h.lease(1)[0]; !c.pending {
			h.step(nil, []scheduler.Outcome{done(l.ID)}, 0)
		}
		h.close(c.reason)
		h.open()
		if h.resume.Round != 1 || !h.resume.Resumed || h.resume.Reason != c.reason {
			t.Errorf("%s: resume %+v, want the first round resumed", c.name, h.resume)
		}
	}
}
