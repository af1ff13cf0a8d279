//go:build unix

package engine

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/crawltest"
	"github.com/skeincrawl/skein/downloader"
	_ "github.com/skeincrawl/skein/downloader/middleware" // those of a crawl.
	"github.com/skeincrawl/skein/feeds"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
	"github.com/skeincrawl/skein/settings"
)

// benchPages is how many pages the site of the benchmarks has.
const benchPages = 2000

// BenchmarkLayers tells where the CPU goes. Every sub-benchmark does what one
// layer does for one page of 10 KiB with 20 links, of which one leads to a new
// page, and reports the CPU time of the process, garbage collection included,
// as µs/page:
//
//	fetch      a download through the HTTP handler; client and server, both in this process
//	parse      the tree of the page, and three fields by CSS
//	links      the links, resolved
//	step       admitting 20 requests: policies, fingerprint, a look into the filter, encoding
//	feed       rendering an item and committing it to a file
//	scheduler  one Step with the outcome and the next lease, in memory
//	journal    the same in a job directory
//	whole      all of it but fetch, by the engine with its workers and middlewares
//
// The whole is more than the sum of its parts by the middlewares, the signals and
// the hand-over between goroutines. The pages are in memory all the time, so that
// the garbage collector has the same live heap in all of them.
func BenchmarkLayers(b *testing.B) {
	site := crawltest.NewSite(crawltest.Config{Pages: benchPages, Links: 20, Size: 10 << 10})
	bodies := map[string][]byte{}
	for i := range benchPages {
		bodies[fmt.Sprintf("http://www.example.com/p/%d", i)] = site.Render(i)
	}
	defer runtime.KeepAlive(bodies)
	body := site.Render(7)
	b.Run("fetch", func(b *testing.B) { benchFetch(b, site) })
	b.Run("parse", func(b *testing.B) {
		perPage(b, func() { fields(benchPage(body)) })
	})
	b.Run("links", func(b *testing.B) {
		perPage(b, func() {
			for l := range benchPage(body).Links() {
				_ = l.URL
			}
		})
	})
	b.Run("step", benchStep)
	b.Run("feed", benchFeed)
	b.Run("scheduler", func(b *testing.B) { benchScheduler(b, "") })
	b.Run("journal", func(b *testing.B) { benchScheduler(b, filepath.Join(b.TempDir(), "job")) })
	b.Run("whole", func(b *testing.B) { benchWhole(b, bodies, false) })
	b.Run("whole with JOBDIR", func(b *testing.B) { benchWhole(b, bodies, true) })
}

// perPage runs f once a page.
func perPage(b *testing.B, f func()) {
	b.ReportAllocs()
	before := cpu(b)
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/1e3/float64(b.N), "µs/page")
}

// cpu returns the CPU time that the process has used.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchPage(body []byte) *crawl.Response {
	const url = "http://www.example.com/p/7"
	return &crawl.Response{
		Request: &crawl.Request{URL: url}, URL: url, Status: http.StatusOK, Body: body,
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
	}
}

func fields(r *crawl.Response) crawl.Record {
	return crawl.Record{
		{Name: "name", Value: r.CSS("h1.name::text").Get()},
		{Name: "price", Value: r.CSS("span.price::text").Get()},
		{Name: "desc", Value: r.CSS("p.desc::text").Get()},
	}
}

// benchSpider reads three fields and follows all links.
type benchSpider struct{}

func (s *benchSpider) Parse(_ context.Context, r *crawl.Response, out crawl.Out) error {
	out.Item(fields(r))
	for l := range r.Links() {
		out.Follow(l.URL, s.Parse)
	}
	return nil
}

func benchEngine(b *testing.B, feed string, assign ...string) *Engine {
	builder := settings.New()
	for _, a := range assign {
		builder.Assign(a)
	}
	s, _, err := builder.Build()
	if err != nil {
		b.Fatal(err)
	}
	spec := crawl.Spec{Name: "bench", StartURLs: []string{"http://www.example.com/p/0"}, New: func() crawl.Spider { return &benchSpider{} }}
	o := Options{Spec: spec, Settings: s, Log: zerolog.Nop()}
	if feed != "" {
		o.Feeds = []feeds.Target{{URI: feed, Path: feed, Format: "jsonl"}}
	}
	e, err := New(o)
	if err != nil {
		b.Fatal(err)
	}
	return e
}

