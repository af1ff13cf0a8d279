package extensions

import (
	"errors"
	"testing"
)

func TestParseStatus(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, status string
		want         memory
	}{
		{"Linux", "Name:\tcrawl\nVmPeak:\t 9000 kB\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\nThreads:\t4\n", memory{1 << 20, 2 << 20}},
		{"without a peak", "VmRSS:\t1024 kB", memory{1 << 20, 1 << 20}},
		{"nothing", "Name:\tcrawl\n", memory{}},
		{"empty", "", memory{}},
		{"no number", "VmRSS:\t? kB\n", memory{}},
		{"negative", "VmRSS:\t-1 kB\n", memory{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := parseStatus([]byte(tc.status))
			if got != tc.want || (tc.want == memory{}) != errors.Is(err, errNoMemory) {
				t.Errorf("got %+v, %v, want %+v", got, err, tc.want)
			}
		})
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add([]byte("VmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n"))
	f.Add([]byte("VmRSS: kB\nVmRSS:1"))
	f.Fuzz(func(t *testing.T, status []byte) {
		m, err := parseStatus(status)
		if err == nil && (m.current <= 0 || m.peak < m.current) {
			t.Errorf("%q: %+v", status, m)
		}
	})
}
