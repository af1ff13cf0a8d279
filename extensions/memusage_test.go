package extensions

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

const mib = 1 << 20

// watch runs memusage over readings, one at the start and one a minute, and
// returns what it logged and how it asked to close.
func watch(t *testing.T, readings []memory, assign ...string) (stats map[string]any, log []string, reasons []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		env, buf := testEnv(t, assign...)
		var c closings
		env.CloseSpider = c.close
		warnings := 0
		crawl.On(env.Signals, func(context.Context, crawl.MemoryWarningReached) error { warnings++; return nil })
		ext, ok := build(t, "memusage", env).(*memUsage)
		if !ok {
			t.Skip("memory can not be read here")
		}
		n := -1 // the reading before the first look
		ext.read = func() (memory, error) {
			m := readings[max(n, 0)]
			n = min(n+1, len(readings)-1)
			return m, nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(len(readings)-1)*time.Minute+time.Second)
		defer cancel()
		if err := ext.Run(ctx); err != nil {
			t.Error(err)
		}
		stats, log, reasons = env.Stats.Snapshot(), messages(t, buf), c.reasons
		if reached := stats["memusage/warning_reached"] != nil; warnings > 1 || reached != (warnings == 1) {
			t.Errorf("%d signals of the warning, warning_reached %v", warnings, stats["memusage/warning_reached"])
		}
	})
	return stats, log, reasons
}

func TestMemUsage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		readings []memory
		settings []string
		stats    map[string]any
		log      []string
		reasons  []string
	}{
		{
			name:     "without limits",
			readings: []memory{{10 * mib, 11 * mib}, {12 * mib, 20 * mib}, {11 * mib, 20 * mib}},
			stats:    map[string]any{"memusage/startup": int64(10 * mib), "memusage/current": int64(11 * mib), "memusage/max": int64(20 * mib)},
		},
		{
			name:     "a peak before the crawl does not count",
			readings: []memory{{10 * mib, 500 * mib}, {12 * mib, 500 * mib}},
			settings: []string{"MEMUSAGE_LIMIT_MB=100"},
			stats:    map[string]any{"memusage/startup": int64(10 * mib), "memusage/current": int64(12 * mib), "memusage/max": int64(12 * mib)},
			log:      []string{"info memusage Peak memory usage is 10MiB", "info memusage Peak memory usage is 12MiB"},
		},
		{
			name:     "a peak between two looks exceeds the limit",
			readings: []memory{{10 * mib, 10 * mib}, {12 * mib, 101 * mib}},
			settings: []string{"MEMUSAGE_LIMIT_MB=100"},
			stats: map[string]any{
				"memusage/startup": int64(10 * mib), "memusage/current": int64(12 * mib), "memusage/max": int64(101 * mib),
				"memusage/limit_reached": 1,
			},
			log:     []string{"info memusage Peak memory usage is 10MiB", "error memusage Memory usage exceeded 100MiB. Shutting down the crawl..."},
			reasons: []string{"memusage_exceeded"},
		},
		{
			name:     "the limit itself is allowed",
			readings: []memory{{100 * mib, 100 * mib}},
			settings: []string{"MEMUSAGE_LIMIT_MB=100"},
			stats:    map[string]any{"memusage/startup": int64(100 * mib), "memusage/current": int64(100 * mib), "memusage/max": int64(100 * mib)},
			log:      []string{"info memusage Peak memory usage is 100MiB"},
		},
		{
			name:     "limits beyond all bounds",
			readings: []memory{{100 * mib, 100 * mib}},
			settings: []string{"MEMUSAGE_LIMIT_MB=8796093022208", "MEMUSAGE_WARNING_MB=9223372036854775807"},
			stats:    map[string]any{"memusage/startup": int64(100 * mib), "memusage/current": int64(100 * mib), "memusage/max": int64(100 * mib)},
			log:      []string{"info memusage Peak memory usage is 100MiB"},
		},
		{
			name:     "warned once",
			readings: []memory{{10 * mib, 10 * mib}, {51 * mib, 51 * mib}, {52 * mib, 52 * mib}},
			settings: []string{"MEMUSAGE_WARNING_MB=50"},
			stats: map[string]any{
				"memusage/startup": int64(10 * mib), "memusage/current": int64(52 * mib), "memusage/max": int64(52 * mib),
				"memusage/warning_reached": 1,
			},
			log: []string{"warn memusage Memory usage reached 50MiB"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			stats, log, reasons := watch(t, tc.readings, tc.settings...)
			if !maps.Equal(stats, tc.stats) {
				t.Errorf("stats:\n got %v\nwant %v", stats, tc.stats)
			}
			if !slices.Equal(log, tc.log) || !slices.Equal(reasons, tc.reasons) {
				t.Errorf("got log %q and reasons %q, want %q and %q", log, reasons, tc.log, tc.reasons)
			}
		})
	}
}

func TestMemUsageOff(t *testing.T) {
	t.Parallel()
	env, _ := testEnv(t, "MEMUSAGE_ENABLED=False", "MEMUSAGE_LIMIT_MB=1")
	if ext := build(t, "memusage", env); ext != nil {
		t.Errorf("got %v, want nothing to run", ext)
	}
}

func TestMemUsageReportsAnError(t *testing.T) {
	t.Parallel()
	env, _ := testEnv(t)
	broken := errors.New("no status")
	m := &memUsage{memConfig: memConfig{Interval: time.Minute}, stats: env.Stats, read: func() (memory, error) { return memory{}, broken }}
	if err := m.Run(t.Context()); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

// What the system tells grows with what is used.
func TestReadMemory(t *testing.T) {
	before, err := readMemory()
	if err != nil {
		t.Skip(err)
	}
	block := make([]byte, 64*mib)
	for i := range block {
		block[i] = 1
	}
	after, err := readMemory()
	runtime.KeepAlive(block)
	if err != nil || after.current-before.current < 32*mib || after.peak < after.current {
		t.Errorf("%+v, with 64 MiB more %+v, %v", before, after, err)
	}
}
