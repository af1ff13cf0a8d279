package feeds

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
)

// faultSink is a file on a disk that fails.
type faultSink struct {
	fs   jobs.FS
	name string
	f    jobs.File
}

func (s *faultSink) open(flag int) (err error) {
	if s.f == nil {
		if s.f, err = s.fs.OpenFile(s.name, os.O_RDWR|flag, 0o600); err != nil {
			s.f = nil
		}
	}
	return err
}

func (s *faultSink) Append(b []byte) error {
	if err := s.open(os.O_CREATE); err != nil {
		return err
	}
	size, err := s.f.Size()
	if err == nil {
		_, err = s.f.WriteAt(b, size)
	}
	return err
}

func (s *faultSink) Sync() error {
	if err := s.open(0); err != nil {
		return err
	}
	return errors.Join(s.f.Sync(), s.fs.SyncDir(filepath.Dir(s.name)))
}

func (s *faultSink) Size() (int64, error) {
	if err := s.open(0); err != nil {
		return 0, err
	}
	return s.f.Size()
}

func (s *faultSink) Truncate(n int64) error {
	if err := s.open(0); err != nil {
		return err
	}
	return s.f.Truncate(n)
}

func (s *faultSink) ReadAt(b []byte, off int64) (int, error) {
	if err := s.open(0); err != nil {
		return 0, err
	}
	return s.f.ReadAt(b, off)
}

// durableRun is one run of a job with feeds of all formats.
type durableRun struct {
	t    *testing.T
	fs   *faultfs.FS
	set  *Set
	job  *jobs.Job
	next int // the item that follows
}

func formats3() []string { return []string{"/out.json", "/out.csv", "/out.jl"} }

// start opens the job and finds out which items are committed.
func start(t *testing.T, fsys *faultfs.FS, indent int) *durableRun {
	t.Helper()
	r := &durableRun{t: t, fs: fsys}
	o := Options{Job: true, Log: zerolog.Nop(), Stats: crawl.NewStats(), Form: Form{Indent: indent}}
	for _, name := range formats3() {
		target, err := ParseTarget(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		o.Targets = append(o.Targets, target)
	}
	var err error
	if r.set, err = New(o); err != nil {
		t.Fatal(err)
	}
	for i, f := range r.set.feeds {
		f.name = formats3()[i]
		f.sink = &faultSink{fs: fsys, name: f.name}
	}
	if r.job, err = jobs.Open(fsys, "/job", jobs.Identity{Spider: "x"}, jobs.Options{FlushInterval: 1 << 60, SegmentSize: 2 << 10}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.job.Recover(r.set.Jobs(), r.visit); err != nil {
		t.Fatal(err)
	}
	if err := r.set.Begin(); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *durableRun) visit(op jobs.Op) (err error) {
	if op.Kind == jobs.OpMeta {
		r.next, err = strconv.Atoi(string(op.Value))
	}
	return err
}

// step commits some items, and what follows them.
func (r *durableRun) step(items int) {
	r.t.Helper()
	var bufs [][]byte
	var err error
	for range items {
		if bufs, err = r.set.Render(crawl.Record{{Name: "n", Value: r.next}, {Name: "text", Value: "a,\"\n"}}, bufs); err != nil {
			r.t.Fatal(err)
		}
		r.next++
	}
	tx := r.job.Begin()
	for i, b := range bufs {
		tx.Feed(i, b)
	}
	tx.Set("next", strconv.AppendInt(nil, int64(r.next), 10))
	if err := tx.Commit(); err != nil {
		r.t.Fatal(err)
	}
}

// check reads the feeds after a clean end: each holds all items in order.
func (r *durableRun) check() {
	r.t.Helper()
	for _, name := range formats3() {
		b, err := r.fs.ReadFile(name)
		if r.next == 0 {
			continue // perhaps there is no file yet, or an empty one, which is no CSV
		}
		if err != nil {
			r.t.Fatal(err)
		}
		got, err := numbers(name, b)
		if err != nil || len(got) != r.next {
			r.t.Fatalf("%s has %d items, want %d, %v:\n%s", name, len(got), r.next, err, b)
		}
		for i, n := range got {
			if n != i {
				r.t.Fatalf("item %d of %s is %d", i, name, n)
			}
		}
	}
}

// numbers reads a well-formed feed.
func numbers(name string, b []byte) (got []int, err error) {
	var items []struct{ N int }
	switch filepath.Ext(name) {
	case ".json":
		err = json.Unmarshal(b, &items)
	case ".jl":
		err = json.Unmarshal([]byte("["+strings.ReplaceAll(strings.TrimSpace(string(b)), "\n", ",")+"]"), &items)
	case ".csv":
		var records [][]string
		records, err = csv.NewReader(bytes.NewReader(b)).ReadAll()
		for i, record := range records {
			if i == 0 {
				continue // the header
			}
			n, err := strconv.Atoi(record[0])
			if err != nil {
				return nil, err // a header again, or a torn line
			}
			items = append(items, struct{ N int }{n})
		}
	}
	for _, item := range items {
		got = append(got, item.N)
	}
	return got, err
}

// Runs end in good order, by a kill and by a power cut, at any point. What was
// written, or synced, is never lost; nothing is there twice or torn; and every
// clean end leaves feeds that can be read as a whole.
func TestFeedsSurviveAnyEnd(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			survive(t, rand.New(rand.NewPCG(seed, 1)))
		})
	}
}

func survive(t *testing.T, rng *rand.Rand) {
	fsys := faultfs.New()
	indent := []int{Compact, 0, 2}[rng.IntN(3)]
	kept := 0 // items that no end may take away
	for range 8 {
		r := start(t, fsys, indent)
		if r.next < kept {
			t.Fatalf("%d items are left, want %d at least", r.next, kept)
		}
		flushed, synced := r.next, r.next
		for range rng.IntN(8) {
			r.step(rng.IntN(4))
			switch rng.IntN(4) {
			case 0:
				must(t, r.job.Flush())
				flushed = r.next
			case 1:
				must(t, r.job.Barrier())
				flushed, synced = r.next, r.next
			}
		}
		switch rng.IntN(3) {
		case 0:
			fsys, kept = fsys.Kill(), flushed
		case 1:
			fsys, kept = fsys.Crash(rng), synced
		default:
			kept = r.next
			must(t, r.job.Close(jobs.End{Finished: rng.IntN(3) == 0}))
			r.check()
			continue
		}
		_ = r.job.Close(jobs.End{}) // of the dead process, to a disk that nobody looks at
	}
	r := start(t, fsys, indent)
	r.step(1)
	must(t, r.job.Close(jobs.End{}))
	r.check()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
