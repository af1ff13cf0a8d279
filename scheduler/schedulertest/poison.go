package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
)

func poisonRows() []row {
	return []row{
		{"a request that kills the process five times is given up", false, poison},
		{"its neighbours are tried alone, and not given up", false, neighbours},
		{"a download that a crash interrupts does not count", false, interrupted},
		{"an attempt that spider code has left does not count", false, leftAttempt},
		{"an attempt that a release follows does not count", false, releasedAttempt},
		{"an attempt that a clean close follows does not count", false, closedAttempt},
	}
}

// entered reports that the response of a lease is with spider code.
func entered(ids ...scheduler.LeaseID) (progress []scheduler.Progress) {
	for _, id := range ids {
		progress = append(progress, scheduler.Progress{Lease: id, Settled: true}, scheduler.Progress{Lease: id, Entered: true})
	}
	return progress
}

// attempt leases the only request and hands its response to spider code.
func (h *harness) attempt() scheduler.Lease {
	h.Helper()
	l := h.lease(1)[0]
	h.step(entered(l.ID), nil, 0)
	return l
}

func poison(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.page("a"))
	for i := range 5 {
		if l := h.attempt(); l.Careful != (i > 0) {
			t.Errorf("attempt %d: careful %v", i+1, l.Careful)
		}
		if lines := h.log.lines("Given up"); len(lines) > 0 {
			t.Errorf("given up after %d deaths: %s", i, lines[0])
		}
		h.crash()
	}
	lines := h.log.lines("Given up")
	if len(lines) != 1 || !strings.Contains(lines[0], `"warn"`) || !strings.Contains(lines[0], "http://s/a") {
		t.Errorf("log %q, want one warning that names the request", lines)
	}
	if h.resume.Pending != 0 {
		t.Errorf("%d pending, want 0", h.resume.Pending)
	}
	h.wantState(h.step(nil, nil, 1), scheduler.Empty, 0)
	h.crash()
	h.wantState(h.step(nil, nil, 1), scheduler.Empty, 0)
	if len(h.log.lines("Given up")) > 0 {
		t.Error("the warning comes again")
	}
}

func (h *harness) survives(what string, round func()) {
	h.Helper()
	h.durable()
	h.emit(h.page("a"))
	for range 7 {
		round()
	}
	h.wantNames(what, h.drain(), "a")
}

// Pages that are with spider code when something else kills the process come
// last and one by one; only what is alone each time is given up.
func neighbours(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.pages("a", "b", "c", "d")...)
	for range 7 {
		var ids []scheduler.LeaseID
		for _, l := range h.step(nil, nil, 2).Leases {
			ids = append(ids, l.ID)
		}
		h.step(entered(ids...), nil, 0)
		h.crash()
	}
	if lines := h.log.lines("Given up"); len(lines) > 0 {
		t.Errorf("given up: %q", lines)
	}
	h.wantSet("all are still there", h.drain(), "a", "b", "c", "d")
}

func leftAttempt(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.survives("after seven kills while a step waits to be undone", func() {
		l := h.attempt()
		h.step([]scheduler.Progress{{Lease: l.ID, Left: true}}, nil, 0)
		h.crash()
	})
}

func interrupted(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.survives("after seven interrupted downloads", func() {
		h.step(settled(h.lease(1)[0].ID), nil, 0)
		h.crash()
	})
}

func releasedAttempt(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.survives("after seven releases", func() {
		h.step(nil, []scheduler.Outcome{release(h.attempt().ID)}, 0)
		h.crash()
	})
}

func closedAttempt(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.survives("after seven clean ends", func() {
		h.attempt()
		h.reopen()
		h.crash()
	})
}

func unstoredRows() []row {
	return []row{
		{"SCH-15 DQ-15 a request that can not be stored stays in memory", false, unstored},
		{"what can not be stored is lost at the end, with a warning", false, unstoredLost},
		{"what a killed process held in memory is told of", false, unstoredKilled},
		{"its fingerprint becomes durable with its Done", false, unstoredSeen},
		{"its parts", false, partsOfUnstored},
	}
}

