package schedulertest

import (
	"slices"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/scheduler"
)

func resumeRows() []row {
	return []row{
		{"SCH-02 SCH-03 crawlee#3315 what is pending outlives a crash", false, crashKeepsPending},
		{"a crash keeps the old order", false, crashKeepsOrder},
		{"DUP-02 scrapy#6019 what was seen stays seen", false, crashKeepsSeen},
		{"state and cookies come with their step", false, stateWithStep},
		{"the last note of each key", false, lastNotes},
		{"heritrix3#669 the reason of the last end", false, lastReason},
		{"runs without a step", false, idleRuns},
	}
}

// journalRows are those about what the frontier alone knows of its requests.
func journalRows() []row {
	return []row{
		{"DUP-02 what Start emitted stays seen, what was not filtered does not", false, crashKeepsMarks},
		{"NotBefore outlives a crash, an hour at most", true, notBeforeResumed},
	}
}

func crashKeepsPending(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.pages("a", "b", "c", "d", "e")...)
	leases := h.lease(4)
	h.step(settled(leases[1].ID), []scheduler.Outcome{
		done(leases[0].ID, h.page("f")), release(leases[2].ID),
	}, 0)
	gone := h.name(leases[0])
	want := slices.DeleteFunc([]string{"a", "b", "c", "d", "e", "f"}, func(n string) bool { return n == gone })
	h.crash()
	if h.resume.Pending != 5 || !h.resume.Resumed || h.resume.Round != 1 {
		t.Errorf("resume %+v, want 5 pending of round 1", h.resume)
	}
	h.wantState(h.step(nil, nil, 0), scheduler.Running, 5)
	h.wantSet("after the crash", h.drain(), want...)
	h.crash()
	h.wantState(h.step(nil, nil, 9), scheduler.Empty, 0)
	h.wantSet("after the second crash", h.drain())
}

// crashKeepsOrder compares with the order of a crawl that was not killed.
func crashKeepsOrder(t testing.TB, open crawlOpener) {
	play := func(h *harness) {
		h.emit(h.page("a"), h.page("b", priority(2)), h.page("c", isStart), h.page("d"), h.page("e", isStart), h.page("f", priority(-1)))
		l := h.lease(1)[0]
		h.step(nil, []scheduler.Outcome{done(l.ID, h.page("g"), h.page("h", priority(2)), h.page("i", isStart))}, 0)
	}
	plain := start(t, open)
	play(plain)
	want := plain.drain()
	for _, end := range []func(*harness){(*harness).crash, (*harness).reopen} {
		h := start(t, open)
		h.durable()
		play(h)
		h.lease(3)
		end(h)
		h.wantNames("after the end", h.drain(), want...)
	}
}

func crashKeepsSeen(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.page("done"))
	h.step(nil, []scheduler.Outcome{done(h.lease(1)[0].ID)}, 0)
	h.emit(h.page("pending"))
	for _, end := range []func(*harness){(*harness).crash, (*harness).reopen} {
		end(h)
		if g := h.emit(h.page("pending"), h.page("done"), h.page("new", dontFilter)); len(g.Refused) != 2 {
			t.Errorf("%d of 2 known requests were refused", len(g.Refused))
		}
	}
	h.wantSet("at the end", h.drain(), "pending", "new", "new")
}

func crashKeepsMarks(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.page("done"))
	h.step(nil, []scheduler.Outcome{done(h.lease(1)[0].ID, h.page("free", dontFilter), h.page("free", dontFilter))}, 0)
	h.wantNames("not filtered", h.drain(), "free", "free")
	h.emit(h.page("pending"), h.page("first", dontFilter))
	for _, end := range []func(*harness){(*harness).crash, (*harness).reopen} {
		end(h)
		h.ordinal = 0
		g := h.emit(h.page("pending"), h.page("done"), h.page("first"))
		if len(g.Refused) != 3 {
			t.Errorf("%d of 3 known requests were refused", len(g.Refused))
		}
	}
	if g := h.emit(h.page("free"), h.page("free")); len(g.Refused) != 1 {
		t.Errorf("%d refused, want the second only: the filter was not asked before", len(g.Refused))
	}
	h.wantSet("at the end", h.drain(), "pending", "first", "free")
}

func stateWithStep(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	if h.resume.State != nil || h.resume.Cookies != nil {
		t.Errorf("a new crawl has state %s, cookies %s", h.resume.State, h.resume.Cookies)
	}
	check := func(state, cookies string) {
		t.Helper()
		if string(h.resume.State) != state || string(h.resume.Cookies) != cookies {
			t.Errorf("state %s, cookies %s, want %s and %s", h.resume.State, h.resume.Cookies, state, cookies)
		}
	}
	h.emit(h.pages("a", "b", "c")...)
	leases := h.lease(3)
	first := done(leases[0].ID)
	first.State, first.Cookies = []byte(`{"n":1}`), []byte("c1")
	h.step(nil, []scheduler.Outcome{first}, 0)
	h.crash()
	check(`{"n":1}`, "c1")
	leases = h.lease(2)
	second, undone := done(leases[0].ID), release(leases[1].ID)
	second.State, second.Cookies = []byte(`{"n":2}`), []byte("c2")
	undone.State, undone.Cookies = []byte(`{"n":3}`), []byte("c3")
	h.step(nil, []scheduler.Outcome{second, undone}, 0)
	h.reopen()
	check(`{"n":2}`, "c1c2")
}

func lastNotes(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	if len(h.resume.Notes) > 0 {
		t.Errorf("a new crawl has the notes %s", h.resume.Notes)
	}
	keep := func(key, value string) {
		o := scheduler.Outcome{Kind: scheduler.Notes, Notes: []crawl.Note{{Key: key, Value: []byte(value)}}}
		h.step(nil, []scheduler.Outcome{o}, 0)
		o.Notes[0].Value[0] = '!' // it is ours again
	}
	check := func(want ...string) {
		t.Helper()
		var got []string
		for key, value := range h.resume.Notes {
			got = append(got, key+" "+string(value))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("notes %q, want %q", got, want)
		}
	}
	keep("a", "1")
	keep("b", "1")
	keep("a", "2")
	h.crash()
	check("a 2", "b 1")
	keep("b", "2")
	h.reopen()
	check("a 2", "b 2")
	h.emit(h.page("page"))
	h.reopen()
	check("a 2", "b 2")
	h.wantSet("beside the notes", h.drain(), "page")
}

func lastReason(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	check := func(reason string, resumed bool) {
		t.Helper()
		if h.resume.Reason != reason || h.resume.Resumed != resumed {
			t.Errorf("reason %q, resumed %v, want %q and %v", h.resume.Reason, h.resume.Resumed, reason, resumed)
		}
	}
	check("", false)
	h.emit(h.page("a"))
	h.close("closespider_pagecount")
	h.open()
	check("closespider_pagecount", true)
	h.crash()
	check("", true)
}

func notBeforeResumed(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.page("soon", at(time.Now().Add(time.Minute))), h.page("far", at(time.Now().Add(48*time.Hour))))
	pass(20 * time.Second)
	h.crash()
	if h.resume.Pending != 2 {
		t.Errorf("%d pending, want 2", h.resume.Pending)
	}
	h.nothingUntil(40 * time.Second)
	h.nothingUntil(time.Hour - 40*time.Second)
}

func idleRuns(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.page("a"))
	for range 7 {
		h.crash()
		h.reopen()
	}
	h.wantNames("after runs without a step", h.drain(), "a")
}
