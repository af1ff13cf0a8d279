package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/extensions"
	"github.com/skeincrawl/skein/feeds"
	"github.com/skeincrawl/skein/scheduler"
	spmw "github.com/skeincrawl/skein/spiders/middleware"
)

// The components named "probe" ask the spider of the test what to do.
func init() {
	downloader.Middlewares.Register("probe", func(env *crawl.Env) (downloader.Middleware, error) {
		if h, ok := env.Spider.(hooks); ok && h.hooks().fetch != nil {
			f := h.hooks().fetch
			return func(next crawl.Fetcher) crawl.Fetcher {
				return crawl.FetcherFunc(func(ctx context.Context, r *crawl.Request) (*crawl.Response, error) { return f(ctx, r, next) })
			}, nil
		}
		return nil, nil
	})
	spmw.Registry.Register("probe", func(env *crawl.Env) (crawl.SpiderMiddleware, error) {
		if h, ok := env.Spider.(hooks); ok {
			return h.hooks().wrap, nil
		}
		return nil, nil
	})
	extensions.Registry.Register("probe", func(env *crawl.Env) (extensions.Extension, error) {
		if h, ok := env.Spider.(hooks); ok {
			if f := h.hooks().connect; f != nil {
				f(env)
			}
			if f := h.hooks().beside; f != nil {
				return beside(f), nil
			}
		}
		return nil, nil
	})
}

func init() {
	scheduler.Register("probe", func(env *crawl.Env) (scheduler.Scheduler, error) {
		return env.Spider.(hooks).hooks().schedule(env)
	})
	scheduler.Fingerprinters.Register("probe", func(env *crawl.Env) (scheduler.Fingerprinter, error) {
		return env.Spider.(hooks).hooks().fingerprint, nil
	})
	crawl.StatsCollectors.Register("probe", func(env *crawl.Env) (crawl.StatsCollector, error) {
		return collector(env.Spider.(hooks).hooks().collect), nil
	})
}

type collector func(reason string, figures map[string]any) error

func (c collector) Collect(_ context.Context, reason string, figures map[string]any) error {
	return c(reason, figures)
}

type beside func(ctx context.Context) error

func (f beside) Run(ctx context.Context) error { return f(ctx) }

type hooks interface{ hooks() *probe }

// probe is a spider made of functions, each of which may be missing. What it
// notes and logs is kept.
type probe struct {
	script
	begin   func(ctx context.Context, out crawl.Out) error
	page    func(ctx context.Context, r *crawl.Response, out crawl.Out) error
	open    func(env *crawl.Env) error
	end     func(reason string) error
	fetch   func(ctx context.Context, r *crawl.Request, next crawl.Fetcher) (*crawl.Response, error)
	wrap    crawl.SpiderMiddleware
	connect func(env *crawl.Env)
	beside  func(ctx context.Context) error

	env *crawl.Env // of the crawl, after meet
	net *pipes     // of serveHosts

	schedule    func(env *crawl.Env) (scheduler.Scheduler, error) // of the scheduler "probe"
	fingerprint scheduler.Fingerprinter                           // of the fingerprinter "probe"
	collect     func(reason string, figures map[string]any) error // of the stats collector "probe"

	stepping func()                  // before a step of the frontier "watched"
	granted  func(g scheduler.Grant) // after it

	lines lockedBuffer
	gap   atomic.Int64 // longest time between steps of the frontier "watched"
}

func (p *probe) hooks() *probe { return p }

// meet is a connect that keeps what the components are given.
func (p *probe) meet(env *crawl.Env) { p.env = env }

func (p *probe) Start(ctx context.Context, out crawl.Out) error {
	if p.begin == nil {
		return nil
	}
	return p.begin(ctx, out)
}

func (p *probe) Parse(ctx context.Context, r *crawl.Response, out crawl.Out) error {
	if p.page == nil {
		return nil
	}
	return p.page(ctx, r, out)
}

func (p *probe) Open(_ context.Context, env *crawl.Env) error {
	if p.open == nil {
		return nil
	}
	return p.open(env)
}

func (p *probe) Close(_ context.Context, reason string) error {
	if p.end == nil {
		return nil
	}
	return p.end(reason)
}

// starts lets Start emit these URLs.
func (p *probe) starts(urls ...string) *probe {
	p.begin = func(_ context.Context, out crawl.Out) error {
		for _, u := range urls {
			out.Request(&crawl.Request{URL: u})
		}
		return nil
	}
	return p
}

// logged returns how many log lines contain a text.
func (p *probe) logged(text string) int {
	n := 0
	for line := range strings.Lines(p.lines.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// probeOptions returns what runs a spider with the hooks of p.
func probeOptions(t *testing.T, p *probe, sp crawl.Spider, assign ...string) engine.Options {
	t.Helper()
	assign = append([]string{`DOWNLOADER_MIDDLEWARES={"probe":999}`, `SPIDER_MIDDLEWARES={"probe":800}`, `EXTENSIONS={"probe":800}`}, assign...)
	o := options(t, crawl.Spec{Name: "probe", New: func() crawl.Spider { return sp }}, assign...)
	o.Log = zerolog.New(&p.lines).Level(zerolog.DebugLevel)
	return o
}

// ending is how a crawl ended.
type ending struct {
	engine.Result
	err   error
	stats map[string]any
}

func finish(ctx context.Context, t *testing.T, o engine.Options) ending {
	t.Helper()
	e := mustNew(t, o)
	res, err := e.Run(ctx)
	return ending{res, err, e.Stats()}
}

// crawl runs the probe without error.
func (p *probe) crawl(t *testing.T, assign ...string) ending {
	t.Helper()
	end := finish(t.Context(), t, probeOptions(t, p, p, assign...))
	if end.err != nil {
		t.Fatal(end.err)
	}
	return end
}

// want compares the reason and some stats; a missing counter is 0.
func (e ending) want(t *testing.T, reason string, counts map[string]int64) {
	t.Helper()
	if e.Reason != reason {
		t.Errorf("reason %q, want %q", e.Reason, reason)
	}
	for key, want := range counts {
		if got, _ := e.stats[key].(int64); got != want {
			t.Errorf("%s = %d, want %d", key, got, want)
		}
	}
}

// wantLogged compares how many lines contain each text.
func (p *probe) wantLogged(t *testing.T, counts map[string]int) {
	t.Helper()
	for text, want := range counts {
		if got := p.logged(text); got != want {
			t.Errorf("%d lines with %q, want %d", got, text, want)
		}
	}
}

// serve starts a server for the length of the test.
func serve(t *testing.T, f http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	return srv
}

// drop ends a connection without an answer.
func drop(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// answer makes a page without a server.
func answer(r *crawl.Request, body string) *crawl.Response {
	return &crawl.Response{
		Request: r, URL: r.URL, Status: http.StatusOK, Body: []byte(body),
		Header: http.Header{"Content-Type": {"text/html"}},
	}
}

// always is a fetch that answers without a server.
func always(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
	return answer(r, "<h1>page</h1>"), nil
}

func record(url string) crawl.Record { return crawl.Record{{Name: "url", Value: url}} }

// inJob returns the settings of a job directory, and a feed beside it.
func inJob(t *testing.T) (setting string, feed []feeds.Target, file string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "out.jsonl")
	return "JOBDIR=" + filepath.Join(dir, "job"), []feeds.Target{target(t, file)}, file
}

// urls returns base/0 to base/n-1.
func urls(base string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s/%d", base, i)
	}
	return all
}
