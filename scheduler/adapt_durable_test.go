package scheduler_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
	"github.com/skeincrawl/skein/scheduler/schedulertest"
)

// shelf is what a durable scheduler keeps: rows of bytes, and what it has seen.
type shelf struct {
	rows []row
	seen map[string]bool
}

type row struct {
	body []byte
	done bool
}

// durable is a scheduler that keeps its requests on a shelf.
type durable struct {
	*shelf
	env    *crawl.Env
	out    map[*crawl.Request]int // handed out, with its row
	opened bool
}

func (d *durable) Open(context.Context) error { d.opened = true; return nil }

func (d *durable) Enqueue(_ context.Context, r *crawl.Request) (bool, error) {
	if d.seen[r.URL] && !r.DontFilter {
		d.env.Stats.Inc("dupefilter/filtered")
		return false, nil
	}
	d.seen[r.URL] = d.seen[r.URL] || !r.DontFilter
	body, err := d.env.Callbacks.AppendRequest(nil, r) //nolint:contextcheck // naming a callback needs none.
	d.rows = append(d.rows, row{body: body})
	return true, err
}

// waiting returns the rows that are neither done nor handed out.
func (d *durable) waiting() (rows []int) {
	out := slices.Collect(maps.Values(d.out))
	for i, r := range d.rows {
		if !r.done && !slices.Contains(out, i) {
			rows = append(rows, i)
		}
	}
	return rows
}

func (d *durable) Next(context.Context) (*crawl.Request, error) {
	rows := d.waiting()
	if len(rows) == 0 {
		return nil, nil
	}
	r, err := d.env.Callbacks.DecodeRequest(d.rows[rows[0]].body)
	d.out[r] = rows[0]
	return r, err
}

func (d *durable) Len(context.Context) (int, error) { return len(d.waiting()), nil }

func (d *durable) HasPending(context.Context) (bool, error) { return len(d.waiting()) > 0, nil }

func (d *durable) Done(_ context.Context, r *crawl.Request) error {
	d.rows[d.out[r]].done = true
	delete(d.out, r)
	return nil
}

func (d *durable) Return(_ context.Context, r *crawl.Request) error { delete(d.out, r); return nil }

func (d *durable) Close(_ context.Context, reason string) error {
	if reason == scheduler.NoResponse {
		clear(d.seen)
	}
	return nil
}

// durableStore keeps a crawl on a shelf and in a job directory.
type durableStore struct {
	fs    *faultfs.FS
	shelf *shelf
	last  *durable
}

func (s *durableStore) Open(t testing.TB, r schedulertest.Run) (scheduler.Frontier, scheduler.Resume, error) {
	t.Helper()
	r.Env.JobDir = "/job"
	job, err := jobs.Open(s.fs, "/job", jobs.Identity{Spider: "test"}, jobs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.last = &durable{shelf: s.shelf, env: r.Env, out: map[*crawl.Request]int{}}
	f, resume, err := openAdapted(t, r, s.last, job)
	if err == nil && !s.last.opened {
		t.Error("the scheduler was not opened")
	}
	return f, resume, err
}

func (s *durableStore) Crash(testing.TB) {
	s.fs = s.fs.Kill()
	s.shelf = &shelf{rows: slices.Clone(s.shelf.rows), seen: maps.Clone(s.shelf.seen)}
}

// TestAdaptDurable holds a scheduler that outlives its process to the contract,
// also to its part about runs that end, in good order or not.
func TestAdaptDurable(t *testing.T) {
	t.Parallel()
	schedulertest.Contract(t, func(testing.TB) schedulertest.Store {
		return &durableStore{fs: faultfs.New(), shelf: &shelf{seen: map[string]bool{}}}
	})
}
