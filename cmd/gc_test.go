package cmd

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"testing/fstest"
	"time"
)

func TestGCPercent(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, tc := range []struct {
		live uint64
		want int
	}{
		{0, 400},
		{4 * mib, 400},
		{16 * mib, 400},
		{17 * mib, 376},
		{32 * mib, 200},
		{64 * mib, 100},
		{65 * mib, 100},
		{4096 * mib, 100},
	} {
		got := gcPercent(tc.live)
		if got != tc.want {
			t.Errorf("gcPercent(%d MiB) = %d, want %d", tc.live/mib, got, tc.want)
		}
		if room := tc.live * uint64(got) / 100; room > max(64*mib, tc.live) {
			t.Errorf("gcPercent(%d MiB) leaves %d MiB of headroom", tc.live/mib, room/mib)
		}
	}
}

// currentPercent asks the runtime.
func currentPercent() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// collectUntil runs cycles until the percentage is in the range.
func collectUntil(t *testing.T, least, most uint64) {
	t.Helper()
	late := time.Now().Add(time.Minute)
	for p := currentPercent(); p < least || p > most; p = currentPercent() {
		if time.Now().After(late) {
			t.Fatalf("GC percentage %d, want %d to %d", p, least, most)
		}
		runtime.GC()
	}
}

// TestTuneGC is not parallel: there is one collector.
func TestTuneGC(t *testing.T) {
	limit := debug.SetMemoryLimit(-1)
	before := currentPercent()
	root := fstest.MapFS{"sys/fs/cgroup/memory.max": {Data: []byte("4000000000\n")}}
	restore := tuneGC(&system{Root: root})
	if got := debug.SetMemoryLimit(-1); got != 3600000000 {
		t.Errorf("memory limit %d, want 90 %% of the container's", got)
	}
	collectUntil(t, 300, 400) // the heap of the tests is small

	live := make([]byte, 48<<20)
	collectUntil(t, 100, 150)
	runtime.KeepAlive(live) // until here
	collectUntil(t, 300, 400)

	restore()
	if got := debug.SetMemoryLimit(-1); got != limit {
		t.Errorf("memory limit %d after the crawl, want %d", got, limit)
	}
	for range 3 {
		runtime.GC()
		if got := currentPercent(); got != before {
			t.Fatalf("GC percentage %d after the crawl, want %d", got, before)
		}
	}
}

// TestTuneGCLeavesTheUserAlone is not parallel, for the same reason.
func TestTuneGCLeavesTheUserAlone(t *testing.T) {
	before := currentPercent()
	for _, environ := range [][]string{{"GOGC=50"}, {"GOMEMLIMIT=1GiB"}, {"GOGC=off"}} {
		restore := tuneGC(&system{Environ: environ, Root: fstest.MapFS{"sys/fs/cgroup/memory.max": {Data: []byte("4000000000\n")}}})
		if got, limit := currentPercent(), debug.SetMemoryLimit(-1); got != before || limit != math.MaxInt64 {
			t.Errorf("%v: GC percentage %d and memory limit %d, want %d and none", environ, got, limit, before)
		}
		restore()
	}
}

func TestContainerMemory(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files map[string]string
		want  int64 // 0 for none
	}{
		"no groups":      {nil, 0},
		"2, container":   {map[string]string{"sys/fs/cgroup/memory.max": "1000\n", "proc/self/cgroup": "0::/\n"}, 1000},
		"2, no limit":    {map[string]string{"sys/fs/cgroup/memory.max": "max\n"}, 0},
		"2, slice above": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "2000\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, 2000},
		"2, the least":   {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "2000\n", "sys/fs/cgroup/a/b/memory.max": "1500\n"}, 1500},
		"1, container":   {map[string]string{"sys/fs/cgroup/memory/memory.limit_in_bytes": "1000\n"}, 1000},
		"1, no limit":    {map[string]string{"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		"1, group":       {map[string]string{"proc/self/cgroup": "5:cpu,memory:/docker/x\n3:pids:/y\n", "sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": "3000\n"}, 3000},
		"out of sight":   {map[string]string{"proc/self/cgroup": "0::/../../x\n", "sys/fs/cgroup/memory.max": "1000\n"}, 1000},
		"nonsense":       {map[string]string{"proc/self/cgroup": "x\n::\n:", "sys/fs/cgroup/memory.max": "-5\n"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := fstest.MapFS{}
			for f, text := range tc.files {
				root[f] = &fstest.MapFile{Data: []byte(text)}
			}
			got, ok := containerMemory(root)
			if got != tc.want || ok != (tc.want > 0) {
				t.Errorf("got %d, %v, want %d", got, ok, tc.want)
			}
		})
	}
}
