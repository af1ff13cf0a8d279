package faultfs_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
)

func rng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func create(t *testing.T, f *faultfs.FS, name string) jobs.File {
	t.Helper()
	h, err := f.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func write(t *testing.T, h jobs.File, b string, off int64) {
	t.Helper()
	if _, err := h.WriteAt([]byte(b), off); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// outcomes counts the contents that a file has after many power cuts; a
// missing file counts as "-".
func outcomes(t *testing.T, f *faultfs.FS, name string) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for seed := range uint64(200) {
		b, err := f.Crash(rng(seed)).ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			b, err = []byte("-"), nil
		}
		must(t, err)
		seen[string(b)]++
	}
	return seen
}

func TestSyncedSurvives(t *testing.T) {
	t.Parallel()
	f := faultfs.New()
	h := create(t, f, "/a")
	write(t, h, "synced", 0)
	must(t, h.Sync())
	must(t, f.SyncDir("/"))
	if got := outcomes(t, f, "/a"); len(got) != 1 || got["synced"] != 200 {
		t.Errorf("got %v, want always the synced content", got)
	}
}

// TestEntryNeedsSyncDir: a synced file in a directory that was not synced may vanish.
func TestEntryNeedsSyncDir(t *testing.T) {
	t.Parallel()
	f := faultfs.New()
	h := create(t, f, "/a")
	write(t, h, "synced", 0)
	must(t, h.Sync())
	if got := outcomes(t, f, "/a"); len(got) != 2 || got["-"] == 0 || got["synced"] == 0 {
		t.Errorf("got %v, want it there and missing", got)
	}
}

// TestBlocksAreLostSingly: a later block may survive without an earlier one,
// and what is lost holds the old bytes or zeros.
func TestBlocksAreLostSingly(t *testing.T) {
	t.Parallel()
	const block = 4096
	f := faultfs.New()
	h := create(t, f, "/a")
	write(t, h, strings.Repeat("o", block), 0)
	must(t, h.Sync())
	must(t, f.SyncDir("/"))
	write(t, h, strings.Repeat("n", 3*block), 0)
	hole, torn, old := false, false, false
	for content := range outcomes(t, f, "/a") {
		b := []byte(content)
		old = old || len(b) > 0 && b[0] == 'o'
		torn = torn || len(b)%block != 0
		if len(b) == 3*block && b[2*block] == 'n' && b[block] == 0 {
			hole = true
		}
		for i := 0; i < len(b); i += block {
			if part := b[i:min(i+block, len(b))]; !bytes.Equal(part, bytes.Repeat(part[:1], len(part))) {
				t.Fatalf("block %d is mixed", i/block)
			}
		}
	}
	if !hole || !torn || !old {
		t.Errorf("got hole %v, torn length %v, old block %v, want all", hole, torn, old)
	}
}

func TestRenameIsOneChange(t *testing.T) {
	t.Parallel()
	f := faultfs.New()
	for name, content := range map[string]string{"/a": "old", "/a.tmp": "new"} {
		h := create(t, f, name)
		write(t, h, content, 0)
		must(t, h.Sync())
	}
	must(t, f.SyncDir("/"))
	must(t, f.Rename("/a.tmp", "/a"))
	if got := outcomes(t, f, "/a"); len(got) != 2 || got["old"] == 0 || got["new"] == 0 {
		t.Errorf("got %v, want the old and the new content", got)
	}
	must(t, f.Remove("/a"))
	if got := outcomes(t, f, "/a"); len(got) != 3 || got["-"] == 0 {
		t.Errorf("got %v, want it missing too", got)
	}
}

func TestDirectories(t *testing.T) {
	t.Parallel()
	f := faultfs.New()
	must(t, f.Mkdir("/d", 0o700))
	must(t, f.WriteFile("/d/a", []byte("x")))
	for what, c := range map[string]struct{ err, want error }{
		"mkdir again":       {f.Mkdir("/d", 0o700), fs.ErrExist},
		"mkdir below none":  {f.Mkdir("/e/f", 0o700), fs.ErrNotExist},
		"mkdir below file":  {f.Mkdir("/d/a/b", 0o700), syscall.ENOTDIR},
		"mkdir far below":   {f.Mkdir("/d/a/b/c", 0o700), syscall.ENOTDIR},
		"remove not empty":  {f.Remove("/d"), syscall.ENOTEMPTY},
		"remove none":       {f.Remove("/d/b"), fs.ErrNotExist},
		"rename none":       {f.Rename("/d/b", "/d/c"), fs.ErrNotExist},
		"write a directory": {f.WriteFile("/d", nil), syscall.EISDIR},
		"sync none":         {f.SyncDir("/e"), fs.ErrNotExist},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: got %v, want %v", what, c.err, c.want)
		}
	}
	must(t, f.Rename("/d", "/e"))
	names, err := f.List("/e")
	if err != nil || len(names) != 1 || names[0] != "a" {
		t.Errorf("got %v, %v, want [a]", names, err)
	}
	if _, err := f.List("/e/a"); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("list a file: got %v, want ENOTDIR", err)
	}
	must(t, f.Remove("/e/a"))
	must(t, f.Remove("/e"))
}

