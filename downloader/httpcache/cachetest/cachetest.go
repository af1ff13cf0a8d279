// Package cachetest proves that storages of the HTTP cache keep their contract.
package cachetest

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/skeincrawl/skein/downloader/httpcache"
)

// Keys as the cache makes them: two that differ in their last digit only.
const (
	one   = "0123456789abcdef0123456789abcdef01234567"
	other = "0123456789abcdef0123456789abcdef01234568"
)

// Storage proves the contract of [httpcache.Storage]. Each call of open returns a
// storage for the same place, which is new for each t.
func Storage(t *testing.T, open func(t *testing.T) httpcache.Storage) {
	t.Run("nothing there", func(t *testing.T) { holdsNothing(t, open(t)) })
	t.Run("save and load", func(t *testing.T) { keeps(t, open(t)) })
	t.Run("remove", func(t *testing.T) { removes(t, open(t)) })
	t.Run("owns no record", func(t *testing.T) { ownsNothing(t, open(t)) })
	t.Run("other crawls", func(t *testing.T) { shares(t, open(t), open(t)) })
	t.Run("whole records", func(t *testing.T) { isAtomic(t, open(t), open(t)) })
	t.Run("close", func(t *testing.T) { closes(t, open) })
}

func save(t *testing.T, s httpcache.Storage, key string, record []byte) {
	t.Helper()
	if err := s.Save(t.Context(), key, record); err != nil {
		t.Fatalf("Save: %v", err)
	}
}

func want(t *testing.T, s httpcache.Storage, key string, record []byte) {
	t.Helper()
	got, err := s.Load(t.Context(), key)
	if err != nil || !bytes.Equal(got, record) || (got == nil) != (record == nil) {
		t.Fatalf("Load = %.40q (%d bytes), %v, want %.40q (%d bytes)", got, len(got), err, record, len(record))
	}
}

func holdsNothing(t *testing.T, s httpcache.Storage) {
	want(t, s, one, nil)
	if err := s.Remove(t.Context(), one); err != nil {
		t.Errorf("Remove of nothing: %v", err)
	}
}

func keeps(t *testing.T, s httpcache.Storage) {
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for _, record := range [][]byte{[]byte("record\x00\xff\n"), large, []byte("short")} {
		save(t, s, one, record)
		want(t, s, one, record)
	}
	want(t, s, other, nil)
	save(t, s, other, []byte("of another"))
	want(t, s, one, []byte("short"))
	want(t, s, other, []byte("of another"))
}

func removes(t *testing.T, s httpcache.Storage) {
	save(t, s, one, []byte("record"))
	save(t, s, other, []byte("record"))
	if err := s.Remove(t.Context(), one); err != nil {
		t.Fatalf("Remove: %v", err)
	}
	want(t, s, one, nil)
	want(t, s, other, []byte("record"))
	save(t, s, one, []byte("again"))
	want(t, s, one, []byte("again"))
}

// ownsNothing changes records that belong to the caller.
func ownsNothing(t *testing.T, s httpcache.Storage) {
	record := []byte("record")
	save(t, s, one, record)
	copy(record, "xxxxxx")
	got, err := s.Load(t.Context(), one)
	if err != nil || string(got) != "record" {
		t.Fatalf("Load = %q, %v after the saved record was changed, want %q", got, err, "record")
	}
	copy(got, "yyyyyy")
	want(t, s, one, []byte("record"))
}

// shares opens the place twice, as two crawls do.
func shares(t *testing.T, a, b httpcache.Storage) {
	save(t, a, one, []byte("of a"))
	want(t, b, one, []byte("of a"))
	save(t, b, one, []byte("of b"))
	want(t, a, one, []byte("of b"))
	if err := b.Remove(t.Context(), one); err != nil {
		t.Fatalf("Remove: %v", err)
	}
	want(t, a, one, nil)
}

// isAtomic loads while others save and remove.
func isAtomic(t *testing.T, a, b httpcache.Storage) {
	var records [][]byte
	for i := range 4 {
		records = append(records, bytes.Repeat([]byte{byte('a' + i)}, 1000<<i))
	}
	var writers sync.WaitGroup
	for i, record := range records {
		s := []httpcache.Storage{a, b}[i%2]
		writers.Go(func() {
			for n := range 50 {
				err := s.Save(t.Context(), one, record)
				if n%10 == 9 {
					err = errors.Join(err, s.Remove(t.Context(), one))
				}
				if err != nil {
					t.Errorf("Save or Remove beside others: %v", err)
				}
			}
		})
	}
	for range 200 {
		got, err := a.Load(t.Context(), one)
		if err != nil {
			t.Errorf("Load beside Save: %v", err)
			break
		}
		if got != nil && !isOne(got, records) {
			t.Errorf("Load beside Save: %d bytes that nobody saved, want a whole record", len(got))
			break
		}
	}
	writers.Wait()
}

func isOne(got []byte, records [][]byte) bool {
	for _, r := range records {
		if bytes.Equal(got, r) {
			return true
		}
	}
	return false
}

// closes opens the place again after it was closed.
func closes(t *testing.T, open func(t *testing.T) httpcache.Storage) {
	s := open(t)
	save(t, s, one, []byte("record"))
	if c, ok := s.(io.Closer); ok {
		if err := c.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	want(t, open(t), one, []byte("record"))
}
