package engine_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/settings"
)

// loopback serves all addresses of 127.0.0.0/8, each a host of its own, and returns
// the port.
func loopback(b *testing.B, f http.HandlerFunc) int {
	b.Helper()
	l, err := new(net.ListenConfig).Listen(b.Context(), "tcp4", ":0")
	if err != nil {
		b.Fatal(err)
	}
	srv, served := &http.Server{Handler: f, ReadHeaderTimeout: time.Minute}, make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.Serve(l)
	}()
	b.Cleanup(func() {
		_ = srv.Close()
		<-served
	})
	return l.Addr().(*net.TCPAddr).Port
}

func benchCrawl(b *testing.B, p *probe, assign ...string) {
	b.Helper()
	spec := crawl.Spec{Name: "probe", New: func() crawl.Spider { return p }}
	bl := settings.New().Spider("probe", spec.Settings)
	for _, a := range append(assign, "STATS_DUMP=False") {
		bl.Assign(a)
	}
	s, _, err := bl.Build()
	if err != nil {
		b.Fatal(err)
	}
	e, err := engine.New(engine.Options{Spec: spec, Settings: s, Log: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := e.Run(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkDelayOfManyHosts measures what servers see of DOWNLOAD_DELAY=0.2: the
// shortest time between two arrivals at one of 50 hosts.
func BenchmarkDelayOfManyHosts(b *testing.B) {
	for b.Loop() {
		v, p := newVisits(), &probe{}
		port := loopback(b, func(w http.ResponseWriter, r *http.Request) {
			v.enter(r.Host)
			v.leave(r.Host)
			fmt.Fprint(w, "x")
		})
		p.begin = func(_ context.Context, out crawl.Out) error {
			for i := range 50 * 40 {
				out.Request(&crawl.Request{URL: fmt.Sprintf("http://127.0.0.%d:%d/%d", 1+i%50, port, i)})
			}
			return nil
		}
		began := time.Now()
		benchCrawl(b, p, "DOWNLOAD_DELAY=0.2", "RANDOMIZE_DOWNLOAD_DELAY=False", "CONCURRENT_REQUESTS=100")
		var all []time.Duration
		for host := range v.at {
			all = append(all, v.gaps(host)...)
		}
		slices.Sort(all)
		b.ReportMetric(all[0].Seconds()*1000, "ms-shortest")
		b.ReportMetric(all[len(all)/2].Seconds()*1000, "ms-median")
		b.ReportMetric(all[len(all)-1].Seconds()*1000, "ms-longest")
		b.ReportMetric(float64(len(all)+50)/time.Since(began).Seconds(), "requests/s")
	}
}

// BenchmarkLongHost measures the throughput of 50 hosts, alone and beside one that
// has 10,000 requests and a delay (scrapy/scrapy#2638).
func BenchmarkLongHost(b *testing.B) {
	took := func(long int) (d time.Duration) {
		const n = 50 * 800
		p := &probe{}
		port := loopback(b, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "x") })
		var began time.Time
		var left atomic.Int64
		left.Store(n)
		p.begin = func(_ context.Context, out crawl.Out) error {
			for i := range long {
				out.Request(&crawl.Request{URL: fmt.Sprintf("http://127.0.1.1:%d/%d", port, i), Priority: 1})
			}
			began = time.Now()
			for i := range n {
				out.Request(&crawl.Request{URL: fmt.Sprintf("http://127.0.0.%d:%d/%d", 1+i%50, port, i)})
			}
			return nil
		}
		p.page = func(_ context.Context, r *crawl.Response, _ crawl.Out) error {
			if r.Request.Priority > 0 || left.Add(-1) > 0 {
				return nil
			}
			d = time.Since(began)
			return crawl.CloseSpider("done")
		}
		benchCrawl(b, p, `DOWNLOAD_SLOTS={"127.0.1.1": {"delay": 1}}`, "CONCURRENT_REQUESTS=32")
		return d
	}
	for b.Loop() {
		alone, beside := took(0), took(10_000)
		for range 4 { // the machine has other things to do: the best of five counts
			alone, beside = min(alone, took(0)), min(beside, took(10_000))
		}
		b.ReportMetric(50*800/alone.Seconds(), "requests/s-alone")
		b.ReportMetric(50*800/beside.Seconds(), "requests/s-beside")
		b.ReportMetric(alone.Seconds()/beside.Seconds(), "ratio")
	}
}
