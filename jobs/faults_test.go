package jobs_test

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
)

// shortRun runs a whole life over several segments and returns how many steps
// a Barrier has reported durable, and its first error.
func shortRun(fsys *faultfs.FS, steps int) (durable int, err error) {
	j, err := jobs.Open(fsys, jobDir, identity(), manual(1<<10))
	if err != nil {
		return 0, err
	}
	sink := &fileSink{fs: fsys, name: feedPath}
	_, err = j.Recover([]jobs.Feed{{Name: "items", Sink: sink}}, nil)
	recovered := err == nil
	for i := 1; i <= steps && err == nil; i++ {
		tx := j.Begin()
		tx.Push(jobs.Record{Slot: "s", Body: []byte(strings.Repeat("b", 100))})
		tx.Set("n", []byte(strconv.Itoa(i)))
		tx.Feed(0, []byte(strconv.Itoa(i)+"\n"))
		if err = tx.Commit(); err == nil && i%3 == 0 {
			if err = j.Barrier(); err == nil {
				durable = i
			}
		}
	}
	if err == nil {
		err = j.Close(jobs.End{Reason: "finished", Finished: true, Active: []byte("{}")})
		if err == nil {
			durable = steps
		}
		return durable, err
	}
	if cerr := j.Close(jobs.End{}); recovered && cerr == nil {
		return durable, errors.New("close hides the failure")
	}
	return durable, err
}

// resumed checks that the directory can be resumed, with the feed and the steps
// in agreement and nothing durable lost. It closes the job and returns how many
// steps it has.
func resumed(t *testing.T, fsys *faultfs.FS, durable, steps int, what string) int {
	t.Helper()
	j, err := jobs.Open(fsys, jobDir, identity(), manual(0))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	s := newState()
	r, err := j.Recover([]jobs.Feed{{Name: "items", Sink: &fileSink{fs: fsys, name: feedPath}}}, s.visit)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	n, _ := strconv.Atoi(s.meta["n"])
	if n < durable || n > steps {
		t.Fatalf("%s: got %d steps, want %d to %d (%v)", what, n, durable, steps, r.Warnings)
	}
	var want strings.Builder
	for i := 1; i <= n; i++ {
		want.WriteString(strconv.Itoa(i) + "\n")
	}
	if got := content(t, fsys, feedPath); got != want.String() {
		t.Fatalf("%s: got feed %q, want %q", what, got, want.String())
	}
	mustClose(t, j, jobs.End{})
	return n
}

// TestEveryOperationFails lets each single operation of a life fail, and then
// cuts the power, or only kills.
func TestEveryOperationFails(t *testing.T) {
	t.Parallel()
	const steps = 20
	for n := 1; ; n++ {
		fsys := faultfs.New()
		fsys.FailAt(faultfs.Any, n, errInjected)
		durable, err := shortRun(fsys, steps)
		if err == nil {
			if n < 80 {
				t.Errorf("only %d operations", n)
			}
			return
		}
		if !errors.Is(err, errInjected) {
			t.Fatalf("operation %d: got %v, want the injected error", n, err)
		}
		what := "operation " + strconv.Itoa(n)
		rng := rand.New(rand.NewPCG(uint64(n), 2))
		resumed(t, fsys.Crash(rng), durable, steps, what+", power cut")
		killed := fsys.Kill()
		steps := resumed(t, killed, durable, steps, what+", kill")
		resumed(t, killed.Crash(rng), steps, steps, what+", kill, close, power cut")
	}
}

// TestDiskFull fills the disk at every length.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	const steps = 12
	for space := int64(0); ; space += 37 {
		fsys := faultfs.New()
		fsys.LimitBytes(space)
		durable, err := shortRun(fsys, steps)
		if err == nil {
			return
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("%d bytes: got %v, want ENOSPC", space, err)
		}
		next := fsys.Kill()
		resumed(t, next, durable, steps, strconv.FormatInt(space, 10)+" bytes")
	}
}

// TestFailureIsFinal: after a failed sync nothing is written or retried, and
// every later call says what failed.
func TestFailureIsFinal(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	j := mustOpen(t, fsys, manual(0))
	mustRecover(t, j, nil, nil)
	numbered(t, j, 1, 3)
	fsys.FailAt(faultfs.Sync, 1, errInjected)
	first := j.Barrier()
	if !errors.Is(first, errInjected) || !strings.Contains(first.Error(), segmentPath(1)) {
		t.Fatalf("got %v, want the injected error with the file", first)
	}
	writes := fsys.Count(faultfs.Write)
	tx := j.Begin()
	tx.Push(jobs.Record{})
	for name, err := range map[string]error{"Commit": tx.Commit(), "Barrier": j.Barrier(), "Flush": j.Flush(), "Close": j.Close(jobs.End{}), "Close again": j.Close(jobs.End{})} {
		if !errors.Is(err, first) {
			t.Errorf("%s: got %v, want %v", name, err, first)
		}
	}
	if got := fsys.Count(faultfs.Write); got != writes {
		t.Errorf("%d writes after the failure", got-writes)
	}
	mustClose(t, mustOpen(t, fsys, manual(0)), jobs.End{}) // the lock is free
}

// TestCrashDuringReset leaves the old job or a new one.
func TestCrashDuringReset(t *testing.T) {
	t.Parallel()
	base := faultfs.New()
	if _, err := shortRun(base, 20); err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ {
		fsys := base.Kill()
		j := mustOpen(t, fsys, manual(0))
		fsys.FailAt(faultfs.Any, n, errInjected)
		err := j.Reset()
		crashed := fsys.Crash(rand.New(rand.NewPCG(uint64(n), 3)))
		_ = j.Close(jobs.End{}) // the injected error may meet it
		if err == nil {
			return
		}
		j = mustOpen(t, crashed, manual(0))
		state := j.State()
		s := newState()
		r := mustRecover(t, j, nil, s.visit)
		switch {
		case state == jobs.StateFinished && r.Round == 2 && s.meta["n"] == "20":
		case state == jobs.StateNew && r.Round == 1 && len(s.meta) == 0:
		default:
			t.Fatalf("operation %d: got state %v, round %d, %v", n, state, r.Round, s.meta)
		}
		mustClose(t, j, jobs.End{})
		if names, _ := crashed.List(jobDir); strings.Contains(strings.Join(names, " "), ".old") {
			t.Fatalf("operation %d: got %v, want no old journal", n, names)
		}
	}
}

// TestKilledBeforeDirectorySync: a directory that a killed process has made but
// not synced does not take what a later run has synced with it.
func TestKilledBeforeDirectorySync(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		fsys := faultfs.New()
		if err := errors.Join(fsys.Mkdir("/crawls", 0o700), fsys.SyncDir("/")); err != nil {
			t.Fatal(err)
		}
		fsys.FailAt(faultfs.SyncDir, n, errInjected)
		if _, err := shortRun(fsys, 3); err == nil {
			t.Fatal("nothing failed")
		}
		if content(t, fsys, feedPath) != "" { // the directories are done
			return
		}
		for seed := range uint64(10) {
			killed := fsys.Kill()
			if _, err := shortRun(killed, 6); err != nil {
				t.Fatal(err)
			}
			resumed(t, killed.Crash(rand.New(rand.NewPCG(seed, 4))), 6, 6, "directory sync "+strconv.Itoa(n))
		}
	}
}
