package scheduler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
)

// TestLongCrawl: 200,000 requests over 400 hosts, last in first out and with
// priorities, so that some of the first are the last to go. Disk and files stay
// bounded by what is queued, over a kill and a clean end, and each time exactly
// what was queued is there again.
func TestLongCrawl(t *testing.T) {
	t.Parallel()
	total := 200_000
	if testing.Short() {
		total = 20_000
	}
	synctest.Test(t, func(t *testing.T) {
		c := &churn{T: t, fs: faultfs.New(), rng: rand.New(rand.NewPCG(1, 2)), pending: map[string]int{}}
		c.open()
		c.start(20)
		c.crawl(total * 3 / 10)
		c.kill()
		c.crawl(total * 6 / 10)
		c.close()
		c.crawl(total)
		c.kill()
		c.drain()
		c.Logf("%d requests, %d queued at most; %d files, %d bytes at most for %d that were needed", c.made, c.most, c.files, c.bytes, c.needed)
	})
}

// churn is a crawl of which only the queue matters.
type churn struct {
	*testing.T
	fs      *faultfs.FS
	rng     *rand.Rand
	f       scheduler.Frontier
	pending map[string]int // by URL: the size of the request as it is stored
	size    int            // of them all
	leases  []scheduler.Lease
	made    int
	ordinal uint64

	most, files   int
	bytes, needed int64 // at the worst moment
}

const (
	churnSegment = 64 << 10
	churnQueue   = 3000
)

func (c *churn) open() {
	c.Helper()
	c.f = openOn(c.T, c.fs, jobs.Options{SegmentSize: churnSegment, SyncInterval: jobs.DefaultSyncInterval, Reserve: -1})
}

// entry is a new request.
func (c *churn) entry() scheduler.Entry {
	c.made++
	host := fmt.Sprintf("host%d.test", c.rng.IntN(400))
	r := &crawl.Request{
		URL: fmt.Sprintf("http://%s/some/page/%d", host, c.made), Priority: c.rng.IntN(5) - 2, DontFilter: c.rng.IntN(10) == 0,
	}
	body, err := json.Marshal(map[string]any{"url": r.URL, "priority": r.Priority})
	if err != nil {
		c.Fatal(err)
	}
	c.pending[r.URL] = len(body)
	c.size += len(body)
	return scheduler.Entry{Request: r, Slot: host, Body: body, Fingerprint: scheduler.FingerprintOf("GET", r.URL, nil)}
}

func (c *churn) start(n int) {
	for range n {
		c.ordinal++
		c.step(scheduler.Outcome{Key: scheduler.Key{Ordinal: c.ordinal}, Kind: scheduler.StartEntry, Push: []scheduler.Entry{c.entry()}})
	}
	c.step(scheduler.Outcome{Kind: scheduler.StartEnded})
}

func (c *churn) step(done ...scheduler.Outcome) {
	c.Helper()
	g, err := c.f.Step(context.Background(), nil, done, 16-len(c.leases))
	if err != nil {
		c.Fatal(err)
	}
	c.leases = append(c.leases, slices.Clone(g.Leases)...)
	if got := int(g.Backlog) + len(c.leases); got != len(c.pending) {
		c.Fatalf("after %d requests: %d are queued or leased, want %d", c.made, got, len(c.pending))
	}
}

// finish ends some leases; each brings up to so many new requests.
func (c *churn) finish(atMost int) {
	c.Helper()
	n := 1 + c.rng.IntN(len(c.leases))
	var done []scheduler.Outcome
	for _, l := range c.leases[:n] {
		var r struct{ URL string }
		if err := json.Unmarshal(l.Body, &r); err != nil || c.pending[r.URL] != len(l.Body) {
			c.Fatalf("leased %s, %v: it is not queued", l.Body, err)
		}
		c.size -= len(l.Body)
		delete(c.pending, r.URL)
		o := scheduler.Outcome{Key: scheduler.Key{Lease: l.ID}, Kind: scheduler.Done, Answered: true}
		for range c.rng.IntN(atMost + 1) {
			o.Push = append(o.Push, c.entry())
		}
		done = append(done, o)
	}
	c.leases = slices.Delete(c.leases, 0, n)
	c.step(done...)
}

// crawl goes on until so many requests were made. The queue grows to its size, and
// stays there.
func (c *churn) crawl(until int) {
	c.Helper()
	for i := 0; c.made < until; i++ {
		atMost := 3
		if len(c.pending) > churnQueue {
			atMost = 1
		}
		if len(c.leases) == 0 {
			c.step()
		}
		c.finish(atMost)
		c.most = max(c.most, len(c.pending))
		if i%100 == 0 {
			synctest.Wait() // the keeper has its time
			c.measure()
		}
	}
}

// measure compares the disk with what is queued.
func (c *churn) measure() {
	c.Helper()
	const dir = "/x/requests.queue"
	names, err := c.fs.List(dir)
	if err != nil {
		c.Fatal(err)
	}
	var bytes int64
	for _, name := range names {
		b, err := c.fs.ReadFile(dir + "/" + name)
		if err != nil {
			c.Fatal(err)
		}
		bytes += int64(len(b))
	}
	needed := int64(c.size) + 40*int64(len(c.pending))
	if bytes > c.bytes {
		c.bytes, c.needed = bytes, needed
	}
	c.files = max(c.files, len(names))
	if limit := 3*needed + 10*churnSegment; bytes > limit || len(names) > 30 {
		c.Fatalf("after %d requests: %d files and %d bytes for %d that are needed, want at most %d", c.made, len(names), bytes, needed, limit)
	}
}

// kill ends the process once all is in the files, and begins a new one.
func (c *churn) kill() {
	<-time.After(time.Second)
	killed := c.fs.Kill()
	_ = c.f.Close(context.Background(), "the dead can not close")
	c.fs, c.leases = killed, nil
	c.open()
	c.step()
}

// close ends the run in good order, and begins a new one.
func (c *churn) close() {
	c.Helper()
	if err := c.f.Close(context.Background(), "shutdown"); err != nil {
		c.Fatal(err)
	}
	c.leases = nil
	c.open()
	c.step()
}

// drain takes all that is queued, and nothing else.
func (c *churn) drain() {
	c.Helper()
	for len(c.leases) > 0 {
		c.finish(0)
	}
	if len(c.pending) > 0 {
		c.Errorf("%d requests are lost, such as %s", len(c.pending), slices.Sorted(maps.Keys(c.pending))[0])
	}
	if err := c.f.Close(context.Background(), "finished"); err != nil {
		c.Fatal(err)
	}
}
