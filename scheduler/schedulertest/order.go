package schedulertest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/scheduler"
)

// Order proves the orders that the default frontier promises. The settings, of
// the form NAME=value, are those of all crawls.
func Order(t *testing.T, open Opener, settings ...string) {
	t.Helper()
	runRows(t, crawlOpener{open, settings}, slices.Concat(
		queueRows(), priorityRows(), startOrderRows(), layerRows(), slotOrderRows(), dupeRows(),
	))
}

// fifo lets the queues of callbacks' requests be first in, first out.
func fifo() func(*harness) {
	return with("SCHEDULER_MEMORY_QUEUE=fifo", "SCHEDULER_DISK_QUEUE=fifo")
}

// list makes entries of words like "a", "b:3" (priority) and "s c:-1" (a start
// request).
func (h *harness) list(words ...string) (entries []scheduler.Entry) {
	h.Helper()
	for _, w := range words {
		var change []func(*crawl.Request)
		rest, isStartRequest := strings.CutPrefix(w, "s ")
		if isStartRequest {
			change = append(change, isStart)
		}
		name, p, found := strings.Cut(rest, ":")
		if found {
			n := 0
			if _, err := fmt.Sscan(p, &n); err != nil {
				h.Fatal(err)
			}
			change = append(change, priority(n))
		}
		entries = append(entries, h.page(name, change...))
	}
	return entries
}

// either proves something of a run, and of one that was closed after the pushes.
func either(t testing.TB, open crawlOpener, opts []func(*harness), push, check func(h *harness)) {
	t.Helper()
	for _, again := range []bool{false, true} {
		h := start(t, open, opts...)
		push(h)
		if _, ok := h.store.(Crasher); again && ok {
			h.reopen()
		}
		check(h)
	}
}

func queueRows() []row {
	return []row{
		{"PQ-01 DQ-01 SCH-01 an empty queue", false, emptyQueue},
		{"PQ-02 DQ-02 DQ-05 DQ-19 one in, one out", false, oneInOneOut},
		{"DQ-03 DQ-20 PQ-13 first in, first out", false, firstOut},
		{"DQ-04 DQ-20 last in, first out", false, lastOut},
		{"DQ-07 close and reopen", false, queueReopened},
		{"LIFO becomes FIFO with the settings", false, kindChanges},
	}
}

func emptyQueue(t testing.TB, open crawlOpener) {
	either(t, open, nil, func(*harness) {}, func(h *harness) {
		g := h.step(nil, nil, 1)
		h.wantState(g, scheduler.Empty, 0)
		h.wantNames("leases", h.names(g.Leases))
	})
}

func oneInOneOut(t testing.TB, open crawlOpener) {
	var body string
	either(t, open, nil, func(h *harness) {
		e := h.page("a", priority(1), func(r *crawl.Request) { r.Body = []byte("\r\n\x00\xff") })
		body = string(e.Body)
		h.wantState(h.emit(e), scheduler.Running, 1)
	}, func(h *harness) {
		l := h.lease(1)[0]
		if string(l.Body) != body {
			t.Errorf("body %q, want %q", l.Body, body)
		}
		h.wantState(h.step(nil, []scheduler.Outcome{done(l.ID)}, 1), scheduler.Empty, 0)
	})
}

// pops finishes n requests and returns their names.
func (h *harness) pops(n int) (names []string) {
	h.Helper()
	for range n {
		l := h.lease(1)[0]
		names = append(names, h.name(l))
		h.step(nil, []scheduler.Outcome{done(l.ID)}, 0)
	}
	return names
}

func firstOut(t testing.TB, open crawlOpener) {
	either(t, open, []func(*harness){fifo()}, func(h *harness) {
		h.emit(h.pages("a", "b", "c", "d")...)
		h.wantNames("first", h.pops(2), "a", "b")
		h.wantState(h.emit(h.page("e")), scheduler.Running, 3)
	}, func(h *harness) {
		h.wantNames("then", h.pops(2), "c", "d")
		h.wantNames("last", h.drain(), "e")
	})
}

func lastOut(t testing.TB, open crawlOpener) {
	either(t, open, nil, func(h *harness) {
		h.emit(h.pages("a", "b", "c", "d")...)
		h.wantNames("first", h.pops(2), "d", "c")
		h.emit(h.page("e"))
	}, func(h *harness) {
		h.wantNames("then", h.drain(), "e", "b", "a")
	})
}

