package jobs_test

import (
	"testing"
	"testing/synctest"

	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
)

// TestPrefetch: what lies in an old segment is read ahead, what was just written
// is not, and what is not there does no harm.
func TestPrefetch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fsys := faultfs.New()
		j := mustOpen(t, fsys, manual(1<<10))
		mustRecover(t, j, nil, nil)
		tx := j.Begin()
		old := tx.Push(jobs.Record{Slot: "s", Body: []byte("old")})
		mustCommit(t, tx)
		for n := 1; n < 40; n++ {
			numbered(t, j, n, n)
		}
		tx = j.Begin()
		young := tx.Push(jobs.Record{Slot: "s", Body: []byte("young")})
		mustCommit(t, tx)
		if err := j.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			a     jobs.Addr
			reads int
		}{{young, 0}, {old, 1}, {old + 9999, 0}} {
			before := fsys.Count(faultfs.Read)
			j.Prefetch(c.a)
			synctest.Wait()
			if got := fsys.Count(faultfs.Read) - before; got != c.reads {
				t.Errorf("%v: %d reads, want %d", c.a, got, c.reads)
			}
		}
		mustClose(t, j, jobs.End{})
	})
}
