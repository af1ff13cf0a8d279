package jobs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
)

func TestLock(t *testing.T) {
	t.Parallel()
	for name, fsys := range map[string]jobs.FS{"os": jobs.OS(), "memory": faultfs.New()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := "/job"
			if name == "os" {
				dir = filepath.Join(t.TempDir(), "a", "job")
			}
			j, err := jobs.Open(fsys, dir, identity(), jobs.Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = jobs.Open(fsys, dir, identity(), jobs.Options{})
			host, _ := os.Hostname()
			var inUse *jobs.InUseError
			if !errors.As(err, &inUse) || !errors.Is(err, jobs.ErrUnusable) || inUse.PID != os.Getpid() || inUse.Host != host {
				t.Fatalf("second open: got %v, want an InUseError with pid %d", err, os.Getpid())
			}
			if want := fmt.Sprintf("in use by process %d on host %s", os.Getpid(), host); !strings.Contains(err.Error(), want) {
				t.Errorf("got %q, want %q in it", err, want)
			}
			mustClose(t, j, jobs.End{})
			j, err = jobs.Open(fsys, dir, identity(), jobs.Options{}) // the file is still there
			if err != nil {
				t.Fatalf("after the close: %v", err)
			}
			mustClose(t, j, jobs.End{})
		})
	}
}

