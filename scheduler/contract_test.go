package scheduler_test

import (
	"testing"

	"github.com/skeincrawl/skein/scheduler/schedulertest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	overStores(t, schedulertest.Contract)
}

func TestJournal(t *testing.T) {
	t.Parallel()
	overStores(t, schedulertest.Journal)
}

func TestOrder(t *testing.T) {
	t.Parallel()
	overStores(t, schedulertest.Order)
}

// overStores runs a suite over every store with every priority queue.
func overStores(t *testing.T, suite func(*testing.T, schedulertest.Opener, ...string)) {
	t.Helper()
	for name, open := range stores() {
		for _, queue := range []string{"downloader-aware", "priority"} {
			t.Run(name+"/"+queue, func(t *testing.T) {
				t.Parallel()
				suite(t, open, "SCHEDULER_PRIORITY_QUEUE="+queue)
			})
		}
	}
}
