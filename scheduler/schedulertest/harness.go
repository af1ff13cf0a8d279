package schedulertest

import (
	"bytes"
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/scheduler"
	"github.com/skeincrawl/skein/settings"
)

// harness drives one crawl as an engine would, and checks at each step what
// always holds: no more leases than wanted, no slot over its limit.
type harness struct {
	testing.TB
	store    Store
	settings []string
	spider   crawl.Spider
	limit    int
	delay    time.Duration

	f         scheduler.Frontier
	resume    scheduler.Resume
	callbacks *crawl.Callbacks
	stats     *crawl.Stats
	log       *logBuffer
	ordinal   uint64
	active    map[string]int    // not settled, by slot
	leased    map[uint64]leased // by lease
}

type leased struct {
	slot    string
	settled bool
}

// logBuffer collects log lines from several goroutines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) lines(part string) (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.b.String()) {
		if strings.Contains(line, part) {
			lines = append(lines, line)
		}
	}
	return lines
}

// start begins a crawl in a new store. By default the slots have no delay and
// room for all.
func start(t testing.TB, open crawlOpener, opts ...func(*harness)) *harness {
	t.Helper()
	h := &harness{TB: t, store: open.Opener(t), settings: open.settings, spider: &Spider{}, limit: 1000}
	for _, o := range opts {
		o(h)
	}
	h.open()
	return h
}

// with sets settings of the form NAME=value.
func with(assignments ...string) func(*harness) {
	return func(h *harness) { h.settings = slices.Concat(h.settings, assignments) }
}

func limited(n int) func(*harness) { return func(h *harness) { h.limit = n } }

func delayed(d time.Duration) func(*harness) { return func(h *harness) { h.delay = d } }

// tryOpen begins a run.
func (h *harness) tryOpen() error {
	h.Helper()
	b := settings.New()
	for _, a := range h.settings {
		b.Assign(a)
	}
	s, _, err := b.Build()
	if err != nil {
		h.Fatalf("settings: %v", err)
	}
	h.log, h.stats, h.callbacks = &logBuffer{}, crawl.NewStats(), crawl.NewCallbacks(h.spider)
	env := &crawl.Env{
		Spec: crawl.Spec{Name: "test"}, Spider: h.spider, Settings: s, Log: zerolog.New(h.log),
		Stats: h.stats, Signals: &crawl.Signals{}, Callbacks: h.callbacks,
	}
	h.ordinal, h.active, h.leased = 0, map[string]int{}, map[uint64]leased{}
	h.f, h.resume, err = h.store.Open(h, Run{Env: env, Limit: h.limit, Delay: h.delay, SlotOf: slotOf})
	return err
}

