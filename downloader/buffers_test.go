package downloader

import (
	"bytes"
	"errors"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestBuffersRead(t *testing.T) {
	var b Buffers
	for _, size := range []int{0, 1, 511, newBuffer - 1, newBuffer, newBuffer + 1, 3 * newBuffer, maxPooled + 5, 3 * maxPooled} {
		want := bytes.Repeat([]byte("0123456789"), size/10+1)[:size]
		for _, hint := range []int64{-1, 0, int64(size), int64(size) - 1, int64(size) + 1, 10 * int64(size)} {
			for _, limit := range []int64{0, int64(size), int64(size) + 1, math.MaxInt64} {
				got, err := b.Read(t.Context(), bytes.NewReader(want), hint, limit)
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("size %d, hint %d, limit %d: %d bytes, %v", size, hint, limit, len(got), err)
				}
			}
		}
	}
}

// The bytes belong to the caller: the next read must not change them.
func TestBuffersReadOwned(t *testing.T) {
	var b Buffers
	first, _ := b.Read(t.Context(), iotest.OneByteReader(bytes.NewReader([]byte("first"))), -1, 0)
	_, _ = b.Read(t.Context(), bytes.NewReader([]byte("other")), -1, 0)
	if string(first) != "first" {
		t.Errorf("the first body became %q", first)
	}
}

func TestBuffersReadErrors(t *testing.T) {
	var b Buffers
	body := make([]byte, 1000)
	for _, hint := range []int64{-1, 10, 1000, maxExact + 1} {
		got, err := b.Read(t.Context(), bytes.NewReader(body), hint, 999)
		if !errors.Is(err, ErrTooLarge) || len(got) != 1000 {
			t.Errorf("hint %d: %d bytes, %v, want 1000 and ErrTooLarge", hint, len(got), err)
		}
		cut := io.MultiReader(bytes.NewReader(body), iotest.ErrReader(io.ErrUnexpectedEOF))
		if got, err = b.Read(t.Context(), cut, hint, 0); !errors.Is(err, io.ErrUnexpectedEOF) || len(got) != 1000 {
			t.Errorf("hint %d: %d bytes, %v, want 1000 and an unexpected EOF", hint, len(got), err)
		}
	}
}

// A file without bounds is copied as a whole.
func TestLocalFileCopy(t *testing.T) {
	t.Parallel()
	for limit, tooLarge := range map[int64]bool{0: false, 2: true, 3: false, math.MaxInt64: false} {
		f, err := newLocalFile(filepath.Join(t.TempDir(), "f"))
		if err != nil {
			t.Fatal(err)
		}
		n, err := f.copy(strings.NewReader("abc"), limit)
		if n != 3 || errors.Is(err, ErrTooLarge) != tooLarge || err != nil && !tooLarge {
			t.Errorf("limit %d: %d bytes, %v", limit, n, err)
		}
		if err := f.finish(nil); err != nil {
			t.Error(err)
		}
	}
}
