package scheduler_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
	"github.com/skeincrawl/skein/scheduler/schedulertest"
	"github.com/skeincrawl/skein/settings"
)

// benchOpen opens a frontier in memory, or with a directory on the disk.
func benchOpen(b *testing.B, dir string, assignments ...string) (*scheduler.Local, scheduler.Resume) {
	b.Helper()
	env := newEnv(b, assignments...)
	var job *jobs.Job
	if env.JobDir = dir; dir == "" {
		job = jobs.Volatile(nil)
	} else {
		var err error
		if job, err = jobs.Open(jobs.OS(), dir, jobs.Identity{}, jobs.Options{SyncInterval: jobs.DefaultSyncInterval}); err != nil {
			b.Fatal(err)
		}
	}
	f, resume, err := scheduler.NewLocal(scheduler.Deps{Env: env, Slots: schedulertest.NewSlots(8, 0), Job: job},
		settings.Decode[scheduler.Config](env.Settings))
	if err != nil {
		b.Fatal(err)
	}
	return f, resume
}

func benchStep(b *testing.B, f *scheduler.Local, done []scheduler.Outcome, want int) scheduler.Grant {
	g, err := f.Step(context.Background(), nil, done, want)
	if err != nil {
		b.Fatal(err)
	}
	return g
}

// benchEntry is a request of about the usual size.
func benchEntry(slot string, n int) scheduler.Entry {
	url := fmt.Sprintf("https://%s/catalogue/category/books/page-%d.html", slot, n)
	return scheduler.Entry{
		Request: &crawl.Request{URL: url}, Slot: slot, Callback: "Page",
		Body:        fmt.Appendf(nil, `{"url":%q,"callback":"Page","depth":3}`, url),
		Fingerprint: scheduler.FingerprintOf("GET", url, nil),
	}
}

// inFlight is how many downloads are in progress in BenchmarkPick, as many as
// CONCURRENT_REQUESTS allows.
const inFlight = 16

// BenchmarkPick ends one of 16 downloads, whichever it may be, commits its step
// with one new request, and leases the next request, as a crawl does for each
// page. The new request is of the slot of its page (own), so that every slot has
// requests all the time, or of any slot (random), so that slots run empty, are
// forgotten, and come again; there are three requests a slot. It must not depend
// much on the number of slots: own takes less than twice as long with 100,000
// slots as with 10.
func BenchmarkPick(b *testing.B) {
	for _, queue := range []string{"downloader-aware", "priority"} {
		for _, links := range []string{"own", "random"} {
			for _, slots := range []int{10, 1000, 100_000} {
				b.Run(fmt.Sprintf("%s/%s/slots=%d", queue, links, slots), func(b *testing.B) { benchPick(b, queue, links == "own", slots) })
			}
		}
	}
}

func benchPick(b *testing.B, queue string, own bool, slots int) {
	f, _ := benchOpen(b, "", "SCHEDULER_PRIORITY_QUEUE="+queue)
	e := benchEntry("www.example.com", 1)
	e.Request.DontFilter = true
	nameOf := func(n int) string { return "www.host-" + strconv.Itoa(n) + ".example.com" }
	for i := range slots {
		e.Slot = nameOf(i * 7919 % slots)
		push := []scheduler.Entry{e, e, e}
		benchStep(b, f, []scheduler.Outcome{{Key: scheduler.Key{Ordinal: uint64(i + 1)}, Kind: scheduler.StartEntry, Push: push}}, 0)
	}
	leases := slices.Clone(benchStep(b, f, nil, inFlight).Leases)
	progress := []scheduler.Progress{{Settled: true}}
	done := []scheduler.Outcome{{Push: make([]scheduler.Entry, 1)}}
	rng := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		l := &leases[rng.IntN(inFlight)]
		if own {
			e.Slot = strings.Clone(l.Slot) // a crawl has it from the URL of the link
		} else {
			e.Slot = nameOf(rng.IntN(slots))
		}
		progress[0].Lease, done[0].Key.Lease, done[0].Push[0] = l.ID, l.ID, e
		g, err := f.Step(context.Background(), progress, done, 1)
		if err != nil || len(g.Leases) != 1 {
			b.Fatalf("error %v, %d leases, want 1", err, len(g.Leases))
		}
		*l = g.Leases[0]
	}
	if err := f.Close(context.Background(), ""); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkStep is one crawl step: a request is done, its 20 links are new, or 19
// of them are known, and the next request is leased.
func BenchmarkStep(b *testing.B) {
	for _, where := range []string{"memory", "journal"} {
		for _, fresh := range []int{1, 20} {
			b.Run(fmt.Sprintf("%s/new=%d", where, fresh), func(b *testing.B) { benchSteps(b, where, fresh) })
		}
	}
}

