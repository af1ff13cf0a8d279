//go:build unix

package feeds_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skeincrawl/skein/feeds"
)

// A named pipe is written to, and without items it is left alone: opening it
// would wait for a reader.
func TestNamedPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe.jl")
	if err := unix.Mkfifo(path, 0o644); err != nil {
		t.Skip(err)
	}
	if err := feeds.NewFile(path).Close(true); err != nil {
		t.Errorf("Close without items: %v", err)
	}
	got := make(chan string)
	go func() {
		r, err := os.Open(path)
		if err != nil {
			t.Error(err)
		}
		b, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			t.Error(err)
		}
		got <- string(b)
	}()
	f := feeds.NewFile(path)
	if _, err := f.Size(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Size: %v, want errors.ErrUnsupported", err)
	}
	if err := errors.Join(f.Append([]byte("one\n")), f.Append([]byte("two\n")), f.Sync(), f.Close(true)); err != nil {
		t.Error(err)
	}
	if got := <-got; got != "one\ntwo\n" {
		t.Errorf("the reader got %q", got)
	}
}