func queueReopened(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.pages("a", "b", "c", "d")...)
	h.wantNames("first run", h.pops(2), "d", "c")
	h.reopen()
	h.emit(h.page("e"))
	h.wantNames("second run", h.pops(2), "e", "b")
	h.reopen()
	h.wantState(h.step(nil, nil, 0), scheduler.Running, 1)
	h.wantNames("third run", h.drain(), "a")
}

func kindChanges(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.list("a", "b", "s x", "c", "s y")...)
	fifo()(h)
	with("SCHEDULER_START_DISK_QUEUE=lifo")(h)
	h.reopen()
	h.wantNames("the other way round", h.drain(), "a", "b", "c", "y", "x")
}

func priorityRows() []row {
	return []row{
		{"SCH-04 the highest priority first", false, highestFirst},
		{"PQ-03 PQ-04 PQ-26 PQ-30 what is left after one", false, leftAfterOne},
		{"PQ-23 equal priorities FIFO", false, equalFIFO},
		{"PQ-24 equal priorities LIFO", false, equalLIFO},
		{"heritrix3#721 the full range of priorities", false, fullRange},
		{"the full range of priorities over slots", false, fullRangeSlots},
		{"twelve mixed requests LIFO", false, mixedLIFO},
		{"twelve mixed requests FIFO", false, mixedFIFO},
	}
}

// ordered pushes words and wants names in order.
func ordered(t testing.TB, open crawlOpener, opts []func(*harness), push, want string) {
	t.Helper()
	either(t, open, opts, func(h *harness) {
		h.emit(h.list(strings.Split(push, ", ")...)...)
	}, func(h *harness) {
		h.Helper()
		h.wantNames(push, h.drain(), strings.Fields(want)...)
	})
}

func highestFirst(t testing.TB, open crawlOpener) {
	ordered(t, open, nil, "a:-2, d:1, b:-1, c:0, e:2", "e d c b a")
}

func leftAfterOne(t testing.TB, open crawlOpener) {
	either(t, open, nil, func(h *harness) {
		h.emit(h.list("1:1", "2:2", "3:3")...)
		h.wantNames("first", h.pops(1), "3")
	}, func(h *harness) {
		h.wantState(h.step(nil, nil, 0), scheduler.Running, 2)
		h.wantNames("then", h.drain(), "2", "1")
	})
}

func equalFIFO(t testing.TB, open crawlOpener) {
	ordered(t, open, []func(*harness){fifo()}, "a:-3, b:-1, c:-2, d:-1", "b d c a")
}

func equalLIFO(t testing.TB, open crawlOpener) {
	ordered(t, open, nil, "a:-3, b:-1, c:-2, d:-1", "d b c a")
}

func fullRange(t testing.TB, open crawlOpener) {
	push := fmt.Sprintf("least:%d, 0, most:%d, m:-1, p:1, low:%d, high:%d, s s:%d",
		math.MinInt, math.MaxInt, math.MinInt+1, math.MaxInt-1, math.MinInt)
	ordered(t, open, nil, push, "most high p 0 m low least s")
}

func fullRangeSlots(t testing.TB, open crawlOpener) {
	either(t, open, []func(*harness){with("SCHEDULER_PRIORITY_QUEUE=priority")}, func(h *harness) {
		for host, p := range map[string]int{"a": math.MinInt, "b": 0, "c": math.MaxInt, "d": -1, "e": math.MinInt + 1} {
			h.emit(h.entry("http://"+host+"/"+host, priority(p)))
		}
	}, func(h *harness) {
		h.wantNames("over slots", h.drain(), "c", "b", "d", "e", "a")
	})
}

const mixed = "0:0, 1:5, 2:-3, 3:10, 4:0, 5:5, 6:-3, 7:10, 8:1, 9:1, 10:0, 11:0"

func mixedLIFO(t testing.TB, open crawlOpener) {
	ordered(t, open, nil, mixed, "7 3 5 1 9 8 11 10 4 0 6 2")
}

func mixedFIFO(t testing.TB, open crawlOpener) {
	ordered(t, open, []func(*harness){fifo()}, mixed, "3 7 1 5 8 9 0 4 10 11 2 6")
}
