package schedulertest

import (
	"testing"

	"github.com/skeincrawl/skein/scheduler"
)

func startOrderRows() []row {
	rows := []row{{"PQ-06 a start request outlives its run", false, startReopened}}
	for _, c := range []struct{ name, push, want string }{
		{"PQ-07 two requests", "1, 2", "2 1"},
		{"PQ-08 two start requests", "s 1, s 2", "1 2"},
		{"PQ-09 priority 1, then a start request", "1:1, s 2", "1 2"},
		{"PQ-10 a request, then a start request of priority 1", "1, s 2:1", "2 1"},
		{"PQ-11 a request, then a start request", "1, s 2", "1 2"},
		{"PQ-12 a start request, then a request", "s 1, 2", "2 1"},
	} {
		rows = append(rows, row{c.name, false, func(t testing.TB, open crawlOpener) { ordered(t, open, nil, c.push, c.want) }})
	}
	return append(rows,
		row{"start requests share the queue", false, startShares},
		row{"start requests LIFO", false, startLIFO},
	)
}

func startReopened(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.page("a", isStart))
	h.reopen()
	h.wantState(h.step(nil, nil, 0), scheduler.Running, 1)
	h.wantNames("after reopening", h.drain(), "a")
}

func startShares(t testing.TB, open crawlOpener) {
	shared := with("SCHEDULER_START_MEMORY_QUEUE=None", "SCHEDULER_START_DISK_QUEUE=None")
	ordered(t, open, []func(*harness){shared}, "s 1, 2, s 3, 4:1, s 5:1", "5 4 3 2 1")
	ordered(t, open, []func(*harness){shared, fifo()}, "s 1, 2, s 3, 4:1, s 5:1", "4 5 1 2 3")
}

func startLIFO(t testing.TB, open crawlOpener) {
	lifo := with("SCHEDULER_START_MEMORY_QUEUE=lifo", "SCHEDULER_START_DISK_QUEUE=lifo")
	ordered(t, open, []func(*harness){lifo, fifo()}, "s 1, s 2, 3, 4", "3 4 2 1")
}

func layerRows() []row {
	return []row{
		{"PQ-28 PQ-29 memory before disk, whatever the priority", false, memoryFirst},
		{"disk while the slot of memory is busy", false, diskMeanwhile},
	}
}

func memoryFirst(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.durable()
	h.emit(h.page("a", priority(-3)), h.page("b", priority(9)), h.page("bad", closure, priority(-9)),
		h.page("c", priority(-2)), h.page("worse", closure, priority(-10)))
	h.wantNames("memory first", h.drain(), "bad", "worse", "b", "c", "a")
}

func diskMeanwhile(t testing.TB, open crawlOpener) {
	h := start(t, open, limited(1))
	h.durable()
	h.emit(h.entry("http://m/1", closure), h.entry("http://m/2", closure), h.entry("http://d/3"))
	h.wantNames("both layers", h.names(h.lease(2)), "2", "3")
}
