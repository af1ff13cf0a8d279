package jobs_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
)

// worn returns a job that has lived: with a snapshot, packed segments, frames
// behind the snapshot, and two feeds. It ended without a close.
func worn(t *testing.T, seed uint64) *world {
	t.Helper()
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 7)), fs: faultfs.New(), opt: manual(1 << 10), keeps: true}
	for range 4 {
		if err := w.open(0); err != nil {
			t.Fatal(err)
		}
		w.live(60)
		if err := w.job.Flush(); err != nil {
			t.Fatal(err)
		}
		w.flushed = len(w.steps)
		next := w.fs.Kill()
		w.abandon()
		w.fs = next
	}
	return w
}

// jobFiles returns the files of a job but for those that say nothing of its
// requests.
func jobFiles(t *testing.T, fs *faultfs.FS) (files []string) {
	t.Helper()
	for _, dir := range []string{jobDir, jobDir + "/requests.queue"} {
		names, err := fs.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if name != "lock" && name != "job.json" && name != "requests.queue" && !strings.HasSuffix(name, ".tmp") {
				files = append(files, dir+"/"+name)
			}
		}
	}
	return files
}

// TestVerify: a sound job has no problems, and all of its records are read.
func TestVerify(t *testing.T) {
	t.Parallel()
	w := worn(t, 1)
	want, _, _ := w.model(len(w.steps))
	r, err := jobs.Verify(w.fs, jobDir)
	if err != nil || len(r.Problems) > 0 || r.Segments < 2 {
		t.Fatalf("got %+v, %v, want no problem", r, err)
	}
	if parts := r.Records - len(want.live); parts < 0 { // parts are kept until the next run
		t.Errorf("%d records were read, want at least %d", r.Records, len(want.live))
	}
	for _, name := range jobFiles(t, w.fs) {
		t.Log(name)
	}
	if got, err := jobs.Repair(w.fs, jobDir); err != nil || got.Backup != "" || len(got.Lost) > 0 {
		t.Errorf("repair of a sound job: %+v, %v, want that nothing is done", got, err)
	}
	if _, err := jobs.Verify(w.fs, "/nowhere"); !errors.Is(err, jobs.ErrUnusable) {
		t.Errorf("no job: got %v, want ErrUnusable", err)
	}
}

// spoil changes a byte of a file.
func spoil(t *testing.T, fs *faultfs.FS, name string, at int) {
	t.Helper()
	b := []byte(content(t, fs, name))
	b[at] ^= 0x55
	if err := fs.WriteFile(name, b); err != nil {
		t.Fatal(err)
	}
}

// TestRepair: whatever byte is spoiled, and whatever file is missing, after a
// repair the job opens, and has each request that could be read, with its body.
func TestRepair(t *testing.T) {
	t.Parallel()
	w := worn(t, 2)
	rng := rand.New(rand.NewPCG(3, 3))
	for _, name := range jobFiles(t, w.fs) {
		size := len(content(t, w.fs, name))
		for i := range 6 {
			at := rng.IntN(size)
			if i == 0 {
				at = size - 1
			}
			t.Run(fmt.Sprintf("%s at %d", name[len(jobDir)+1:], at), func(t *testing.T) {
				fs := w.fs.Kill()
				spoil(t, fs, name, at)
				repaired(t, w, fs)
			})
		}
		t.Run(name[len(jobDir)+1:]+" missing", func(t *testing.T) {
			fs := w.fs.Kill()
			if err := fs.Remove(name); err != nil {
				t.Fatal(err)
			}
			repaired(t, w, fs)
		})
	}
}

