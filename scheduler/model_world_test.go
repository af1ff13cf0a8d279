package scheduler_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
	"github.com/skeincrawl/skein/scheduler/schedulertest"
	"github.com/skeincrawl/skein/settings"
)

var (
	modelSeeds = flag.Int("model.seeds", 300, "number of random crawls that are compared with the model")
	modelSeed  = flag.Uint64("model.seed", 0, "first seed; 0 for one of the day")
)

// TestModel plays random crawls beside the model. It must grant the same
// requests in the same order, and after each end be at one of the model's
// steps: the last one, or after a crash one that is no older than the last that
// was made durable.
func TestModel(t *testing.T) {
	t.Parallel()
	first := *modelSeed
	if first == 0 {
		first = rand.Uint64N(1 << 40)
	}
	t.Logf("seeds %d to %d; again with -model.seed", first, first+uint64(*modelSeeds)-1)
	for i := range uint64(*modelSeeds) {
		t.Run(strconv.FormatUint(first+i, 10), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { playModel(t, first+i) })
		})
	}
}

// world is a crawl beside its model.
type world struct {
	*testing.T
	rng   *rand.Rand
	fs    *faultfs.FS
	names []string

	f         *scheduler.Local
	job       *jobs.Job
	env       *crawl.Env
	callbacks *crawl.Callbacks
	m         *model

	steps    []snapshot          // of this run; the first is how it began
	flushed  int                 // index of the snapshot that survives a kill
	count    int                 // of commits, kept as the spider's state
	ordinal  uint64              // of the last start entry
	enqueued uint64              // of the last request from outside
	outcome  []scheduler.Outcome // of this run, to be repeated
	lives    int
	tags     int
}

// snapshot is the model after a commit.
type snapshot struct {
	count int
	m     *model
}

func playModel(t *testing.T, seed uint64) {
	w := &world{T: t, rng: rand.New(rand.NewPCG(seed, 1)), fs: faultfs.New(), m: newModel()}
	for i := range 5 + w.rng.IntN(60) {
		w.names = append(w.names, "n"+strconv.Itoa(i))
	}
	durable := w.rng.IntN(6) > 0
	seenOff := w.rng.IntN(8) == 0
	for range 1 + w.rng.IntN(8) {
		w.open(durable, seenOff)
		for range 5 + w.rng.IntN(60) {
			w.play()
		}
		w.end()
		if !durable {
			return
		}
	}
	w.open(durable, seenOff)
	w.drain()
	w.close("shutdown")
}

func (w *world) config(durable, seenOff bool) modelConfig {
	return modelConfig{
		plain: w.rng.IntN(2) == 0, fifo: w.rng.IntN(2) == 0, start: []string{"fifo", "lifo", "None"}[w.rng.IntN(3)],
		limit: 1 + w.rng.IntN(3), seenOff: seenOff, durable: durable, syncedSteps: w.rng.IntN(3) == 0,
	}
}

func (c modelConfig) assignments() []string {
	kind, queue, filter := "lifo", "downloader-aware", "fingerprint"
	if c.fifo {
		kind = "fifo"
	}
	if c.plain {
		queue = "priority"
	}
	if c.seenOff {
		filter = "none"
	}
	return []string{
		"SCHEDULER_PRIORITY_QUEUE=" + queue, "DUPEFILTER_CLASS=" + filter, "SCHEDULER_DISK_QUEUE=" + kind,
		"SCHEDULER_MEMORY_QUEUE=" + kind, "SCHEDULER_START_DISK_QUEUE=" + c.start, "SCHEDULER_START_MEMORY_QUEUE=" + c.start,
	}
}

// open begins a run and compares what it finds.
func (w *world) open(durable, seenOff bool) {
	w.Helper()
	cfg := w.config(durable, seenOff)
	sp := &schedulertest.Spider{}
	w.callbacks = crawl.NewCallbacks(sp)
	b := settings.New()
	for _, a := range cfg.assignments() {
		b.Assign(a)
	}
	s, _, err := b.Build()
	if err != nil {
		w.Fatal(err)
	}
	w.env = &crawl.Env{
		Spider: sp, Settings: s, Log: zerolog.Nop(), Stats: crawl.NewStats(), Signals: &crawl.Signals{}, Callbacks: w.callbacks,
	}
	w.job = w.openJob(cfg)
	var resume scheduler.Resume
	w.f, resume, err = scheduler.NewLocal(scheduler.Deps{
		Env: w.env, Slots: schedulertest.NewSlots(cfg.limit, 0), Job: w.job,
	}, settings.Decode[scheduler.Config](s))
	if err != nil {
		w.Fatalf("life %d: %v", w.lives, err)
	}
	f := w.f
	w.Cleanup(func() { _ = f.Close(context.Background(), "cleanup") })
	w.lives++
	w.compare(resume)
	w.m.cfg = cfg
	w.ordinal, w.enqueued, w.outcome = 0, 0, nil
	w.steps, w.flushed = nil, 0
	w.snap()
}

