package scheduler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
)

// Components of a user, registered with one call each.
func init() {
	scheduler.Queues.Register("test-middle", func() scheduler.Queue { return new(middle) })
	scheduler.PriorityQueues.Register("test-longest", func(*crawl.Env) (scheduler.PriorityQueue, error) {
		return func(v scheduler.SlotView) scheduler.Turn { return scheduler.Turn{Rank: -int64(v.Queued())} }, nil
	})
	scheduler.PriorityQueues.Register("test-view", func(*crawl.Env) (scheduler.PriorityQueue, error) {
		return func(v scheduler.SlotView) scheduler.Turn {
			h := v.Head()
			return scheduler.Turn{Rank: int64(v.Active()), Later: h.Start, Order: int64(len(v.Name())) - int64(h.Priority)}
		}, nil
	})
	scheduler.Filters.Register("test-everything", func(*crawl.Env) (scheduler.Filter, error) { return everything{}, nil })
	scheduler.Filters.Register("test-map", func(*crawl.Env) (scheduler.Filter, error) { return hashes{}, nil })
}

// middle is a queue that gives the reference in its middle.
type middle struct{ refs []scheduler.Ref }

func (m *middle) Push(r scheduler.Ref) error { m.refs = append(m.refs, r); return nil }

func (m *middle) Pop() (scheduler.Ref, bool, error) {
	if len(m.refs) == 0 {
		return scheduler.Ref{}, false, nil
	}
	i := len(m.refs) / 2
	r := m.refs[i]
	m.refs = slices.Delete(m.refs, i, i+1)
	return r, true, nil
}

func (m *middle) Len() int { return len(m.refs) }

// everything is a filter that knows all there is.
type everything struct{}

func (everything) Seen(scheduler.Fingerprint) bool { return true }

// hashes is a filter that can forget and can not tell early.
type hashes map[uint64]bool

func (h hashes) Seen(fp scheduler.Fingerprint) bool {
	seen := h[scheduler.HashOf(fp)]
	h[scheduler.HashOf(fp)] = true
	return seen
}

func (h hashes) Forget(hash uint64) { delete(h, hash) }

// emitAll emits "slot/name" or "slot/name:priority" and returns how many were
// refused. ordinal is that of the last start entry.
func emitAll(t *testing.T, f scheduler.Frontier, ordinal *uint64, words ...string) (refused int) {
	t.Helper()
	for _, w := range words {
		slot, rest, _ := strings.Cut(w, "/")
		name, p, _ := strings.Cut(rest, ":")
		r := &crawl.Request{URL: "http://" + slot + "/" + name}
		_, _ = fmt.Sscan(p, &r.Priority)
		*ordinal++
		g, err := f.Step(t.Context(), nil, []scheduler.Outcome{startOutcome(*ordinal, slot, r)}, 0)
		if err != nil {
			t.Fatal(err)
		}
		refused += len(g.Refused)
	}
	return refused
}

// drainAll leases and finishes all requests, and returns them.
func drainAll(t *testing.T, f scheduler.Frontier) (order []string) {
	t.Helper()
	for {
		g, err := f.Step(t.Context(), nil, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Leases) == 0 {
			return order
		}
		body := string(g.Leases[0].Body)
		order = append(order, strings.TrimSuffix(body[len(`{"url":"http://`):], `"}`))
		done := scheduler.Outcome{Key: scheduler.Key{Lease: g.Leases[0].ID}}
		if _, err := f.Step(t.Context(), nil, []scheduler.Outcome{done}, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// A queue and a priority queue of a user order the requests, in a run and in the
// next.
func TestUsersOrders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ assign, push, want string }{
		{"SCHEDULER_DISK_QUEUE=test-middle", "s/a s/b s/c s/d s/e", "s/c s/d s/b s/e s/a"},
		{"SCHEDULER_PRIORITY_QUEUE=test-longest", "a/1 b/1 b/2 c/1 c/2 c/3", "c/3 b/2 c/2 a/1 b/1 c/1"},
		{"SCHEDULER_PRIORITY_QUEUE=test-view", "bb/1 a/1 bb/2:5 ccc/1:4 a/2", "bb/2 ccc/1 a/2 a/1 bb/1"},
		// A queue that can not be peeked into leaves its slots to take turns.
		{"SCHEDULER_PRIORITY_QUEUE=priority SCHEDULER_DISK_QUEUE=test-middle", "b/1 a/1 a/2 b/2", "a/2 b/2 a/1 b/1"},
	} {
		for _, reopen := range []bool{false, true} {
			fs, ordinal := faultfs.New(), uint64(0)
			f := openOn(t, fs, jobs.Options{}, strings.Fields(c.assign)...)
			emitAll(t, f, &ordinal, strings.Fields(c.push)...)
			if reopen {
				if err := f.Close(t.Context(), "shutdown"); err != nil {
					t.Fatal(err)
				}
				f = openOn(t, fs, jobs.Options{}, strings.Fields(c.assign)...)
			}
			if got := strings.Join(drainAll(t, f), " "); got != c.want {
				t.Errorf("%s, reopened %v: got %s, want %s", c.assign, reopen, got, c.want)
			}
		}
	}
}

// DUP-08: a filter of a user decides what is a duplicate. The journal marks again
// what earlier runs had marked, and takes back what Start emitted in vain.
func TestUsersFilter(t *testing.T) {
	t.Parallel()
	ordinal := uint64(0)
	if n := emitAll(t, openOn(t, faultfs.New(), jobs.Options{}, "DUPEFILTER_CLASS=test-everything"), &ordinal, "a/1", "a/2"); n != 2 {
		t.Errorf("%d refused, want all", n)
	}
	fs := faultfs.New()
	for i, c := range []struct {
		refused int
		reason  string
	}{{1, "shutdown"}, {3, scheduler.NoResponse}, {1, "shutdown"}} {
		ordinal = 0
		f := openOn(t, fs, jobs.Options{}, "DUPEFILTER_CLASS=test-map")
		if f.(scheduler.Haser).Has(scheduler.FingerprintOf("GET", "http://a/1", nil)) {
			t.Error("a filter that can not tell early does")
		}
		if n := emitAll(t, f, &ordinal, "a/1", "a/2", "a/1"); n != c.refused {
			t.Errorf("run %d: %d refused, want %d", i+1, n, c.refused)
		}
		if c.reason == scheduler.NoResponse {
			drainAll(t, f)
		}
		if err := f.Close(t.Context(), c.reason); err != nil {
			t.Fatal(err)
		}
	}
}

// SCH-09: which queue has no limits by address is said before there is a job.
func TestPerAddress(t *testing.T) {
	t.Parallel()
	construct, err := scheduler.Frontiers.Lookup("default")
	if err != nil {
		t.Fatal(err)
	}
	for queue, ok := range map[string]bool{"downloader-aware": false, "priority": true, "test-view": true} {
		_, err := construct(newEnv(t, "CONCURRENT_REQUESTS_PER_IP=1", "SCHEDULER_PRIORITY_QUEUE="+queue))
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), queue+": this queue does not support CONCURRENT_REQUESTS_PER_IP") {
			t.Errorf("%s: error %v", queue, err)
		}
	}
}