func benchSteps(b *testing.B, where string, fresh int) {
	dir := ""
	if where == "journal" {
		dir = filepath.Join(b.TempDir(), "job")
	}
	f, _ := benchOpen(b, dir)
	benchStep(b, f, []scheduler.Outcome{{
		Key: scheduler.Key{Ordinal: 1}, Kind: scheduler.Enqueue, Push: []scheduler.Entry{benchEntry("www.example.com", 0)},
	}}, 0)
	known := benchEntry("www.example.com", 0)
	known.Body, known.Known = nil, true
	push := make([]scheduler.Entry, 20)
	for i := range push {
		push[i] = known
	}
	done := []scheduler.Outcome{{Push: push}}
	l := benchStep(b, f, nil, 1).Leases[0]
	e := benchEntry("www.example.com", 0)
	n := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		for k := range fresh {
			n++
			binary.BigEndian.PutUint64(e.Fingerprint[:], n*0x9E3779B97F4A7C15) // uniformly distributed, as fingerprints are
			push[k] = e
		}
		done[0].Key.Lease = l.ID
		l = benchStep(b, f, done, 1).Leases[0]
	}
	b.StopTimer()
	if err := f.Close(context.Background(), ""); err != nil {
		b.Fatal(err)
	}
}

// fill queues requests over a thousand slots.
func fill(b *testing.B, f *scheduler.Local, n int) {
	b.Helper()
	for i := range n / 20 {
		var push []scheduler.Entry
		for k := range 20 {
			push = append(push, benchEntry(fmt.Sprintf("www.host-%d.example.com", (i*20+k)%1000), i*20+k))
		}
		benchStep(b, f, []scheduler.Outcome{{Key: scheduler.Key{Ordinal: uint64(i + 1)}, Kind: scheduler.Enqueue, Push: push}}, 0)
	}
	benchStep(b, f, []scheduler.Outcome{{Kind: scheduler.StartEnded}}, 0)
}

func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkQueued queues many requests in a job and opens it again. It reports the
// time of opening, and for each request the memory, seen-set and all, and the
// bytes on the disk.
func BenchmarkQueued(b *testing.B) {
	for _, n := range []int{1_000_000, 10_000_000} {
		dir := filepath.Join(b.TempDir(), "job")
		b.Run(fmt.Sprintf("n=%d/queue", n), func(b *testing.B) { benchQueue(b, dir, n) })
		b.Run(fmt.Sprintf("n=%d/reopen", n), func(b *testing.B) { benchReopen(b, dir, n) })
		if err := os.RemoveAll(dir); err != nil {
			b.Fatal(err)
		}
	}
}

func benchQueue(b *testing.B, dir string, n int) {
	for b.Loop() {
		if err := os.RemoveAll(dir); err != nil {
			b.Fatal(err)
		}
		before := heap()
		f, _ := benchOpen(b, dir)
		fill(b, f, n)
		b.ReportMetric((heap()-before)/float64(n), "B/request")
		if err := f.Close(context.Background(), "shutdown"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n)/float64(b.N), "ns/request")
	b.ReportMetric(float64(sizeOf(b, dir))/float64(n), "disk-B/request")
}

func benchReopen(b *testing.B, dir string, n int) {
	open := time.Duration(0)
	for b.Loop() {
		before := heap()
		began := time.Now()
		f, resume := benchOpen(b, dir)
		open += time.Since(began)
		if resume.Pending != int64(n) {
			b.Fatalf("%d pending, want %d", resume.Pending, n)
		}
		b.ReportMetric((heap()-before)/float64(n), "B/request")
		if err := f.Close(context.Background(), "shutdown"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(open.Seconds()/float64(b.N), "s/open")
}

func sizeOf(b *testing.B, dir string) (n int64) {
	b.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkSlotBytes reports the memory of 100,000 slots with one request each, and
// with three, but for the bodies of those.
func BenchmarkSlotBytes(b *testing.B) {
	const slots = 100_000
	for _, requests := range []int{1, 3} {
		b.Run(fmt.Sprintf("requests=%d", requests), func(b *testing.B) {
			e := benchEntry("www.example.com", 1)
			e.Request.DontFilter = true
			push := slices.Repeat([]scheduler.Entry{e}, requests)
			for b.Loop() {
				f, _ := benchOpen(b, "")
				before := heap()
				for i := range slots {
					for k := range push {
						push[k].Slot = fmt.Sprintf("www.host-%d.example.com", i)
					}
					benchStep(b, f, []scheduler.Outcome{{Key: scheduler.Key{Ordinal: uint64(i + 1)}, Kind: scheduler.StartEntry, Push: push}}, 0)
				}
				b.ReportMetric((heap()-before)/slots, "B/slot")
				if err := f.Close(context.Background(), ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
