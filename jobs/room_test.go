package jobs_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
)

// numbersFeed commits a step with an item and, if asked, a request.
func stepWithItem(t *testing.T, j *jobs.Job, n int, push bool) error {
	t.Helper()
	tx := j.Begin()
	if push {
		tx.Push(jobs.Record{Slot: "s", Body: []byte(strings.Repeat("b", 100))})
	}
	tx.Set("n", []byte(strconv.Itoa(n)))
	tx.Feed(0, []byte(strconv.Itoa(n)+"\n"))
	if err := tx.Commit(); err != nil {
		return err
	}
	return j.Flush()
}

// TestReserve: when the disk is full the reserve is given up, what is in progress
// still ends and the job closes in good order; the next run has all of it.
func TestReserve(t *testing.T) {
	t.Parallel()
	for space := int64(4000); space < 9000; space += 61 {
		fsys := faultfs.New()
		opt := manual(1 << 10)
		opt.Reserve = 2 << 10
		fsys.LimitBytes(space)
		j := mustOpen(t, fsys, opt)
		mustRecover(t, j, []jobs.Feed{{Name: "items", Sink: &fileSink{fs: fsys, name: feedPath}}}, nil)
		n := 0
		for j.Room() == nil {
			n++
			if err := stepWithItem(t, j, n, true); err != nil {
				t.Fatalf("%d bytes, step %d: %v", space, n, err)
			}
		}
		if !errors.Is(j.Room(), jobs.ErrDiskFull) {
			t.Fatalf("%d bytes: got %v, want ErrDiskFull", space, j.Room())
		}
		for range 3 {
			n++
			if err := stepWithItem(t, j, n, false); err != nil {
				t.Fatalf("%d bytes, step %d without a request: %v", space, n, err)
			}
		}
		mustClose(t, j, jobs.End{Reason: "disk_full", Fill: func(s *jobs.Snapshot) { s.Set("n", []byte(strconv.Itoa(n))) }})
		fsys.LimitBytes(-1)
		if got := resumed(t, fsys, n, n, fmt.Sprintf("%d bytes", space)); got != n {
			t.Errorf("%d bytes: got %d steps, want %d", space, got, n)
		}
	}
}

// TestNoRoomForReserve: a disk that is full from the beginning is known before
// anything is committed.
func TestNoRoomForReserve(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	opt := manual(0)
	opt.Reserve = 64 << 10
	fsys.LimitBytes(10_000)
	j := mustOpen(t, fsys, opt)
	mustRecover(t, j, nil, nil)
	if !errors.Is(j.Room(), jobs.ErrDiskFull) {
		t.Errorf("got %v, want ErrDiskFull", j.Room())
	}
	mustClose(t, j, jobs.End{})
}

// TestMaxDisk: a queue that only grows reaches the limit.
func TestMaxDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		opt := manual(0)
		opt.MaxDisk = 100_000
		j := mustOpen(t, faultfs.New(), opt)
		mustRecover(t, j, nil, nil)
		n := 0
		for settle(j); j.Room() == nil; settle(j) {
			n++
			numbered(t, j, n, n)
		}
		var limit *jobs.LimitError
		if !errors.As(j.Room(), &limit) || limit.Limit != opt.MaxDisk || limit.Size <= opt.MaxDisk || limit.Size > opt.MaxDisk+1000 {
			t.Errorf("after %d steps: got %v", n, j.Room())
		}
		mustClose(t, j, jobs.End{})
	})
}

// settle makes snapshots as long as they are due.
func settle(j *jobs.Job) {
	for j.SnapshotDue() {
		j.Snapshot(func(*jobs.Snapshot) {})
		synctest.Wait()
	}
}

// TestMaxDiskOfWhatIsNeeded: a job that is larger than its limit, but for the most
// part with what nobody needs any more, becomes smaller and goes on.
func TestMaxDiskOfWhatIsNeeded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fsys := faultfs.New()
		j := mustOpen(t, fsys, manual(8<<10))
		mustRecover(t, j, nil, nil)
		for i := range 1000 {
			tx := j.Begin()
			a := tx.Push(jobs.Record{Slot: "s", Body: []byte(strings.Repeat("b", 100))})
			if i%10 > 0 {
				tx.Ack(a)
			}
			mustCommit(t, tx)
		}
		killed := fsys.Kill()
		mustClose(t, j, jobs.End{})
		opt := manual(0)
		opt.MaxDisk = 64_000
		j = mustOpen(t, killed, opt)
		mustRecover(t, j, nil, nil)
		if err := j.Room(); err != nil {
			t.Errorf("before it could become smaller: %v", err)
		}
		settle(j)
		if _, bytes := usage(t, killed, jobDir+"/requests.queue"); bytes > opt.MaxDisk {
			t.Errorf("%d bytes are left, want at most %d", bytes, opt.MaxDisk)
		}
		if err := j.Room(); err != nil {
			t.Error(err)
		}
		mustClose(t, j, jobs.End{})
	})
}
