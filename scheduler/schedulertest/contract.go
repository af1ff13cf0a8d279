package schedulertest

import (
	"slices"
	"testing"
	"testing/synctest"
)

// row is one promise and how it is proved.
type row struct {
	name  string
	timed bool // runs in a bubble of testing/synctest
	prove func(t testing.TB, open crawlOpener)
}

// crawlOpener opens stores for crawls that have settings in common.
type crawlOpener struct {
	Opener
	settings []string
}

func runRows(t *testing.T, open crawlOpener, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if r.timed {
				synctest.Test(t, func(t *testing.T) { r.prove(t, open) })
				return
			}
			r.prove(t, open)
		})
	}
}

// Contract proves what every frontier promises, also one of [scheduler.Adapt]. It
// does not depend on the order in which requests are granted, but for that a
// request that comes back has its old place. The part about what outlives a run is
// for a [Crasher]. The settings, of the form NAME=value, are those of all crawls.
func Contract(t *testing.T, open Opener, settings ...string) {
	t.Helper()
	runRows(t, crawlOpener{open, settings}, slices.Concat(
		stepRows(), repeatRows(), outsideRows(), closeRows(), slotRows(), delayRows(), acquireRows(), acquireLineRows(),
		resumeRows(), startRows(), roundRows(), partRows(),
	))
}

// Journal proves what a frontier promises on top that keeps the requests itself,
// in a job directory: it knows which of them killed a process or can not be
// stored, and what Start had emitted. The settings are as for [Contract].
func Journal(t *testing.T, open Opener, settings ...string) {
	t.Helper()
	runRows(t, crawlOpener{open, settings}, slices.Concat(poisonRows(), unstoredRows(), callbackRows(), journalRows()))
}
