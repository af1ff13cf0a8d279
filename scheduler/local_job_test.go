package scheduler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
	"github.com/skeincrawl/skein/scheduler/schedulertest"
	"github.com/skeincrawl/skein/settings"
)

// newEnv returns the environment of a crawl with settings.
func newEnv(t testing.TB, assignments ...string) *crawl.Env {
	t.Helper()
	b := settings.New()
	for _, a := range assignments {
		b.Assign(a)
	}
	s, _, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	sp := &schedulertest.Spider{}
	return &crawl.Env{
		Spec: crawl.Spec{Name: "test"}, Spider: sp, Settings: s, Log: zerolog.Nop(),
		Stats: crawl.NewStats(), Signals: &crawl.Signals{}, Callbacks: crawl.NewCallbacks(sp),
	}
}

// openOn opens a frontier by its registered name on a job of a file system.
func openOn(t testing.TB, fs jobs.FS, opt jobs.Options, assignments ...string) scheduler.Frontier {
	t.Helper()
	env := newEnv(t, assignments...)
	env.JobDir = "/x"
	job, err := jobs.Open(fs, "/x", jobs.Identity{}, opt)
	if err != nil {
		t.Fatal(err)
	}
	construct, err := scheduler.Frontiers.Lookup("default")
	if err != nil {
		t.Fatal(err)
	}
	open, err := construct(env)
	if err != nil {
		t.Fatal(err)
	}
	f, _, err := open(t.Context(), scheduler.Deps{Env: env, Slots: schedulertest.NewSlots(8, 0), Job: job})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close(context.Background(), "cleanup") })
	return f
}

func startOutcome(n uint64, slot string, r *crawl.Request) scheduler.Outcome {
	body := fmt.Appendf(nil, `{"url":%q}`, r.URL)
	return scheduler.Outcome{Key: scheduler.Key{Ordinal: n}, Kind: scheduler.StartEntry, Push: []scheduler.Entry{{
		Request: r, Slot: slot, Body: body, Fingerprint: scheduler.FingerprintOf("GET", r.URL, nil),
	}}}
}

// TestActiveFile covers PQ-25 to PQ-27 and DQ-08: at a clean end active.json has
// the priorities that are still queued, of start requests with an s, and none
// for what was drained; an open job has none.
func TestActiveFile(t *testing.T) {
	t.Parallel()
	fs := faultfs.New()
	f := openOn(t, fs, jobs.Options{})
	var outcomes []scheduler.Outcome
	for i, r := range []*crawl.Request{
		{URL: "1", Priority: -3}, {URL: "2", Priority: -1}, {URL: "3", Priority: -2}, {URL: "4", Trail: crawl.Trail{Start: true}},
	} {
		outcomes = append(outcomes, startOutcome(uint64(i+1), "s", r))
	}
	outcomes = append(outcomes, startOutcome(9, "drained", &crawl.Request{URL: "5"}))
	g, err := f.Step(t.Context(), nil, outcomes, 5)
	if err != nil || len(g.Leases) != 5 {
		t.Fatalf("%d leases, error %v", len(g.Leases), err)
	}
	var done []scheduler.Outcome
	for _, l := range g.Leases {
		if strings.Contains(string(l.Body), `"2"`) || l.Slot == "drained" {
			done = append(done, scheduler.Outcome{Key: scheduler.Key{Lease: l.ID}})
		}
	}
	if _, err := f.Step(t.Context(), nil, done, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(t.Context(), "shutdown"); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("/x", "requests.queue", "active.json")
	b, err := fs.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string][]string
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if want := map[string][]string{"s": {"0s", "-2", "-3"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("active.json has %v, want %v", got, want)
	}
	openOn(t, fs, jobs.Options{})
	if b, err := fs.ReadFile(name); err == nil {
		t.Errorf("an open job has an active.json: %s", b)
	}
}

// TestFailedWrite checks that a failed write is returned by a Step, that the
// job is released by Close all the same, and that it can be resumed.
func TestFailedWrite(t *testing.T) {
	t.Parallel()
	broken := errors.New("i/o error")
	fs := faultfs.New()
	f := openOn(t, fs, jobs.Options{})
	if _, err := f.Step(t.Context(), nil, []scheduler.Outcome{startOutcome(1, "s", &crawl.Request{URL: "1"})}, 1); err != nil {
		t.Fatal(err)
	}
	fs.FailAt(faultfs.Write, 1, broken)
	_, err := f.Step(t.Context(), nil, []scheduler.Outcome{startOutcome(2, "s", &crawl.Request{URL: "2"})}, 0)
	if !errors.Is(err, broken) {
		t.Errorf("Step on a broken disk: error %v, want the disk's", err)
	}
	if _, err := f.Step(t.Context(), nil, nil, 1); !errors.Is(err, broken) {
		t.Errorf("the Step after: error %v, want the disk's", err)
	}
	if err := f.Close(t.Context(), "finished"); !errors.Is(err, broken) {
		t.Errorf("Close on a broken disk: error %v, want the disk's", err)
	}
	again := openOn(t, fs, jobs.Options{})
	g, err := again.Step(t.Context(), nil, nil, 9)
	if err != nil || len(g.Leases) != 1 || string(g.Leases[0].Body) != `{"url":"1"}` {
		t.Errorf("resumed: %+v, error %v, want the first request", g, err)
	}
}

// TestFullDisk checks that on a full disk steps without new requests are still
// committed, others are given back, and the crawl is asked to stop; then nothing
// is lost.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	fs := faultfs.New()
	f := openOn(t, fs, jobs.Options{Reserve: 8 << 10})
	var outcomes []scheduler.Outcome
	for i := range 3 {
		outcomes = append(outcomes, startOutcome(uint64(i+1), "s", &crawl.Request{URL: strconv.Itoa(i + 1), Trail: crawl.Trail{Start: true}}))
	}
	g, err := f.Step(t.Context(), nil, outcomes, 3)
	if err != nil || len(g.Leases) != 3 {
		t.Fatalf("%d leases, error %v", len(g.Leases), err)
	}
	leases := slices.Clone(g.Leases)
	fs.LimitBytes(10)
	if _, err := f.Step(t.Context(), nil, []scheduler.Outcome{startOutcome(4, "s", &crawl.Request{URL: "4"})}, 0); err != nil {
		t.Fatalf("the step that finds the disk full: %v", err)
	}
	child := startOutcome(1, "s", &crawl.Request{URL: "child"}).Push
	g, err = f.Step(t.Context(), nil, []scheduler.Outcome{
		{Key: scheduler.Key{Lease: leases[0].ID}},
		{Key: scheduler.Key{Lease: leases[1].ID}, Push: child},
		{Key: scheduler.Key{Lease: leases[2].ID, Ordinal: 1}, Kind: scheduler.Part, Push: child},
		{Key: scheduler.Key{Lease: leases[2].ID}},
		startOutcome(5, "s", &crawl.Request{URL: "5"}),
		{Kind: scheduler.StartEnded},
	}, 0)
	if err != nil || g.State != scheduler.Stopping || g.Reason != scheduler.DiskFull {
		t.Errorf("state %d for %q, error %v; want Stopping for disk_full", g.State, g.Reason, err)
	}
	if err := f.Close(t.Context(), g.Reason); err != nil {
		t.Errorf("Close on a full disk: %v", err)
	}
	fs.LimitBytes(-1)
	again := openOn(t, fs, jobs.Options{})
	g, err = again.Step(t.Context(), nil, []scheduler.Outcome{startOutcome(1, "s", &crawl.Request{URL: "5"})}, 9)
	var got []string
	for _, l := range g.Leases {
		got = append(got, string(l.Body))
	}
	slices.Sort(got)
	if want := []string{`{"url":"2"}`, `{"url":"3"}`, `{"url":"4"}`, `{"url":"5"}`}; err != nil || !slices.Equal(got, want) {
		t.Errorf("resumed with %v, error %v, want %v", got, err, want)
	}
}