// repaired repairs a job and checks what is in it then.
func repaired(t *testing.T, w *world, fs *faultfs.FS) {
	t.Helper()
	found, err := jobs.Verify(fs, jobDir)
	if err != nil {
		t.Fatalf("Verify: %v", err)
	}
	r, err := jobs.Repair(fs, jobDir)
	if err != nil {
		t.Fatalf("Repair: %v (%v)", err, found.Problems)
	}
	if (r.Backup != "") != (len(found.Problems) > 0) {
		t.Errorf("problems %v, but %+v", found.Problems, r)
	}
	if again, err := jobs.Verify(fs, jobDir); err != nil || len(again.Problems) > 0 {
		t.Fatalf("after the repair: %+v, %v", again, err)
	}
	want, bodies, _ := w.model(len(w.steps))
	got := newState()
	j := mustOpen(t, fs, manual(0))
	_, err = j.Recover(feedsOf(fs), got.visit)
	if err != nil {
		t.Fatalf("open after the repair: %v", err)
	}
	texts := map[string]int{}
	for a, text := range got.live {
		body, err := j.Read(a, nil)
		if err != nil {
			t.Fatalf("record %v: %v", a, err)
		}
		texts[text+string(body)]++
	}
	missing := 0
	for a, text := range want.live {
		if key := text + string(bodies[a]); texts[key] > 0 {
			texts[key]--
		} else {
			missing++
		}
	}
	if missing > 0 && len(r.Lost) == 0 && len(found.Problems) > 0 {
		t.Errorf("%d requests are missing, but nothing is said to be lost", missing)
	}
	if most := len(want.live) / 2; missing > most && len(want.live) > 10 {
		t.Errorf("%d of %d requests are missing: %v", missing, len(want.live), r.Lost)
	}
	mustClose(t, j, jobs.End{})
}

func feedsOf(fs *faultfs.FS) []jobs.Feed {
	list := make([]jobs.Feed, 2)
	for k := range list {
		list[k] = jobs.Feed{Name: feedName(k), Sink: &fileSink{fs: fs, name: feedName(k)}}
	}
	return list
}

// TestRepairKeepsTheRest: what a repair writes anew is what was there, but for
// the addresses.
func TestRepairKeepsTheRest(t *testing.T) {
	t.Parallel()
	w := worn(t, 4)
	if err := w.open(0); err != nil {
		t.Fatal(err)
	}
	w.live(10)
	if err := errors.Join(w.barrier(), w.barrier()); err != nil { // two, so that a mark vouches for all of it
		t.Fatal(err)
	}
	next := w.fs.Kill()
	w.abandon()
	w.fs = next
	files := jobFiles(t, w.fs)
	last := files[slices.IndexFunc(files, func(n string) bool { return strings.HasSuffix(n, "/snapshot") })-1]
	spoil(t, w.fs, last, 20) // its header
	r, err := jobs.Repair(w.fs, jobDir)
	if err != nil || r.Backup == "" || len(r.Lost) == 0 {
		t.Fatalf("got %+v, %v", r, err)
	}
	want, _, _ := w.model(len(w.steps))
	got := newState()
	j := mustOpen(t, w.fs, manual(0))
	if _, err := j.Recover(feedsOf(w.fs), got.visit); err != nil {
		t.Fatal(err)
	}
	mustClose(t, j, jobs.End{})
	left := slices.Sorted(maps.Values(got.live))
	missing := 0
	for _, text := range want.live {
		if i, ok := slices.BinarySearch(left, text); ok {
			left = slices.Delete(left, i, i+1)
		} else {
			missing++
		}
	}
	if missing > len(want.live)/3 {
		t.Errorf("%d of %d requests are missing", missing, len(want.live))
	}
	unseen := 0
	for key := range want.seen {
		if !got.seen[key] {
			unseen++
		}
	}
	if unseen > 30 {
		t.Errorf("%d of %d fingerprints are lost", unseen, len(want.seen))
	}
	if got.meta["n"] == "" {
		t.Error("the values are lost")
	}
}

// TestCrashDuringRepair: a repair that was interrupted at any place goes on.
func TestCrashDuringRepair(t *testing.T) {
	t.Parallel()
	w := worn(t, 5)
	spoil(t, w.fs, jobDir+"/requests.queue/snapshot", 30)
	rng := rand.New(rand.NewPCG(5, 5))
	for op := 1; ; op++ {
		fs := w.fs.Kill()
		fs.FailAt(faultfs.Any, op, errInjected)
		_, err := jobs.Repair(fs, jobDir)
		if err == nil {
			return
		}
		for _, next := range []*faultfs.FS{fs.Kill(), fs.Crash(rng)} {
			if _, err := jobs.Repair(next, jobDir); err != nil {
				t.Fatalf("operation %d: %v", op, err)
			}
			if v, err := jobs.Verify(next, jobDir); err != nil || len(v.Problems) > 0 {
				t.Fatalf("operation %d: %+v, %v", op, v, err)
			}
			j := mustOpen(t, next, manual(0))
			mustRecover(t, j, feedsOf(next), nil)
			mustClose(t, j, jobs.End{})
		}
	}
}

