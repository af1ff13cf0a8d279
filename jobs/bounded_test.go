package jobs_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
)

// usage returns the number and the size of the files below a directory.
func usage(t *testing.T, fsys *faultfs.FS, dir string) (files int, bytes int64) {
	t.Helper()
	names, err := fsys.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		files++
		bytes += int64(len(content(t, fsys, dir+"/"+name)))
	}
	return files, bytes
}

// TestDiskIsBounded: a job whose queue does not grow takes no more and more of
// the disk, whatever of it stays: nothing, or a request in many. What stays is
// there after all of it, with its address, and in its order.
func TestDiskIsBounded(t *testing.T) {
	t.Parallel()
	for _, stays := range []int{0, 50, 7} {
		t.Run(strconv.Itoa(stays), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { churn(t, stays) })
		})
	}
}

const churns, churnBody = 20_000, 100

// churn pushes and takes off many requests, of which one in some number stays.
func churn(t *testing.T, stays int) {
	t.Helper()
	fsys := faultfs.New()
	j := mustOpen(t, fsys, manual(8<<10))
	mustRecover(t, j, nil, nil)
	rng := rand.New(rand.NewPCG(1, uint64(stays)))
	var queue, kept []jobs.Addr
	most, mostFiles := int64(0), 0
	for i := range churns {
		tx := j.Begin()
		a := tx.Push(jobs.Record{Slot: "s" + strconv.Itoa(i%9), Body: []byte(strings.Repeat("b", churnBody))})
		if stays > 0 && i%stays == 0 {
			kept = append(kept, a)
		} else {
			queue = append(queue, a)
		}
		if n := len(queue); n > 20 {
			k := rng.IntN(n)
			tx.Ack(queue[k])
			queue[k] = queue[n-1]
			queue = queue[:n-1]
		}
		mustCommit(t, tx)
		if j.SnapshotDue() {
			j.Snapshot(func(*jobs.Snapshot) {})
			synctest.Wait() // for what goes on in the background, as a crawl leaves it the time to
		}
		if i%100 == 0 {
			if err := j.Flush(); err != nil {
				t.Fatal(err)
			}
			files, bytes := usage(t, fsys, jobDir+"/requests.queue")
			most, mostFiles = max(most, bytes), max(mostFiles, files)
		}
	}
	live := int64(len(kept)+len(queue)) * (churnBody + 40)
	mustClose(t, j, jobs.End{Fill: func(*jobs.Snapshot) {}})
	files, bytes := usage(t, fsys, jobDir+"/requests.queue")
	t.Logf("%d needed: %d files and %d bytes at most, %d and %d in the end", live, mostFiles, most, files, bytes)
	if limit := 2*live + 4*(8<<10); most > limit || bytes > limit {
		t.Errorf("%d bytes at most and %d in the end, want %d", most, bytes, limit)
	}
	if limit := 12 + int(live/(4<<10)); mostFiles > limit || files > limit {
		t.Errorf("%d files at most and %d in the end, want %d", mostFiles, files, limit)
	}
	s := newState()
	j = mustOpen(t, fsys, manual(8<<10))
	mustRecover(t, j, nil, s.visit)
	for _, a := range append(kept, queue...) {
		if body, err := j.Read(a, nil); err != nil || len(body) != churnBody || s.live[a] == "" {
			t.Fatalf("record %v: %d bytes, %v", a, len(body), err)
		}
	}
	if len(s.live) != len(kept)+len(queue) {
		t.Errorf("%d records are pending, want %d", len(s.live), len(kept)+len(queue))
	}
	mustClose(t, j, jobs.End{})
}