func unstored(t testing.TB, open crawlOpener) {
	h := start(t, open, with("SCHEDULER_DEBUG=True"))
	h.durable()
	h.emit(h.page("stored"), h.page("a", closure), h.page("b", closure))
	for _, c := range []struct {
		key  string
		want int64
	}{{"scheduler/unserializable", 2}, {"scheduler/enqueued/memory", 2}, {"scheduler/enqueued/disk", 1}, {"scheduler/enqueued", 3}} {
		if got := h.stats.Count(c.key); got != c.want {
			t.Errorf("%s is %d, want %d", c.key, got, c.want)
		}
	}
	if n := len(h.log.lines("Unable to serialize request: <GET http://s/a>")); n != 1 || len(h.log.lines("Unable")) != 1 {
		t.Errorf("log lines: %q, want one, of the first", h.log.lines("Unable"))
	}
	names := h.drain()
	h.wantSet("memory first", names[:2], "a", "b")
	h.wantNames("then the disk", names[2:], "stored")
	if got := h.stats.Count("scheduler/dequeued/memory"); got != 2 {
		t.Errorf("scheduler/dequeued/memory is %d, want 2", got)
	}
}

func unstoredLost(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.pages("a", "b")...)
	h.emit(h.page("c", closure), h.page("d", closure))
	l := h.lease(1)[0]
	if l.Request == nil || l.Body != nil {
		t.Errorf("the lease has request %v and body %s, want the request only", l.Request, l.Body)
	}
	h.close("shutdown")
	if lines := h.log.lines(`"warn"`); len(lines) != 1 || !strings.Contains(lines[0], "2 requests are lost") {
		t.Errorf("log %q, want one warning of 2 lost requests", lines)
	}
	if got := h.stats.Count("scheduler/unserializable_lost"); got != 2 {
		t.Errorf("scheduler/unserializable_lost is %d, want 2", got)
	}
	h.open()
	if g := h.emit(h.page("c")); len(g.Refused) > 0 {
		t.Error("a lost request can not be found again")
	}
	h.wantSet("after reopening", h.drain(), "a", "b", "c")
}

func unstoredKilled(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.page("a", closure), h.page("b", closure), h.page("c", closure))
	l := h.lease(1)[0]
	h.step(nil, []scheduler.Outcome{done(l.ID)}, 0)
	h.crash()
	if lines := h.log.lines(`"warn"`); len(lines) != 1 || !strings.Contains(lines[0], "2 requests are lost") {
		t.Errorf("log %q, want one warning of 2 lost requests", lines)
	}
	h.reopen()
	if lines := h.log.lines("are lost"); len(lines) != 0 {
		t.Errorf("told again: %q", lines)
	}
}

func unstoredSeen(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.page("a", closure), h.page("b", closure))
	if g := h.emit(h.page("a")); len(g.Refused) != 1 {
		t.Error("a request in memory is not known")
	}
	leases := h.lease(2)
	h.step(settled(leases[0].ID), []scheduler.Outcome{done(leases[0].ID, h.page("child"))}, 0)
	h.crash()
	for i, l := range leases {
		name := l.Request.URL[len("http://s/"):]
		if got := len(h.emit(h.page(name)).Refused); got != 1-i {
			t.Errorf("%s after the crash: refused %d times, want %d", name, got, 1-i)
		}
	}
	h.wantSet("after the crash", h.drain(), "child", leases[1].Request.URL[len("http://s/"):])
}

func callbackRows() []row {
	return []row{{"a callback that the spider lacks is refused by name", false, unknownCallback}}
}

func unknownCallback(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.page("a", h.pageOf), h.page("b", h.pageOf, h.errbackOf), h.page("c"), h.page("d", h.pageOf, priority(9)))
	l := h.lease(1)[0]
	gone := h.name(l)
	h.step(nil, []scheduler.Outcome{done(l.ID)}, 0)
	h.close("shutdown")
	full := h.spider
	h.spider = &PlainSpider{}
	err := h.tryOpen()
	var unknown *scheduler.UnknownCallbackError
	if !errors.As(err, &unknown) || !errors.Is(err, jobs.ErrUnusable) {
		t.Fatalf("error %v, want an UnknownCallbackError", err)
	}
	counts := map[string]int{"a": 1, "b": 1, "d": 1}
	delete(counts, gone)
	if unknown.Counts["Page"] != len(counts) || unknown.Counts["Failed"] != counts["b"] {
		t.Errorf("counts %v, want Page %d and Failed %d", unknown.Counts, len(counts), counts["b"])
	}
	if msg := err.Error(); !strings.Contains(msg, fmt.Sprintf("Page (%d requests)", len(counts))) || !strings.Contains(msg, "spider test") {
		t.Errorf("error %q names neither callback nor spider", msg)
	}
	h.spider = full
	h.open() // the job was not hurt
	h.drain()
	h.close("shutdown")
	h.spider = &PlainSpider{}
	h.open() // nothing needs them any more
	_ = h.f.Close(context.Background(), "shutdown")
}