// TestRepairOfSteps: the records of a step in parts that the snapshot has are kept,
// and adopted by the frame behind it.
func TestRepairOfSteps(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	j := mustOpen(t, fsys, manual(0))
	mustRecover(t, j, nil, nil)
	tx := j.Begin()
	owner := tx.Push(jobs.Record{Slot: "s", Body: []byte("owner")})
	mustCommit(t, tx)
	tx = j.Begin()
	for i := range 100 {
		tx.Provisional(owner, jobs.Record{Slot: "s", Body: fmt.Append(nil, "part", i)})
	}
	mustCommit(t, tx)
	j.Snapshot(func(*jobs.Snapshot) {})
	tx = j.Begin()
	tx.Adopt(owner)
	tx.Ack(owner)
	mustCommit(t, tx)
	numbered(t, j, 1, 5)
	mustClose(t, j, jobs.End{})
	b := content(t, fsys, segmentPath(1))
	spoil(t, fsys, segmentPath(1), strings.LastIndex(b, strings.Repeat("b", 100))-300) // in a numbered step
	r, err := jobs.Repair(fsys, jobDir)
	if err != nil || r.Backup == "" {
		t.Fatalf("got %+v, %v", r, err)
	}
	got := newState()
	j = mustOpen(t, fsys, manual(0))
	mustRecover(t, j, nil, got.visit)
	mustClose(t, j, jobs.End{})
	if len(got.live) < 100+3 {
		t.Errorf("%d requests are pending, want 100 of the step and most of 5: %v", len(got.live), r.Lost)
	}
}

// TestRepairOfSeen: of a file of fingerprints that has become shorter what is left
// counts, and what is queued is seen in any case.
func TestRepairOfSeen(t *testing.T) {
	t.Parallel()
	w := worn(t, 9)
	name := jobDir + "/requests.seen"
	b := content(t, w.fs, name)
	if err := w.fs.WriteFile(name, []byte(b[:len(b)-8])); err != nil {
		t.Fatal(err)
	}
	if r, err := jobs.Repair(w.fs, jobDir); err != nil || r.Backup == "" {
		t.Fatalf("got %+v, %v", r, err)
	}
	want, _, _ := w.model(len(w.steps))
	got := newState()
	j := mustOpen(t, w.fs, manual(0))
	if _, err := j.Recover(feedsOf(w.fs), got.visit); err != nil {
		t.Fatal(err)
	}
	mustClose(t, j, jobs.End{})
	missing := 0
	for key := range want.seen {
		if !got.seen[key] {
			missing++
		}
	}
	if missing > 1 || len(got.live) != len(want.live) {
		t.Errorf("%d of %d fingerprints are lost, %d of %d requests are queued", missing, len(want.seen), len(got.live), len(want.live))
	}
}

// TestUnfinishedRepair: nothing uses a job whose repair was interrupted while its
// files were put in their place.
func TestUnfinishedRepair(t *testing.T) {
	t.Parallel()
	w := worn(t, 11)
	if err := w.fs.WriteFile(jobDir+"/repair.done", []byte("requests.queue")); err != nil {
		t.Fatal(err)
	}
	var unfinished *jobs.UnfinishedRepairError
	if _, err := jobs.Open(w.fs, jobDir, identity(), manual(0)); !errors.As(err, &unfinished) || !errors.Is(err, jobs.ErrUnusable) {
		t.Errorf("Open: got %v", err)
	}
	if _, err := jobs.Look(w.fs, jobDir); !errors.As(err, &unfinished) {
		t.Errorf("Look: got %v", err)
	}
}
