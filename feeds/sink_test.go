package feeds_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skeincrawl/skein/feeds"
	"github.com/skeincrawl/skein/feeds/feedstest"
	"github.com/skeincrawl/skein/jobs"
)

func TestSinkContracts(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) jobs.Sink{
		"file":       func(t *testing.T) jobs.Sink { return feeds.NewFile(filepath.Join(t.TempDir(), "a", "b", "out.jl")) },
		"overwriter": func(t *testing.T) jobs.Sink { return feeds.NewOverwriter(filepath.Join(t.TempDir(), "a", "out.jl")) },
		"stdout":     func(*testing.T) jobs.Sink { return feeds.NewStdout(&bytes.Buffer{}) },
		"device":     func(*testing.T) jobs.Sink { return feeds.NewFile(os.DevNull) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			feedstest.Sink(t, func(t *testing.T) jobs.Sink {
				s := open(t)
				t.Cleanup(func() {
					if c, ok := s.(feeds.Closer); ok {
						_ = c.Close(false)
					}
				})
				return s
			})
		})
	}
}

// FE-34: parents are made, the default is to append.
func TestFileGoesOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "dir", "out.jl")
	for _, want := range []string{"one\n", "one\ntwo\n"} {
		f := feeds.NewFile(path)
		if err := f.Append([]byte(want[len(want)-4:])); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(true); err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f := feeds.NewFile(path) // an unclean end of the run before: cut, and go on
	if err := f.Truncate(4); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Append([]byte("2\n")), f.Close(true)); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "one\n2\n" {
		t.Errorf("after the cut it holds %q", got)
	}
}

// A feed without items is an empty file after a clean end, as with Scrapy's
// FEED_STORE_EMPTY, and no file after any other.
func TestFileWithoutItems(t *testing.T) {
	t.Parallel()
	for _, clean := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "out.jl")
		if err := feeds.NewFile(path).Close(clean); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); (err == nil) != clean {
			t.Errorf("clean %v: %v", clean, err)
		}
	}
}

func TestFileAfterClose(t *testing.T) {
	t.Parallel()
	f := feeds.NewFile(filepath.Join(t.TempDir(), "out.jl"))
	if err := f.Close(false); err != nil {
		t.Fatal(err)
	}
	if err := f.Append([]byte("x")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Append after Close: %v, want fs.ErrClosed", err)
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("there is no " + full)
	}
	if err := feeds.Check(feeds.Target{URI: full, Path: full, Format: "jl"}); err != nil {
		t.Errorf("Check: %v, want that only the write tells", err)
	}
	f := feeds.NewFile(full)
	err := f.Append([]byte("x"))
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "write feed /dev/full (0 of 1 bytes)") {
		t.Errorf("Append: %v", err)
	}
	if err := f.Close(true); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Close after the failed Append: %v", err)
	}
}

// A write that the system cuts short leaves what was there before.
func TestPartialWriteIsTakenBack(t *testing.T) {
	if os.Getenv("FEEDS_LIMITED") == "" {
		runLimited(t)
		return
	}
	limitFileSize(t, 1000)
	path := filepath.Join(t.TempDir(), "out.jl")
	f := feeds.NewFile(path)
	if err := f.Append(bytes.Repeat([]byte("a"), 600)); err != nil {
		t.Fatal(err)
	}
	err := f.Append(bytes.Repeat([]byte("b"), 600))
	if !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), path+" (400 of 600 bytes)") {
		t.Errorf("Append: %v", err)
	}
	if n, err := f.Size(); n != 600 || err != nil {
		t.Errorf("Size = %d, %v, want 600", n, err)
	}
	if got := len(content(t, path)); got != 600 {
		t.Errorf("the file has %d bytes, want 600", got)
	}
	if err := f.Append(bytes.Repeat([]byte("c"), 400)); err != nil {
		t.Errorf("an Append that fits: %v", err)
	}
	if err := f.Close(true); err != nil {
		t.Errorf("Close after an Append that went well: %v", err)
	}
}

func TestStdoutClosedPipe(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	fr, fw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = fw.Close() }()
	if err := errors.Join(r.Close(), fr.Close()); err != nil {
		t.Fatal(err)
	}
	for name, w := range map[string]io.Writer{"io.Pipe": w, "os.Pipe": fw} {
		s := feeds.NewStdout(w)
		if err := s.Append([]byte("x\n")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("%s: %v, want EPIPE", name, err)
		}
		if err := s.Close(true); err != nil {
			t.Errorf("%s: Close: %v: a reader that had enough is no error", name, err)
		}
	}
}

type brokenWriter struct{ n int }

func (w brokenWriter) Write([]byte) (int, error) { return w.n, nil }

func TestStdoutShortWrite(t *testing.T) {
	t.Parallel()
	s := feeds.NewStdout(brokenWriter{1})
	if err := s.Append([]byte("xyz")); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("Append: %v, want io.ErrShortWrite", err)
	}
	if err := s.Close(true); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("Close: %v, want the error of the last Append", err)
	}
}