func benchFetch(b *testing.B, site *crawltest.Site) {
	srv := httptest.NewServer(site)
	defer srv.Close()
	h := downloader.NewHTTP(downloader.HTTPConfig{MaxIdle: 2, MaxIdlePerHost: 2})
	defer h.Close()
	r := &crawl.Request{URL: srv.URL + "/p/7"}
	perPage(b, func() {
		if _, err := h.Fetch(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	})
}

func benchStep(b *testing.B) {
	e := benchEngine(b, "")
	f := benchFrontier(b, e, "")
	e.haser = f.(scheduler.Haser)
	requests := make([]*crawl.Request, 20)
	for i := range requests {
		requests[i] = &crawl.Request{URL: fmt.Sprintf("http://www.example.com/p/%d", i), Callback: (&benchSpider{}).Parse}
		if i > 0 {
			entry, err := e.admit(b.Context(), requests[i], false)
			if err != nil {
				b.Fatal(err)
			}
			pushOne(b, f, i, entry)
		}
	}
	perPage(b, func() {
		for _, r := range requests {
			if _, err := e.admit(b.Context(), r, false); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func benchFrontier(b *testing.B, e *Engine, dir string) scheduler.Frontier {
	e.cfg.JobDir, e.env.JobDir = dir, dir
	job, err := e.openJob()
	if err != nil {
		b.Fatal(err)
	}
	f, _, err := e.openFrontier(b.Context(), job)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := f.Close(context.Background(), ""); err != nil {
			b.Error(err)
		}
	})
	return f
}

func pushOne(b *testing.B, f scheduler.Frontier, ordinal int, entry scheduler.Entry) {
	o := scheduler.Outcome{Key: scheduler.Key{Ordinal: uint64(ordinal)}, Kind: scheduler.StartEntry, Push: []scheduler.Entry{entry}}
	if _, err := f.Step(b.Context(), nil, []scheduler.Outcome{o}, 0); err != nil {
		b.Fatal(err)
	}
}

// benchScheduler ends one request with 19 links that are known and a new one,
// and leases the next.
func benchScheduler(b *testing.B, dir string) {
	e := benchEngine(b, "")
	f := benchFrontier(b, e, dir)
	entry, err := e.admit(b.Context(), &crawl.Request{URL: "http://www.example.com/p/0", Callback: (&benchSpider{}).Parse}, false)
	if err != nil {
		b.Fatal(err)
	}
	pushOne(b, f, 1, entry)
	if entry.Body == nil {
		b.Fatal(entry.Why)
	}
	known := entry
	known.Body, known.Known = nil, true
	push := make([]scheduler.Entry, 20)
	for i := range push {
		push[i] = known
	}
	step := func(progress []scheduler.Progress, done []scheduler.Outcome) scheduler.LeaseID {
		g, err := f.Step(b.Context(), progress, done, 1)
		if err != nil {
			b.Fatal(err)
		}
		return g.Leases[0].ID
	}
	lease, n := step(nil, nil), uint64(0)
	perPage(b, func() {
		n++
		for i := range 8 { // spread as fingerprints are
			entry.Fingerprint[i] = byte(n * 0x9E3779B97F4A7C15 >> (8 * i))
		}
		push[7] = entry
		lease = step([]scheduler.Progress{{Lease: lease, Settled: true}}, []scheduler.Outcome{{Key: scheduler.Key{Lease: lease}, Push: push}})
	})
}

func benchFeed(b *testing.B) {
	e := benchEngine(b, filepath.Join(b.TempDir(), "out.jsonl"))
	job := jobs.Volatile(e.feeds.Jobs())
	item := crawl.Record{
		{Name: "name", Value: "Item number 7"}, {Name: "price", Value: "$7.07"}, {Name: "desc", Value: "Description of item 7 & friends"},
	}
	perPage(b, func() {
		rendered, err := e.feeds.Render(item, nil)
		if err != nil {
			b.Fatal(err)
		}
		tx := job.Begin()
		tx.Feed(0, rendered[0])
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	})
	if err := job.Close(jobs.End{}); err != nil {
		b.Fatal(err)
	}
	if err := e.feeds.Close(true); err != nil {
		b.Fatal(err)
	}
}

// benchWhole crawls the site once each time; pages come from memory.
func benchWhole(b *testing.B, bodies map[string][]byte, durable bool) {
	handler := crawl.FetcherFunc(func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
		resp := benchPage(bodies[r.URL])
		resp.Request, resp.URL = r, r.URL
		return resp, nil
	})
	b.ReportAllocs()
	before, began := cpu(b), time.Now()
	for b.Loop() {
		dir := b.TempDir()
		assign := []string{"JOBDIR=", "CONCURRENT_REQUESTS_PER_DOMAIN=16"}
		if durable {
			assign[0] += filepath.Join(dir, "job")
		}
		e := benchEngine(b, filepath.Join(dir, "out.jsonl"), assign...)
		e.router = downloader.Router{"http": handler}
		if _, err := e.Run(b.Context()); err != nil {
			b.Fatal(err)
		}
		if n := e.env.Stats.Count("item_scraped_count"); n != benchPages {
			b.Fatalf("%d items, want %d", n, benchPages)
		}
	}
	n := float64(b.N * benchPages)
	b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/1e3/n, "µs/page")
	b.ReportMetric(n/time.Since(began).Seconds(), "pages/s")
}
