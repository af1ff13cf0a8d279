package cmd

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// maxPercent is the GC percentage of a small heap. A crawler allocates much
	// and keeps little: most of the collector's work is avoided for a few MiB.
	maxPercent = 400

	// headroom is what a heap may grow above what lives in it without being
	// proportional, in bytes.
	headroom = 64 << 20
)

// gcPercent returns the GC percentage for a live heap in bytes: at most
// [maxPercent], and a headroom of at most the larger of [headroom] and the live
// heap itself, which is Go's own rule.
func gcPercent(live uint64) int {
	if live <= headroom*100/maxPercent {
		return maxPercent
	}
	return int(max(headroom, live) * 100 / live)
}

// tuneGC makes the garbage collector run less often while the heap is small,
// and keeps the process within the memory limit of its container. A user who
// set GOGC or GOMEMLIMIT knows better. The returned function puts everything
// back.
func tuneGC(sys *system) (restore func()) {
	if getenv(sys.Environ, "GOGC") != "" || getenv(sys.Environ, "GOMEMLIMIT") != "" {
		return func() {}
	}
	limit := debug.SetMemoryLimit(-1)
	if n, ok := containerMemory(sys.Root); ok {
		debug.SetMemoryLimit(n / 10 * 9)
	}
	t := newTuner()
	return func() {
		t.stop()
		debug.SetMemoryLimit(limit)
	}
}

// A tuner sets the GC percentage anew after each cycle of the collector.
type tuner struct {
	mu      sync.Mutex
	before  int // the percentage to put back
	percent int
	stopped bool
}

// A sentinel is garbage as soon as it is made: its cleanup runs after the next
// cycle. The pointer keeps it out of the allocator for tiny objects, whose
// neighbours could keep it alive.
type sentinel struct{ _ *sentinel }

func newTuner() *tuner {
	t := &tuner{percent: maxPercent}
	t.before = debug.SetGCPercent(maxPercent)
	t.tune()
	return t
}

func (t *tuner) tune() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return
	}
	// A change stops the world, so small ones are not worth it.
	if p := gcPercent(liveHeap()); math.Abs(float64(p-t.percent)) > float64(t.percent)/10 {
		t.percent = p
		debug.SetGCPercent(p)
	}
	runtime.AddCleanup(&sentinel{}, (*tuner).tune, t)
}

// stop puts the percentage back. No cycle changes it any more.
func (t *tuner) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.stopped {
		t.stopped = true
		debug.SetGCPercent(t.before)
	}
}

// liveHeap returns what the last cycle found alive, in bytes.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