func (w *world) openJob(cfg modelConfig) *jobs.Job {
	w.Helper()
	if !cfg.durable {
		return jobs.Volatile(nil)
	}
	w.env.JobDir = "/job"
	opt := jobs.Options{SegmentSize: 1 << 10, FlushInterval: 1 << 60, SyncInterval: 1 << 60}
	if cfg.syncedSteps {
		opt.SyncInterval = 0
	}
	job, err := jobs.Open(w.fs, "/job", jobs.Identity{Spider: "test"}, opt)
	if err != nil {
		w.Fatalf("life %d: %v", w.lives, err)
	}
	return job
}

// compare finds the model's step at which the job was resumed.
func (w *world) compare(resume scheduler.Resume) {
	w.Helper()
	if w.lives == 1 || w.env.JobDir == "" {
		return
	}
	count := 0
	if resume.State != nil {
		var err error
		if count, err = strconv.Atoi(string(resume.State)); err != nil {
			w.Fatal(err)
		}
	}
	why := "no such step"
	for _, s := range w.steps {
		if s.count != count {
			continue
		}
		r := resume
		if why = s.m.same(r, w.names, func(n string) bool { return w.f.Has(fingerprint(n)) }, hashOf); why == "" {
			w.m, w.count = s.m, count
			return
		}
	}
	w.Fatalf("life %d: resumed at step %d, of %d to %d: %s: %+v", w.lives, count, w.steps[0].count, w.steps[len(w.steps)-1].count, why, resume)
}

func fingerprint(name string) scheduler.Fingerprint {
	return scheduler.FingerprintOf("GET", "http://x/"+name, nil)
}

func hashOf(name string) uint64 { return scheduler.HashOf(fingerprint(name)) }

// snap remembers the model as a crash would leave it.
func (w *world) snap() {
	if w.m.cfg.durable {
		w.steps = append(w.steps, snapshot{w.count, w.m.recovered()})
	}
}

// end closes the run, or crashes it.
func (w *world) end() {
	w.Helper()
	if !w.m.cfg.durable {
		w.drain()
		w.close("shutdown")
		return
	}
	switch w.rng.IntN(4) {
	case 0:
		w.crash(func() *faultfs.FS { return w.fs.Crash(w.rng) }, 0)
	case 1:
		w.crash(w.fs.Kill, w.flushed)
	case 2:
		w.drain()
		fallthrough
	default:
		w.close([]string{"finished", "shutdown"}[w.rng.IntN(2)])
	}
}

// crash goes on with what a file system has left, at a step from survives on.
func (w *world) crash(left func() *faultfs.FS, survives int) {
	w.Helper()
	for _, l := range w.m.leases {
		if l.settled && l.r.disk {
			w.died(l.r.seq)
		}
	}
	old := w.f
	fs := left()
	_ = old.Close(context.Background(), "the dead can not close")
	w.fs = fs
	if w.m.cfg.syncedSteps {
		survives = len(w.steps) - 1
	}
	w.steps = w.steps[survives:]
}

// died counts a crash for a request in all that may come back.
func (w *world) died(seq int) {
	for _, s := range w.steps {
		for i := range s.m.pending {
			if s.m.pending[i].seq == seq {
				s.m.pending[i].deaths++
			}
		}
	}
}

func (w *world) close(reason string) {
	w.Helper()
	finished := reason == "finished" && w.m.ended && len(w.m.pending)+len(w.m.leases) == 0
	if err := w.f.Close(context.Background(), reason); err != nil {
		w.Fatalf("life %d: %v", w.lives, err)
	}
	if !w.m.cfg.durable {
		return
	}
	w.steps = w.steps[len(w.steps)-1:]
	if finished {
		last := w.steps[0].m
		last.ended = false
		clear(last.accepted)
	}
}

// drain finishes all requests, in the order of the model.
func (w *world) drain() {
	w.Helper()
	for len(w.m.leases) > 0 {
		w.commit(w.done(w.m.leases[0], nil))
	}
	for len(w.m.pending) > 0 {
		if d := time.Until(w.m.latest()); d > 0 && w.rng.IntN(3) == 0 {
			<-time.After(d)
		}
		w.step(nil, nil, 3)
		for len(w.m.leases) > 0 {
			w.commit(w.done(w.m.leases[0], nil))
		}
		if len(w.m.pending) > 0 {
			<-time.After(time.Second)
		}
	}
	if g := w.step(nil, nil, 1); g.State != scheduler.Empty {
		w.Fatalf("life %d: state %d at the end, want Empty", w.lives, g.State)
	}
}
