package jobs_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
)

// changing are the kinds of operations that change something on the disk.
func changing() []faultfs.Kind {
	return []faultfs.Kind{faultfs.Create, faultfs.Write, faultfs.Sync, faultfs.SyncDir, faultfs.Truncate, faultfs.Rename, faultfs.Remove, faultfs.Mkdir}
}

// purpose says what an operation on a file is for.
func purpose(name string) string {
	base := filepath.Base(name)
	switch {
	case strings.HasPrefix(base, "feed"):
		return "feed"
	case strings.HasPrefix(base, "pack") || strings.Count(base, "-") == 2:
		return "packed segment"
	case strings.HasPrefix(base, "snapshot"), base == "requests.seen":
		return "snapshot"
	case strings.HasPrefix(base, "seg-"):
		return "segment"
	case strings.HasPrefix(base, "job.json"), strings.HasPrefix(base, "active.json"), base == "lock":
		return "manifest and others"
	}
	return "directory"
}

// TestEveryWrite plays two lives, one in a new directory and one that goes on after
// a kill, with records, ends of segments, snapshots, packed segments, feeds and
// closes. It cuts the power at each single operation that changes the disk: once
// so that the process does not notice and goes on, once so that the operation
// fails. Whatever of the unsynced blocks is left, the next life finds one of the
// model's steps, no older than the last that was durable.
func TestEveryWrite(t *testing.T) {
	t.Parallel()
	cuts := &cutCount{at: map[string]int{}}
	t.Run("lives", func(t *testing.T) {
		for name, begin := range map[string]*world{"new": newborn(t), "killed": killedOnce(t)} {
			whole := begin.life(t, func(*world) {})
			for _, kind := range changing() {
				t.Run(name+" "+string(kind), func(t *testing.T) {
					t.Parallel()
					remains := 2
					if kind == faultfs.SyncDir { // what of several renames and removals is left matters
						remains = 24
					}
					for i := range whole.fs.Count(kind) {
						begin.cutAt(t, kind, i+1, cuts).survives(remains)
						begin.life(t, func(w *world) { w.fs.FailAt(kind, i+1, errInjected) }).survives(1)
					}
				})
			}
		}
	})
	cuts.report(t)
}

// cutCount counts power cuts by what they met.
type cutCount struct {
	mu sync.Mutex
	at map[string]int
}

func (c *cutCount) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at[what]++
}

func (c *cutCount) report(t *testing.T) {
	t.Helper()
	sum := 0
	for _, what := range slices.Sorted(maps.Keys(c.at)) {
		t.Logf("%4d at: %s", c.at[what], what)
		sum += c.at[what]
	}
	t.Logf("%d power cuts, each with and without an error", sum)
	for _, what := range []string{
		"write feed", "truncate feed", "write segment", "create segment", "remove segment", "truncate segment", "write snapshot", "rename snapshot",
		"write packed segment", "rename packed segment", "remove packed segment", "write manifest and others",
	} {
		if c.at[what] == 0 {
			t.Errorf("no cut at: %s", what)
		}
	}
}

func newborn(t *testing.T) *world {
	return &world{t: t, rng: rand.New(rand.NewPCG(1, 9)), fs: faultfs.New(), opt: manual(1 << 10), keeps: true}
}

// killedOnce is a world in which a process was killed after some steps, while it
// wrote the next one: its bytes are in a feed, and its frame is not whole.
func killedOnce(t *testing.T) *world {
	t.Helper()
	w := newborn(t)
	synctest.Test(t, func(t *testing.T) {
		w.t = t
		if err := errors.Join(w.open(0), w.steadily(12)); err != nil {
			t.Fatal(err)
		}
		killed := w.fs.Kill()
		w.abandon()
		w.fs = killed
		for _, name := range []string{feedName(0), lastSegment(t, killed)} {
			torn := &fileSink{fs: killed, name: name}
			if err := torn.Append([]byte(`{"step":`)); err != nil {
				t.Fatal(err)
			}
		}
	})
	return w
}

// lastSegment returns the segment of the journal that takes frames.
func lastSegment(t *testing.T, fsys *faultfs.FS) string {
	t.Helper()
	names, err := fsys.List(jobDir + "/requests.queue")
	if err != nil {
		t.Fatal(err)
	}
	plain := slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, ".g1.log") })
	return jobDir + "/requests.queue/" + plain[len(plain)-1]
}

// cutAt plays the life with a power cut at an operation.
func (w *world) cutAt(t *testing.T, kind faultfs.Kind, n int, cuts *cutCount) *world {
	t.Helper()
	durable := -1
	after := w.life(t, func(w *world) {
		w.fs.CutAt(kind, n, func(kind faultfs.Kind, name string) {
			cuts.add(string(kind) + " " + purpose(name))
			durable = w.durable
		})
	})
	if durable < 0 {
		t.Fatalf("there was no %s number %d", kind, n)
	}
	after.durable = durable
	return after
}

// life plays two runs of a copy of the world, and abandons it. Nothing runs beside
// them, so that the operations are the same each time.
func (w *world) life(t *testing.T, prepare func(*world)) *world {
	t.Helper()
	c := *w
	c.fs, c.steps, c.rng = w.fs.Kill(), slices.Clone(w.steps), rand.New(rand.NewPCG(2, 9))
	synctest.Test(t, func(t *testing.T) {
		c.t = t
		prepare(&c)
		if c.runOnce(10) == nil {
			_ = c.runOnce(3)
		}
		c.abandon()
	})
	c.t = t
	return &c
}

// runOnce is a run with a clean end. It returns an error only if one was injected.
func (w *world) runOnce(steps int) error {
	if err := w.open(w.durable); err != nil {
		return err
	}
	if err := w.steadily(steps); err != nil {
		return err
	}
	err := w.job.Close(jobs.End{Reason: "shutdown", Active: []byte("{}"), Fill: w.fill})
	w.job = nil
	if err != nil {
		return w.injected(err)
	}
	w.durable = len(w.steps)
	return nil
}

// steadily makes steps, and writes, syncs and keeps them by turns.
func (w *world) steadily(steps int) error {
	for i := range steps {
		err := w.commit()
		if err == nil && (w.job.SnapshotDue() || i%5 == 4) {
			w.snapshot()
			synctest.Wait()
		}
		if err == nil && i%3 == 0 {
			err = w.job.Flush()
		}
		if err == nil && i%4 == 1 {
			err = w.barrier()
		}
		if err != nil {
			return w.injected(err)
		}
	}
	return nil
}

// survives opens what may be left of the disk, some times over. The first time it
// goes on, and opens it again.
func (w *world) survives(times int) {
	w.t.Helper()
	for i := range times {
		next := *w
		next.rng = rand.New(rand.NewPCG(uint64(i), 10))
		next.fs, next.steps, next.fresh = w.fs.Crash(next.rng), slices.Clone(w.steps), nil
		if err := next.open(w.durable); err != nil {
			w.t.Fatal(err)
		}
		if i == 0 {
			next.goesOn()
		}
		mustClose(w.t, next.job, jobs.End{Reason: "done"})
	}
}

// goesOn makes some steps, ends the run, and begins another.
func (w *world) goesOn() {
	w.t.Helper()
	for range 3 {
		if err := w.commit(); err != nil {
			w.t.Fatal(err)
		}
	}
	mustClose(w.t, w.job, jobs.End{Reason: "shutdown", Fill: w.fill})
	if err := w.open(len(w.steps)); err != nil {
		w.t.Fatal(err)
	}
}
