package jobs_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
)

// TestStatesAndRounds follows a job through its ends.
func TestStatesAndRounds(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	for i, c := range []struct {
		state jobs.State
		round uint64
		fresh bool
		end   *jobs.End // nil: killed
	}{
		{jobs.StateNew, 1, true, nil},
		{jobs.StateResumed, 1, false, &jobs.End{Reason: "shutdown"}},
		{jobs.StateResumed, 1, false, &jobs.End{Reason: "finished", Finished: true}},
		{jobs.StateFinished, 2, true, &jobs.End{Reason: "closespider_pagecount"}},
		{jobs.StateResumed, 2, false, &jobs.End{Reason: "finished", Finished: true}},
		{jobs.StateFinished, 3, true, nil},
		{jobs.StateResumed, 3, false, nil},
	} {
		j := mustOpen(t, fsys, manual(0))
		if got := j.State(); got != c.state {
			t.Fatalf("run %d: got state %v, want %v", i, got, c.state)
		}
		r := mustRecover(t, j, nil, nil)
		if r.Round != c.round || j.Round() != c.round || r.NewRound != c.fresh || j.Info().Runs != i+1 {
			t.Fatalf("run %d: got %+v, runs %d, want round %d, new %v", i, r, j.Info().Runs, c.round, c.fresh)
		}
		if c.end == nil {
			killed := fsys.Kill()
			abandon(t, j)
			fsys = killed
			continue
		}
		mustClose(t, j, *c.end)
		j = mustOpen(t, fsys, manual(0))
		if got := j.Info().Reason; got != c.end.Reason {
			t.Errorf("run %d: got reason %q, want %q", i, got, c.end.Reason)
		}
		mustClose(t, j, jobs.End{})
	}
}

// TestRoundsAreReplayed: the caller sees where each round began.
func TestRoundsAreReplayed(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	for range 2 {
		j := mustOpen(t, fsys, manual(0))
		mustRecover(t, j, nil, nil)
		numbered(t, j, 1, 1)
		mustClose(t, j, jobs.End{Finished: true})
	}
	var got []string
	j := mustOpen(t, fsys, manual(0))
	mustRecover(t, j, nil, func(o jobs.Op) error {
		switch o.Kind {
		case jobs.OpRound:
			got = append(got, "round")
		case jobs.OpPush:
			got = append(got, "push")
		}
		return nil
	})
	mustClose(t, j, jobs.End{})
	if s := strings.Join(got, " "); s != "round push round push" {
		t.Errorf("got %q, want both rounds with a push", s)
	}
}

// TestFinishedIsNotTouched: opening a finished job and closing it changes no
// byte of any file but the lock.
func TestFinishedIsNotTouched(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	if _, err := shortRun(fsys, 20); err != nil {
		t.Fatal(err)
	}
	snapshot := func() map[string]string {
		files := map[string]string{}
		for _, dir := range []string{jobDir, jobDir + "/requests.queue"} {
			names, err := fsys.List(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				if b, err := fsys.ReadFile(dir + "/" + name); err == nil && name != "lock" {
					files[dir+"/"+name] = string(b)
				}
			}
		}
		return files
	}
	before := snapshot()
	if before[jobDir+"/requests.queue/active.json"] != "{}" {
		t.Error("active.json was not written")
	}
	writes := fsys.Count(faultfs.Write)
	j := mustOpen(t, fsys, manual(0))
	if j.State() != jobs.StateFinished {
		t.Fatalf("got state %v, want finished", j.State())
	}
	mustClose(t, j, jobs.End{Reason: "ignored"})
	after := snapshot()
	if len(before) != len(after) || fsys.Count(faultfs.Write) != writes+1 {
		t.Errorf("got %d files and %d writes, want %d and 1", len(after), fsys.Count(faultfs.Write)-writes, len(before))
	}
	for name, b := range before {
		if after[name] != b {
			t.Errorf("%s was changed", name)
		}
	}
	j = mustOpen(t, fsys, manual(0))
	mustRecover(t, j, nil, nil)
	if _, there := snapshot()[jobDir+"/requests.queue/active.json"]; there {
		t.Error("active.json is still there after Recover")
	}
	mustClose(t, j, jobs.End{})
}

func TestReset(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	if _, err := shortRun(fsys, 20); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/requests.seen", "/spider.state"} {
		if err := fsys.WriteFile(jobDir+name, []byte("old")); err != nil {
			t.Fatal(err)
		}
	}
	j := mustOpen(t, fsys, manual(0))
	if err := j.Reset(); err != nil {
		t.Fatal(err)
	}
	if names, _ := fsys.List(jobDir); strings.Join(names, " ") != "job.json lock" {
		t.Errorf("got %v, want job.json and lock", names)
	}
	ops := 0
	sink := &fileSink{fs: fsys, name: feedPath}
	r := mustRecover(t, j, []jobs.Feed{{Name: "items", Sink: sink, Overwrite: true}}, func(jobs.Op) error { ops++; return nil })
	if j.State() != jobs.StateNew || r.Round != 1 || ops != 0 || j.Info().Runs != 1 || content(t, fsys, feedPath) != "" {
		t.Errorf("got state %v, %+v, %d operations, feed %q", j.State(), r, ops, content(t, fsys, feedPath))
	}
	if err := j.Reset(); err == nil {
		t.Error("Reset after Recover: got no error")
	}
	mustClose(t, j, jobs.End{})
}

