package jobs_test

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
)

// inject lets some later operation fail: mostly one of those between which an
// order must be kept.
func (w *world) inject() {
	kinds := []faultfs.Kind{faultfs.Any, faultfs.Any, faultfs.Sync, faultfs.Sync, faultfs.SyncDir, faultfs.Write, faultfs.Create}
	kind := kinds[w.rng.IntN(len(kinds))]
	n := 120
	if kind != faultfs.Any {
		n = 20
	}
	w.fs.FailAt(kind, 1+w.rng.IntN(n), errInjected)
}

// TestPowerCuts runs many short lives of jobs, each ended by a power cut or a
// kill at a random operation, also during recovery, and compares what the next
// life finds with the model. In every third job the writing and syncing goes on
// in the background as fast as it can.
func TestPowerCuts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 1)), fs: faultfs.New(), opt: manual(1 << 10), keeps: seed%4 != 0}
			if seed%3 == 0 {
				w.opt.FlushInterval, w.opt.SyncInterval = time.Nanosecond, time.Nanosecond
			}
			atLeast := 0
			for range 8 {
				if w.rng.IntN(2) == 0 {
					w.inject()
				}
				if w.open(atLeast) == nil {
					w.live(w.rng.IntN(40))
				}
				atLeast = w.crash()
			}
			if err := w.open(atLeast); err != nil {
				t.Fatal(err)
			}
			mustClose(t, w.job, jobs.End{Reason: "done"})
		})
	}
}