// TestDeadOwner: the content of the lock file decides nothing.
func TestDeadOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	content := fmt.Sprintf("pid %d\nhost elsewhere\n", os.Getpid())
	if err := os.WriteFile(filepath.Join(dir, "lock"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := jobs.Open(jobs.OS(), dir, identity(), jobs.Options{})
	if err != nil {
		t.Fatalf("got %v, want the job", err)
	}
	mustClose(t, j, jobs.End{})
}

func TestModes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "job")
	j, err := jobs.Open(jobs.OS(), dir, identity(), jobs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustRecover(t, j, nil, nil)
	mustClose(t, j, jobs.End{Active: []byte("{}")})
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: got mode %v, want %v", path, got, want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestMismatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*jobs.Identity)
		what   string
		have   string
		want   string
	}{
		"spider":        {func(id *jobs.Identity) { id.Spider = "quotes" }, "spider", `"books"`, `"quotes"`},
		"fingerprinter": {func(id *jobs.Identity) { id.Fingerprinter = "own" }, "fingerprinter", `"default"`, `"own"`},
		"filter":        {func(id *jobs.Identity) { id.Filter = "none" }, "duplicate filter", `"memory"`, `"none"`},
		"queue class":   {func(id *jobs.Identity) { id.QueueClass = "plain" }, "priority queue", `"slots"`, `"plain"`},
		"argument": {
			func(id *jobs.Identity) { id.Args = map[string]string{"category": "travel"} },
			"argument category", `"poetry"`, `"travel"`,
		},
		"argument missing": {func(id *jobs.Identity) { id.Args = nil }, "argument category", `"poetry"`, "(not given)"},
		"argument added": {
			func(id *jobs.Identity) { id.Args["a"] = "1" },
			"argument a", "(not given)", `"1"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := faultfs.New()
			mustClose(t, mustOpen(t, fsys, manual(0)), jobs.End{})
			id := identity()
			c.change(&id)
			_, err := jobs.Open(fsys, jobDir, id, manual(0))
			var mismatch *jobs.MismatchError
			if !errors.As(err, &mismatch) || !errors.Is(err, jobs.ErrUnusable) {
				t.Fatalf("got %v, want a MismatchError", err)
			}
			if mismatch.What != c.what || mismatch.Have != c.have || mismatch.Want != c.want {
				t.Errorf("got %+v, want %s %s %s", mismatch, c.what, c.have, c.want)
			}
			mustClose(t, mustOpen(t, fsys, manual(0)), jobs.End{}) // the refusal holds no lock
		})
	}
}

func TestForeignDirectories(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"of Scrapy": {[]string{"requests.queue/active.json", "requests.seen"}, "Scrapy"},
		"other":     {[]string{"notes.txt"}, "notes.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, f := range c.files {
				f = filepath.Join(dir, f)
				if err := os.MkdirAll(filepath.Dir(f), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(f, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := jobs.Open(jobs.OS(), dir, identity(), jobs.Options{})
			var foreign *jobs.ForeignError
			if !errors.As(err, &foreign) || !errors.Is(err, jobs.ErrUnusable) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want a ForeignError with %q", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(dir, "lock")); err == nil {
				t.Error("a lock file was left in it")
			}
		})
	}
}

func TestManifestDamage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text   string
		target any
	}{
		"newer":      {`{"format": 3, "spider": {"all": "new"}}`, new(*jobs.VersionError)},
		"older":      {`{"format": 1, "spider": "books"}`, new(*jobs.VersionError)},
		"cut short":  {`{"format": 2, "spider"`, new(*jobs.DamageError)},
		"empty":      {"", new(*jobs.DamageError)},
		"no version": {`{}`, new(*jobs.DamageError)},
		"wrong type": {`{"format": 2, "spider": 5}`, new(*jobs.DamageError)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := faultfs.New()
			mustClose(t, mustOpen(t, fsys, manual(0)), jobs.End{})
			if err := fsys.WriteFile(jobDir+"/job.json", []byte(c.text)); err != nil {
				t.Fatal(err)
			}
			_, err := jobs.Open(fsys, jobDir, identity(), manual(0))
			if !errors.As(err, c.target) || !errors.Is(err, jobs.ErrUnusable) || !strings.Contains(err.Error(), "job.json") {
				t.Errorf("got %v, want a %T that names job.json", err, c.target)
			}
		})
	}
}

func TestPathBelowFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "job"), filepath.Join(file, "a", "job")} {
		_, err := jobs.Open(jobs.OS(), dir, identity(), jobs.Options{})
		if !errors.Is(err, jobs.ErrUnusable) || !errors.Is(err, syscall.ENOTDIR) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: got %v, want an unusable directory", dir, err)
		}
	}
}

// TestUnwritable: every operation of Open that fails leads to one sentence, and
// leaves nothing that would stop the next Open.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	for _, kind := range []faultfs.Kind{faultfs.Mkdir, faultfs.Lock, faultfs.Create, faultfs.Write, faultfs.Sync, faultfs.SyncDir, faultfs.Rename} {
		for n := 1; n < 20; n++ {
			fsys := faultfs.New()
			fsys.FailAt(kind, n, syscall.EROFS)
			j, err := jobs.Open(fsys, jobDir, identity(), manual(0))
			if err == nil {
				mustClose(t, j, jobs.End{})
				if n == 1 {
					t.Errorf("%s: nothing failed", kind)
				}
				break
			}
			var access *jobs.AccessError
			if !errors.As(err, &access) || !errors.Is(err, jobs.ErrUnusable) || !errors.Is(err, syscall.EROFS) {
				t.Errorf("%s %d: got %v, want an AccessError", kind, n, err)
			}
			mustClose(t, mustOpen(t, fsys, manual(0)), jobs.End{})
		}
	}
}

// TestOnDisk runs two lives on the file system of the machine, in a directory
// whose parents are missing too (SCH-16).
func TestOnDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var addrs []jobs.Addr
	for life := range 2 {
		j, err := jobs.Open(jobs.OS(), filepath.Join(dir, "new", "er", "job"), identity(), jobs.Options{SegmentSize: 1 << 10})
		if err != nil {
			t.Fatal(err)
		}
		sink := &fileSink{fs: jobs.OS(), name: filepath.Join(dir, "items.jl")}
		live := newState()
		r := mustRecover(t, j, []jobs.Feed{{Name: "items", Sink: sink}}, live.visit)
		if len(live.live) != len(addrs) || r.Feeds[0].Length != int64(50*life) || len(r.Warnings) > 0 {
			t.Errorf("life %d: got %d records, %+v, want %d", life, len(live.live), r, len(addrs))
		}
		for i := range 10 {
			tx := j.Begin()
			addrs = append(addrs, tx.Push(jobs.Record{Body: fmt.Appendf(nil, "body %d", len(addrs))}))
			tx.Feed(0, []byte("item\n"))
			mustCommit(t, tx)
			if i%3 == 0 {
				if err := j.Barrier(); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i, a := range addrs {
			if b, err := j.Read(a, nil); err != nil || string(b) != fmt.Sprintf("body %d", i) {
				t.Errorf("life %d: Read(%v): got %q, %v", life, a, b, err)
			}
		}
		mustClose(t, j, jobs.End{Reason: "shutdown", Active: []byte("{}")})
		if err := sink.f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A job whose journal is gone is damaged, not new.
func TestJournalGone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "job")
	j, err := jobs.Open(jobs.OS(), dir, identity(), jobs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Recover(nil, func(jobs.Op) error { return nil }); err != nil {
		t.Fatal(err)
	}
	mustClose(t, j, jobs.End{})
	if err := os.RemoveAll(filepath.Join(dir, "requests.queue")); err != nil {
		t.Fatal(err)
	}
	_, err = jobs.Open(jobs.OS(), dir, identity(), jobs.Options{})
	var damage *jobs.DamageError
	if !errors.As(err, &damage) || !errors.Is(err, jobs.ErrUnusable) {
		t.Errorf("got %v, want a DamageError", err)
	}
}

// A parent that can not be made, such as one below a link to a disk that is not
// mounted, is one error and not an endless try.
func TestDanglingParent(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("/nonexistent/disk", link); err != nil {
		t.Skip(err)
	}
	for _, dir := range []string{filepath.Join(link, "x"), filepath.Join(link, "x", "y")} {
		if _, err := jobs.Open(jobs.OS(), dir, identity(), jobs.Options{}); !errors.Is(err, jobs.ErrUnusable) {
			t.Errorf("%s: got %v, want it unusable", dir, err)
		}
	}
}

func TestOwns(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"": false, "x/out.jsonl": false, "x/items/job.json": false, "out.jsonl": false, "x": true,
		"x/job.json": true, "x/lock": true, "x/requests.queue/seg-00000001.g1.log": true, "x/../x/start.txt": true,
	} {
		if got := jobs.Owns("x", path); got != want {
			t.Errorf("Owns(x, %q) = %v, want %v", path, got, want)
		}
	}
}