func TestRead(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	j := mustOpen(t, fsys, manual(0))
	mustRecover(t, j, nil, nil)
	bodies := map[jobs.Addr][]byte{}
	tx := j.Begin()
	for _, slot := range []int{0, 5, 1000, 5000} {
		for _, n := range []int{0, 1, 900, 1 << 20} {
			r := jobs.Record{Slot: strings.Repeat("s", slot), Priority: -1 << 63, Body: bytes.Repeat([]byte{byte(n)}, n)}
			bodies[tx.Push(r)] = r.Body
		}
	}
	owner := tx.Push(jobs.Record{})
	bodies[owner] = nil
	provisional := tx.Provisional(owner, jobs.Record{Body: []byte("later")})
	bodies[provisional] = []byte("later")
	tx.Adopt(owner)
	mustCommit(t, tx)
	check := func(where string) {
		t.Helper()
		for a, want := range bodies {
			if got, err := j.Read(a, nil); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %v: got %d bytes, %v, want %d", where, a, len(got), err, len(want))
			}
		}
		for _, a := range []jobs.Addr{0, 1, 1 << 32 * 9, provisional + 1} {
			if got, err := j.Read(a, []byte("x")); err == nil || string(got) != "x" {
				t.Errorf("%s, %v: got %q, %v, want an error", where, a, got, err)
			}
		}
	}
	check("in the buffer")
	if err := j.Flush(); err != nil {
		t.Fatal(err)
	}
	check("in the file")
	mustClose(t, j, jobs.End{})
	if _, err := j.Read(owner, nil); !errors.Is(err, jobs.ErrClosed) {
		t.Errorf("after the close: got %v, want ErrClosed", err)
	}
	j = mustOpen(t, fsys, manual(0))
	var kinds []jobs.Kind
	mustRecover(t, j, nil, func(o jobs.Op) error {
		if o.Kind == jobs.OpProvisional || o.Kind == jobs.OpAdopt {
			kinds = append(kinds, o.Kind)
			if o.Owner != owner || o.Kind == jobs.OpProvisional && o.Addr != provisional {
				t.Errorf("got %+v, want owner %v", o, owner)
			}
		}
		return nil
	})
	if len(kinds) != 2 {
		t.Errorf("got %v, want a provisional push and an adoption", kinds)
	}
	check("after recovery")
	mustClose(t, j, jobs.End{})
}

func TestLargeValue(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	j := mustOpen(t, fsys, manual(1<<10))
	mustRecover(t, j, nil, nil)
	value := bytes.Repeat([]byte("v"), 9<<20)
	tx := j.Begin()
	tx.Set("state", value)
	mustCommit(t, tx)
	mustClose(t, j, jobs.End{})
	j = mustOpen(t, fsys, manual(0))
	found := false
	mustRecover(t, j, nil, func(o jobs.Op) error {
		found = found || string(o.Key) == "state" && bytes.Equal(o.Value, value)
		return nil
	})
	if !found {
		t.Error("the value did not come back")
	}
	mustClose(t, j, jobs.End{})
}

func TestVisitError(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	if _, err := shortRun(fsys, 3); err != nil {
		t.Fatal(err)
	}
	j := mustOpen(t, fsys, manual(0))
	if _, err := j.Recover(nil, func(jobs.Op) error { return errInjected }); !errors.Is(err, errInjected) {
		t.Errorf("got %v, want the error of visit", err)
	}
	mustClose(t, j, jobs.End{Finished: true})
	j = mustOpen(t, fsys, manual(0))
	if got := j.Info().Runs; got != 1 {
		t.Errorf("got %d runs, want 1", got)
	}
	mustClose(t, j, jobs.End{})
}

func TestCommitBeforeRecover(t *testing.T) {
	t.Parallel()
	j := mustOpen(t, faultfs.New(), manual(0))
	tx := j.Begin()
	tx.Push(jobs.Record{})
	if err := tx.Commit(); err == nil {
		t.Error("got no error")
	}
	mustClose(t, j, jobs.End{})
	if err := j.Begin().Commit(); !errors.Is(err, jobs.ErrClosed) {
		t.Errorf("after the close: got %v, want ErrClosed", err)
	}
}

func TestCommitTwice(t *testing.T) {
	t.Parallel()
	j := mustOpen(t, faultfs.New(), manual(0))
	mustRecover(t, j, nil, nil)
	tx := j.Begin()
	tx.Push(jobs.Record{})
	mustCommit(t, tx)
	if err := tx.Commit(); err == nil {
		t.Error("got no error")
	}
	mustCommit(t, j.Begin()) // empty: no frame
	if got := j.Stats().Commits; got != 1 {
		t.Errorf("got %d commits, want 1", got)
	}
	mustClose(t, j, jobs.End{})
}
