package jobs_test

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
)

// TestFlushAndSyncIntervals: a commit is in the files after 10 ms, and durable
// after the sync interval, with nobody calling.
func TestFlushAndSyncIntervals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fsys := faultfs.New()
		j := mustOpen(t, fsys, jobs.Options{SyncInterval: jobs.DefaultSyncInterval})
		mustRecover(t, j, []jobs.Feed{{Name: "items", Sink: &fileSink{fs: fsys, name: feedPath}}}, nil)
		written := func() int { return len(content(t, fsys, segmentPath(1))) + len(content(t, fsys, feedPath)) }
		before, syncs := written(), fsys.Count(faultfs.Sync)
		tx := j.Begin()
		tx.Push(jobs.Record{Body: make([]byte, 300)})
		tx.Feed(0, make([]byte, 300))
		mustCommit(t, tx)
		wait := func(d time.Duration) {
			time.Sleep(d) // of the bubble
			synctest.Wait()
		}
		wait(9 * time.Millisecond)
		if got := written(); got != before {
			t.Errorf("after 9 ms: got %d bytes, want %d", got, before)
		}
		wait(time.Millisecond)
		if got := written(); got < before+600 || fsys.Count(faultfs.Sync) != syncs {
			t.Errorf("after 10 ms: got %d bytes and %d syncs, want at least %d and none", got, fsys.Count(faultfs.Sync)-syncs, before+600)
		}
		wait(90 * time.Millisecond)
		if got := fsys.Count(faultfs.Sync) - syncs; got != 2 {
			t.Errorf("after 100 ms: got %d syncs, want the feed's and the journal's", got)
		}
		found := false
		crashed := mustOpen(t, fsys.Crash(rand.New(rand.NewPCG(1, 1))), manual(0))
		mustRecover(t, crashed, nil, func(o jobs.Op) error { found = found || o.BodyLen == 300; return nil })
		if !found {
			t.Error("after 100 ms and a power cut: the record is lost")
		}
		mustClose(t, crashed, jobs.End{})
		wait(time.Hour)
		if got := fsys.Count(faultfs.Sync) - syncs; got != 2 {
			t.Errorf("idle: got %d syncs, want no more", got)
		}
		mustClose(t, j, jobs.End{})
	})
}

// TestFullBufferIsWritten: at 256 KiB nobody waits for the interval.
func TestFullBufferIsWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fsys := faultfs.New()
		j := mustOpen(t, fsys, jobs.Options{FlushInterval: time.Hour, SyncInterval: time.Hour})
		mustRecover(t, j, nil, nil)
		before := j.Stats().Bytes
		for range 3 {
			tx := j.Begin()
			tx.Push(jobs.Record{Body: make([]byte, 100<<10)})
			mustCommit(t, tx)
		}
		synctest.Wait()
		if got := j.Stats().Bytes - before; got < 300<<10 {
			t.Errorf("got %d bytes, want all", got)
		}
		mustClose(t, j, jobs.End{})
	})
}

func TestBarrier(t *testing.T) {
	t.Parallel()
	for _, interval := range []time.Duration{0, time.Hour} {
		fsys := faultfs.New()
		j := mustOpen(t, fsys, jobs.Options{FlushInterval: time.Hour, SyncInterval: interval})
		mustRecover(t, j, nil, nil)
		numbered(t, j, 1, 1)
		before := j.Stats().Syncs
		if err := j.Barrier(); err != nil {
			t.Fatal(err)
		}
		want := uint64(1)
		if interval > 0 {
			want = 0
		}
		if got := j.Stats().Syncs - before; got != want {
			t.Errorf("interval %v: got %d syncs, want %d", interval, got, want)
		}
		mustClose(t, j, jobs.End{})
	}
}

// TestConcurrentReads reads while commits, flushes, syncs and rolls go on.
func TestConcurrentReads(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	j := mustOpen(t, fsys, jobs.Options{SegmentSize: 4 << 10, FlushInterval: time.Microsecond, SyncInterval: time.Microsecond})
	mustRecover(t, j, []jobs.Feed{{Name: "items", Sink: &fileSink{fs: fsys, name: feedPath}}}, nil)
	addrs := make(chan jobs.Addr, 4096)
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			var buf []byte
			for a := range addrs {
				var err error
				if buf, err = j.Read(a, buf[:0]); err != nil || !bytes.Equal(buf, bytes.Repeat([]byte{byte(a)}, 50)) {
					t.Errorf("Read(%v): got %d bytes, %v", a, len(buf), err)
				}
			}
		})
	}
	for range 1000 {
		tx := j.Begin()
		first := tx.Push(jobs.Record{}) // tells the next address
		a := tx.Push(jobs.Record{Body: bytes.Repeat([]byte{byte(first + 1)}, 50)})
		tx.Feed(0, []byte("item\n"))
		mustCommit(t, tx)
		addrs <- a
	}
	close(addrs)
	readers.Wait()
	mustClose(t, j, jobs.End{})
	if got := len(content(t, fsys, feedPath)); got != 5000 {
		t.Errorf("feed: got %d bytes, want 5000", got)
	}
}

func TestVolatile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fsys := faultfs.New()
		for _, name := range []string{"/new", "/old"} {
			if err := fsys.WriteFile(name, []byte("before\n")); err != nil {
				t.Fatal(err)
			}
		}
		out := &pipe{}
		j := jobs.Volatile([]jobs.Feed{
			{Name: "new", Sink: &fileSink{fs: fsys, name: "/new"}, Overwrite: true},
			{Name: "old", Sink: &fileSink{fs: fsys, name: "/old"}},
			{Name: "stdout", Sink: out},
		})
		tx := j.Begin()
		if a := tx.Push(jobs.Record{}); a != 0 {
			t.Errorf("Push: got %v, want 0", a)
		}
		for i := range 3 {
			tx.Feed(i, []byte("item\n"))
		}
		mustCommit(t, tx)
		time.Sleep(10 * time.Millisecond) // of the bubble
		synctest.Wait()
		for name, want := range map[string]string{"/new": "item\n", "/old": "before\nitem\n"} {
			if got := content(t, fsys, name); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
		if err := j.Barrier(); err != nil || string(out.b) != "item\n" {
			t.Errorf("got %q, %v", out.b, err)
		}
		j.Begin().Feed(2, []byte("never"))
		mustClose(t, j, jobs.End{})
		mustClose(t, j, jobs.End{})
		if fsys.Count(faultfs.Sync) != 2 {
			t.Errorf("got %d syncs, want one of each file", fsys.Count(faultfs.Sync))
		}
	})
}