// TestKillKeepsAll: what was written is there, and may still be lost later.
func TestKillKeepsAll(t *testing.T) {
	t.Parallel()
	f := faultfs.New()
	must(t, f.WriteFile("/a", []byte("written")))
	k := f.Kill()
	must(t, f.WriteFile("/a", []byte("after the kill")))
	if b, err := k.ReadFile("/a"); err != nil || string(b) != "written" {
		t.Errorf("got %q, %v, want %q", b, err, "written")
	}
	if got := outcomes(t, k, "/a"); got["-"] == 0 || got["written"] == 0 {
		t.Errorf("got %v, want it lost at times", got)
	}
}

func TestTruncate(t *testing.T) {
	t.Parallel()
	f := faultfs.New()
	h := create(t, f, "/a")
	write(t, h, "abcdef", 0)
	must(t, h.Truncate(3))
	must(t, h.Truncate(5))
	if b, err := f.ReadFile("/a"); err != nil || string(b) != "abc\x00\x00" {
		t.Errorf("got %q, %v", b, err)
	}
	b := make([]byte, 9)
	if n, err := h.ReadAt(b, 2); n != 3 || !errors.Is(err, io.EOF) {
		t.Errorf("ReadAt: got %d, %v, want 3 and EOF", n, err)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	f := faultfs.New()
	h := create(t, f, "/a")
	boom := errors.New("boom")
	f.FailAt(faultfs.Write, 2, boom)
	for i, want := range []error{nil, boom, nil} {
		if _, err := h.WriteAt([]byte("x"), int64(i)); !errors.Is(err, want) {
			t.Errorf("write %d: got %v, want %v", i+1, err, want)
		}
	}
	if b, _ := f.ReadFile("/a"); string(b) != "x\x00x" {
		t.Errorf("got %q: the failed write must have no effect", b)
	}
	if got := f.Count(faultfs.Write); got != 3 {
		t.Errorf("got %d writes, want 3", got)
	}
	f.LimitBytes(2)
	if n, err := h.WriteAt([]byte("yyy"), 0); n != 2 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("full disk: got %d, %v, want 2 and ENOSPC", n, err)
	}
	f.LimitBytes(-1)
	write(t, h, "zzz", 0)
}

func TestCutAt(t *testing.T) {
	t.Parallel()
	f := faultfs.New()
	h := create(t, f, "/x")
	must(t, f.SyncDir("/"))
	write(t, h, "before", 0)
	must(t, h.Sync())
	told := ""
	f.CutAt(faultfs.Write, 2, func(kind faultfs.Kind, name string) { told += string(kind) + " " + name })
	write(t, h, "BEFORE", 0)
	must(t, h.Sync())
	write(t, h, "after", 6)
	must(t, h.Sync())
	write(t, h, "later", 11)
	if told != "write /x" {
		t.Errorf("got %q, want the operation once", told)
	}
	for seed := range uint64(20) {
		if b, err := f.Crash(rng(seed)).ReadFile("/x"); err != nil || string(b) != "BEFORE" {
			t.Fatalf("after the cut: got %q, %v", b, err)
		}
	}
	if b, err := f.ReadFile("/x"); err != nil || string(b) != "BEFOREafterlater" {
		t.Errorf("who uses it: got %q, %v", b, err)
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	f := faultfs.New()
	h, err := f.Lock("/lock")
	must(t, err)
	if _, err := f.Lock("/lock"); !errors.Is(err, jobs.ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
	if _, err := f.Kill().Lock("/lock"); err != nil {
		t.Errorf("after a kill: got %v, want the lock", err)
	}
	must(t, h.Close())
	if err := h.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("second close: got %v, want ErrClosed", err)
	}
	if _, err := f.Lock("/lock"); err != nil {
		t.Errorf("after the close: got %v, want the lock", err)
	}
}
