// Package feedstest proves that exporters and sinks of feeds keep their
// contracts.
package feedstest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/skeincrawl/skein/feeds"
	"github.com/skeincrawl/skein/jobs"
)

// Sink proves the contract of [jobs.Sink], and of [feeds.Closer] and
// [io.ReaderAt] where the sink has them. Each call of open returns a new sink at
// a place where there is nothing yet.
func Sink(t *testing.T, open func(t *testing.T) jobs.Sink) {
	_, err := open(t).Size()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Run("unmeasurable", func(t *testing.T) { unmeasurable(t, open(t)) })
	} else {
		t.Run("creates nothing", func(t *testing.T) { createsNothing(t, open(t)) })
		t.Run("append", func(t *testing.T) { grows(t, open(t)) })
		t.Run("truncate", func(t *testing.T) { truncates(t, open(t)) })
	}
	t.Run("does not keep the buffer", func(t *testing.T) { keepsNothing(t, open(t)) })
	t.Run("sync beside append", func(t *testing.T) { syncsBeside(t, open(t)) })
	t.Run("close", func(t *testing.T) { closes(t, open(t)) })
}

func unmeasurable(t *testing.T, s jobs.Sink) {
	append1(t, s, "one\n")
	if _, err := s.Size(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Size after Append: %v, want errors.ErrUnsupported", err)
	}
	if err := s.Truncate(0); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Truncate: %v, want errors.ErrUnsupported", err)
	}
}

func createsNothing(t *testing.T, s jobs.Sink) {
	for range 2 {
		if _, err := s.Size(); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("Size of nothing: %v, want fs.ErrNotExist", err)
		}
		if err := s.Sync(); err != nil {
			t.Errorf("Sync of nothing: %v", err)
		}
		if err := s.Truncate(1); err == nil {
			t.Error("Truncate of nothing to one byte succeeded")
		}
	}
}

func grows(t *testing.T, s jobs.Sink) {
	var want strings.Builder
	for _, b := range []string{"", "one\n", strings.Repeat("x", 1<<17), "", "three\n"} {
		append1(t, s, b)
		want.WriteString(b)
		size(t, s, want.Len())
	}
	content(t, s, want.String())
}

func truncates(t *testing.T, s jobs.Sink) {
	append1(t, s, "one\ntwo\nthree\n")
	for _, step := range []struct {
		cut  int64
		more string
		want string
	}{
		{14, "", "one\ntwo\nthree\n"},
		{8, "", "one\ntwo\n"},
		{4, "2\n", "one\n2\n"},
		{0, "again\n", "again\n"},
	} {
		if err := s.Truncate(step.cut); err != nil {
			t.Fatalf("Truncate(%d): %v", step.cut, err)
		}
		append1(t, s, step.more)
		size(t, s, len(step.want))
		content(t, s, step.want)
	}
	if err := s.Truncate(100); err == nil {
		t.Error("Truncate made the sink longer")
	}
	size(t, s, len("again\n"))
}

func keepsNothing(t *testing.T, s jobs.Sink) {
	b := []byte("one\n")
	if err := s.Append(b); err != nil {
		t.Fatal(err)
	}
	copy(b, "ZZZZ")
	append1(t, s, "two\n")
	content(t, s, "one\ntwo\n")
}

// syncsBeside is worth most under the race detector.
func syncsBeside(t *testing.T, s jobs.Sink) {
	var wg sync.WaitGroup
	append1(t, s, "0")
	r, ok := readable(s)
	wg.Go(func() {
		for range 20 {
			if err := s.Sync(); err != nil {
				t.Errorf("Sync: %v", err)
			}
			if !ok {
				continue
			}
			if n, err := r.ReadAt(make([]byte, 1), 0); n != 1 {
				t.Errorf("ReadAt: %v", err)
			}
		}
	})
	for range 200 {
		append1(t, s, "1")
	}
	wg.Wait()
	content(t, s, "0"+strings.Repeat("1", 200))
}

func closes(t *testing.T, s jobs.Sink) {
	c, ok := s.(feeds.Closer)
	if !ok {
		t.Skip("the sink has nothing to close")
	}
	append1(t, s, "one\n")
	for range 2 {
		if err := c.Close(true); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

func append1(t *testing.T, s jobs.Sink, b string) {
	t.Helper()
	if err := s.Append([]byte(b)); err != nil {
		t.Fatalf("Append of %d bytes: %v", len(b), err)
	}
}

func size(t *testing.T, s jobs.Sink, want int) {
	t.Helper()
	got, err := s.Size()
	if err != nil || got != int64(want) {
		t.Errorf("Size = %d, %v, want %d", got, err, want)
	}
}

// readable returns what reads a sink: one without a length is not read, whatever
// methods it has.
func readable(s jobs.Sink) (io.ReaderAt, bool) {
	r, ok := s.(io.ReaderAt)
	if _, err := s.Size(); errors.Is(err, errors.ErrUnsupported) {
		return nil, false
	}
	return r, ok
}

// content compares what is in a sink that can be read.
func content(t *testing.T, s jobs.Sink, want string) {
	t.Helper()
	r, ok := readable(s)
	if !ok {
		return
	}
	got := make([]byte, len(want)+1)
	n, err := r.ReadAt(got, 0)
	if !errors.Is(err, io.EOF) {
		t.Errorf("ReadAt beyond the end: %v, want io.EOF", err)
	}
	if !bytes.Equal(got[:n], []byte(want)) {
		t.Errorf("it holds %.80q (%d bytes), want %.80q (%d)", got[:n], n, want, len(want))
	}
}