// slotOf is the slot of a request that is not chosen by its entry.
func slotOf(_ context.Context, r *crawl.Request) string {
	if r.Options.Slot != "" {
		return r.Options.Slot
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

func (h *harness) open() {
	h.Helper()
	if err := h.tryOpen(); err != nil {
		h.Fatalf("open: %v", err)
	}
	f := h.f
	h.Cleanup(func() { _ = f.Close(context.Background(), "cleanup") })
}

func (h *harness) close(reason string) {
	h.Helper()
	if err := h.f.Close(h.Context(), reason); err != nil {
		h.Fatalf("Close(%q): %v", reason, err)
	}
}

// reopen closes the run in good order and begins the next.
func (h *harness) reopen() {
	h.Helper()
	h.close("shutdown")
	h.open()
}

// crash kills the run and begins the next. It skips the test if nothing
// outlives a run.
func (h *harness) crash() {
	h.Helper()
	h.durable()
	h.store.(Crasher).Crash(h)
	_ = h.f.Close(context.Background(), "the dead can not close")
	h.open()
}

// durable skips the test if nothing outlives a run.
func (h *harness) durable() {
	h.Helper()
	if _, ok := h.store.(Crasher); !ok {
		h.Skip("this store does not outlive a run")
	}
}

// step is one call of Step.
func (h *harness) step(progress []scheduler.Progress, done []scheduler.Outcome, want int) scheduler.Grant {
	h.Helper()
	g, err := h.f.Step(h.Context(), progress, done, want)
	if err != nil {
		h.Fatalf("Step: %v", err)
	}
	g.Leases, g.Refused = slices.Clone(g.Leases), slices.Clone(g.Refused) // they are ours only until the next Step
	for _, p := range progress {
		if p.Settled {
			h.free(p.Lease, false)
		}
	}
	for _, o := range done {
		if o.Kind == scheduler.Done || o.Kind == scheduler.Dead || o.Kind == scheduler.Release {
			h.free(o.Key.Lease, true)
		}
	}
	if len(g.Leases) > want {
		h.Fatalf("Step granted %d leases, want at most %d", len(g.Leases), want)
	}
	for _, l := range g.Leases {
		h.take(l)
	}
	return g
}

func (h *harness) take(l scheduler.Lease) {
	h.Helper()
	if _, twice := h.leased[uint64(l.ID)]; twice || l.ID == 0 {
		h.Fatalf("lease %d: 0, or granted twice", l.ID)
	}
	h.leased[uint64(l.ID)] = leased{slot: l.Slot}
	if h.active[l.Slot]++; h.active[l.Slot] > h.limit {
		h.Fatalf("slot %s has %d active requests, want at most %d", l.Slot, h.active[l.Slot], h.limit)
	}
}

func (h *harness) free(id scheduler.LeaseID, over bool) {
	l, ok := h.leased[uint64(id)]
	if ok && !l.settled {
		h.active[l.slot]--
		l.settled = true
		h.leased[uint64(id)] = l
	}
	if over {
		delete(h.leased, uint64(id))
	}
}

// entry is a request in the slot of its host, as a worker hands it over.
func (h *harness) entry(link string, change ...func(*crawl.Request)) scheduler.Entry {
	h.Helper()
	r := &crawl.Request{URL: link}
	for _, c := range change {
		c(r)
	}
	e := scheduler.Entry{Request: r, Slot: slotOf(h.Context(), r), Fingerprint: scheduler.FingerprintOf("GET", link, nil)}
	if e.Body, e.Why = h.callbacks.AppendRequest(nil, r); e.Why != nil {
		e.Body = nil
		return e
	}
	e.Callback, e.Errback, _ = h.callbacks.Names(r)
	return e
}

// page is an entry of slot "s" with a short name.
func (h *harness) page(name string, change ...func(*crawl.Request)) scheduler.Entry {
	h.Helper()
	return h.entry("http://s/"+name, change...)
}

func (h *harness) pages(names ...string) (entries []scheduler.Entry) {
	h.Helper()
	for _, n := range names {
		entries = append(entries, h.page(n))
	}
	return entries
}

func priority(p int) func(*crawl.Request) { return func(r *crawl.Request) { r.Priority = p } }
func at(t time.Time) func(*crawl.Request) { return func(r *crawl.Request) { r.NotBefore = t } }
func dontFilter(r *crawl.Request)         { r.DontFilter = true }
func isStart(r *crawl.Request)            { r.Trail.Start = true }
func closure(r *crawl.Request) {
	r.Callback = func(context.Context, *crawl.Response, crawl.Out) error { return nil }
}
func (h *harness) pageOf(r *crawl.Request)    { r.Callback = h.spider.(*Spider).Page }
func (h *harness) errbackOf(r *crawl.Request) { r.Errback = h.spider.(*Spider).Failed }
func done(l scheduler.LeaseID, push ...scheduler.Entry) scheduler.Outcome {
	return scheduler.Outcome{Key: scheduler.Key{Lease: l}, Kind: scheduler.Done, Push: push}
}

func release(l scheduler.LeaseID) scheduler.Outcome {
	return scheduler.Outcome{Key: scheduler.Key{Lease: l}, Kind: scheduler.Release}
}

func part(l scheduler.LeaseID, n uint64, push ...scheduler.Entry) scheduler.Outcome {
	return scheduler.Outcome{Key: scheduler.Key{Lease: l, Ordinal: n}, Kind: scheduler.Part, Push: push}
}

func settled(l scheduler.LeaseID) []scheduler.Progress {
	return []scheduler.Progress{{Lease: l, Settled: true, Hint: scheduler.SlotHint{Latency: time.Millisecond}}}
}

func sent(l scheduler.LeaseID, at time.Time) []scheduler.Progress {
	return []scheduler.Progress{{Lease: l, Sent: at}}
}

// emit commits entries as emissions of Start, one outcome each.
func (h *harness) emit(entries ...scheduler.Entry) scheduler.Grant {
	h.Helper()
	var outcomes []scheduler.Outcome
	for i := range entries {
		h.ordinal++
		outcomes = append(outcomes, scheduler.Outcome{
			Key: scheduler.Key{Ordinal: h.ordinal}, Kind: scheduler.StartEntry, Push: entries[i : i+1],
		})
	}
	return h.step(nil, outcomes, 0)
}

// lease asks for n leases and wants to get them.
func (h *harness) lease(n int) []scheduler.Lease {
	h.Helper()
	g := h.step(nil, nil, n)
	if len(g.Leases) != n {
		h.Fatalf("got %d leases, want %d: %s", len(g.Leases), n, h.names(g.Leases))
	}
	return g.Leases
}

// drain leases and finishes requests one by one until none is granted, and
// returns their names in order.
func (h *harness) drain() []string {
	h.Helper()
	var names []string
	for {
		g := h.step(nil, nil, 1)
		if len(g.Leases) == 0 {
			return names
		}
		names = append(names, h.name(g.Leases[0]))
		h.step(settled(g.Leases[0].ID), []scheduler.Outcome{done(g.Leases[0].ID)}, 0)
	}
}

// body returns the stored form of a leased request.
func (h *harness) body(l scheduler.Lease) string {
	h.Helper()
	if l.Request == nil {
		return string(l.Body)
	}
	b, err := h.callbacks.AppendRequest(nil, l.Request)
	if err != nil || l.Body != nil {
		h.Fatalf("lease %d has request %v and body %q: %v", l.ID, l.Request, l.Body, err)
	}
	return string(b)
}

// name returns the last part of the URL of a leased request.
func (h *harness) name(l scheduler.Lease) string {
	h.Helper()
	r := l.Request
	if r == nil {
		var err error
		if r, err = h.callbacks.DecodeRequest(l.Body); err != nil {
			h.Fatalf("lease %d: %v", l.ID, err)
		}
	}
	return r.URL[strings.LastIndex(r.URL, "/")+1:]
}

func (h *harness) names(leases []scheduler.Lease) []string {
	h.Helper()
	var names []string
	for _, l := range leases {
		names = append(names, h.name(l))
	}
	return names
}

// wantNames compares names in order.
func (h *harness) wantNames(what string, got []string, want ...string) {
	h.Helper()
	if !slices.Equal(got, want) {
		h.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// wantSet compares names in any order.
func (h *harness) wantSet(what string, got []string, want ...string) {
	h.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		h.Errorf("%s: got %v, want %v in any order", what, got, want)
	}
}

func (h *harness) wantState(g scheduler.Grant, state scheduler.State, backlog int64) {
	h.Helper()
	if g.State != state || g.Backlog != backlog {
		h.Errorf("state %d with backlog %d, want state %d with backlog %d", g.State, g.Backlog, state, backlog)
	}
}
