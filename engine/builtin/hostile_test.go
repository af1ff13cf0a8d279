package builtin_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/crawltest"
	"github.com/skeincrawl/skein/engine"
	_ "github.com/skeincrawl/skein/engine/builtin" // all components
	"github.com/skeincrawl/skein/settings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hostile starts a server with traps and returns its address.
func hostile(t *testing.T) (*crawltest.Hostile, string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := crawltest.NewHostile()
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := h.Serve(l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	return h, l.Addr().String()
}

// victim walks into traps, follows all links, and notes how each trap ends.
type victim struct {
	addr   string
	traps  []crawltest.Trap
	rounds int
	middle func(done int) // called with the number of ends so far

	mu       sync.Mutex
	ends     int
	outcomes map[string]crawltest.Outcome
}

const trapKey = "trap"

func (v *victim) Start(_ context.Context, out crawl.Out) error {
	for range v.rounds {
		for _, t := range v.traps {
			out.Request(&crawl.Request{
				URL: t.URL(v.addr), Method: t.Method, Header: t.Header, Options: t.Options, DontFilter: true,
				Meta: map[string]any{trapKey: t.Name}, Errback: v.Failed,
			})
		}
	}
	return nil
}

// Parse follows the links of a page, or is the end.
func (v *victim) Parse(_ context.Context, r *crawl.Response, out crawl.Out) error {
	links := 0
	for l := range r.Links() {
		links++
		out.Request(&crawl.Request{URL: l.URL, DontFilter: v.rounds > 1, Meta: r.Request.Meta, Errback: v.Failed})
	}
	if links == 0 {
		v.note(r.Request, crawltest.Outcome{Status: r.Status, Text: text(r), Flags: r.Flags})
	}
	return nil
}

// Failed notes an error.
func (v *victim) Failed(_ context.Context, f *crawl.Failure, _ crawl.Out) error {
	o := crawltest.Outcome{Failure: f.Kind}
	if f.Response != nil {
		o.Status, o.Text = f.Response.Status, text(f.Response)
	}
	v.note(f.Request, o)
	return nil
}

func (v *victim) note(r *crawl.Request, o crawltest.Outcome) {
	v.mu.Lock()
	defer v.mu.Unlock()
	trap := r.Meta[trapKey].(string)
	v.ends++
	if v.middle != nil {
		v.middle(v.ends)
		return
	}
	if old, ok := v.outcomes[trap]; ok {
		o.Text = fmt.Sprintf("it ended before: %+v", old)
	}
	v.outcomes[trap] = o
}

// text returns the text of a page, or what is known of one that has none.
func text(r *crawl.Response) string {
	switch t := r.Text(); {
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/octet-stream"):
		return fmt.Sprintf("no text, %d bytes", len(r.Body))
	case !utf8.ValidString(t):
		return fmt.Sprintf("invalid %q", t)
	default:
		return t
	}
}

// run crawls traps to the end, through the server as the proxy for names.
func (v *victim) run(t *testing.T, assign ...string) map[string]any {
	t.Helper()
	t.Setenv("HTTP_PROXY", "http://"+v.addr)
	t.Setenv("NO_PROXY", "127.0.0.1,localhost")
	v.outcomes = map[string]crawltest.Outcome{}
	b := settings.New()
	for _, a := range append([]string{"USER_AGENT=Mozilla/5.0 (compatible; Trapbot/2.1)", "ROBOTSTXT_OBEY=True", "CONCURRENT_REQUESTS_PER_DOMAIN=16"}, assign...) {
		b = b.Assign(a)
	}
	s, _, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	spec := crawl.Spec{Name: "victim", New: func() crawl.Spider { return v }}
	e, err := engine.New(engine.Options{Spec: spec, Settings: s, Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.ErrorLevel)})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := e.Run(t.Context()); err != nil || res.Reason != "finished" {
		t.Fatalf("the crawl ended with %q, %v", res.Reason, err)
	}
	return e.Stats()
}

// A crawl over all traps ends by itself, and each as it should.
func TestHostile(t *testing.T) {
	server, addr := hostile(t)
	v := &victim{addr: addr, traps: crawltest.Traps(), rounds: 1}
	v.run(t)
	for _, trap := range v.traps {
		got, ok := v.outcomes[trap.Name]
		got.Hits = server.Hits(trap.Name)
		if !ok || !got.Equal(trap.Want) {
			t.Errorf("%s (%s) ended with %.300q, want %.300q", trap.Name, trap.Report, fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", trap.Want))
		}
		delete(v.outcomes, trap.Name)
	}
	if len(v.outcomes) > 0 {
		t.Errorf("outcomes of traps that do not exist: %v", slices.Collect(maps.Keys(v.outcomes)))
	}
}

var requests = flag.Int("requests", 500, "how many requests TestHostileLeaks sends at least")

// However many of the traps are walked into, nothing of them stays: no goroutine,
// no open file, no memory.
func TestHostileLeaks(t *testing.T) {
	_, addr := hostile(t)
	v := &victim{addr: addr, traps: slices.DeleteFunc(crawltest.Traps(), func(t crawltest.Trap) bool {
		return t.Options.Timeout > 0 || t.Name == "redirect/seen" // which ends more often if nothing is filtered
	})}
	v.rounds = *requests/len(v.traps) + 1
	ends := v.rounds * len(v.traps)
	var before, after uint64
	v.middle = func(done int) {
		switch done {
		case ends / 4:
			before = heap()
		case ends:
			after = heap()
		}
	}
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	stats := v.run(t, "RETRY_ENABLED=False", "LOGSTATS_INTERVAL=0")
	t.Logf("%v requests, %d ends; heap %d KiB after a quarter, %d KiB at the end", stats["downloader/request_count"], v.ends, before>>10, after>>10)
	if v.ends != ends {
		t.Errorf("%d traps ended, want %d", v.ends, ends)
	}
	if after > before+before/2+4<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
	// What the server still has to close is not the crawl's.
	if got := runtime.NumGoroutine(); got > goroutines+2*64 {
		t.Errorf("%d goroutines, before there were %d", got, goroutines)
	}
	if got := openFiles(t); got > files+64 {
		t.Errorf("%d open files, before there were %d", got, files)
	}
}

// heap returns the bytes of what is in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// openFiles returns how many files the process has open, 0 where that is not told.
func openFiles(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return len(all)
}