// TestBadConfig checks that a frontier which can not be made closes its job.
func TestBadConfig(t *testing.T) {
	t.Parallel()
	good := settings.Decode[scheduler.Config](newEnv(t).Settings)
	for name, change := range map[string]func(c *scheduler.Config){
		"SCHEDULER_PRIORITY_QUEUE": func(c *scheduler.Config) { c.PriorityQueue = "round-robin" },
		"scheduler queue":          func(c *scheduler.Config) { c.Memory = "filo" },
		"start queue":              func(c *scheduler.Config) { c.StartDisk = "filo" },
	} {
		fs := faultfs.New()
		env := newEnv(t)
		env.JobDir = "/x"
		cfg := good
		change(&cfg)
		job, err := jobs.Open(fs, "/x", jobs.Identity{}, jobs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = scheduler.NewLocal(scheduler.Deps{Env: env, Slots: schedulertest.NewSlots(1, 0), Job: job}, cfg)
		if err == nil || !strings.Contains(err.Error(), "did you mean") && !strings.Contains(err.Error(), "this binary has") {
			t.Errorf("%s: error %v, want the choices", name, err)
		}
		openOn(t, fs, jobs.Options{})
	}
}

// TestAttemptsAreWritten checks that the attempt of a request that may have
// killed the process before is in the file before its callback may run, however
// rarely the buffer is written.
func TestAttemptsAreWritten(t *testing.T) {
	t.Parallel()
	fs := faultfs.New()
	rarely := jobs.Options{FlushInterval: 1 << 60, SyncInterval: 1 << 60}
	f := openOn(t, fs, rarely)
	if _, err := f.Step(t.Context(), nil, []scheduler.Outcome{startOutcome(1, "s", &crawl.Request{URL: "1"})}, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(t.Context(), "shutdown"); err != nil {
		t.Fatal(err)
	}
	for i := range 6 { // the sixth is refused
		f := openOn(t, fs, rarely)
		g, err := f.Step(t.Context(), nil, nil, 1)
		if err != nil || len(g.Leases) != min(5-i, 1) {
			t.Fatalf("run %d: %d leases, error %v", i+1, len(g.Leases), err)
		}
		for _, l := range g.Leases {
			if !l.Careful {
				t.Errorf("run %d: the lease is not careful", i+1)
			}
			if _, err := f.Step(t.Context(), []scheduler.Progress{{Lease: l.ID, Settled: true, Entered: true}}, nil, 0); err != nil {
				t.Fatal(err)
			}
		}
		killed := fs.Kill()
		if err := f.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		fs = killed
	}
}
