package settings

import (
	"iter"
	"slices"
	"strings"
	"testing"
)

func values(names ...string) iter.Seq[string] { return slices.Values(names) }

func TestNearest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, want string }{
		{"JOBDRI", "JOBDIR"}, // swapped
		{"jobdir", "JOBDIR"},
		{"JOB_DIR", "JOBDIR"},
		{"LOGLEVEL", "LOG_LEVEL"},
		{"LOG_LVEEL", "LOG_LEVEL"},
		{"SCHEDULER", "SCHEDULER"},
		{"MY_OWN_SETTING", ""},
		{"", ""},
		{"X", ""},
		{strings.Repeat("J", maxNear+1), ""},
	} {
		if got := Nearest(c.name, values("LOG_LEVEL", "JOBDIR", "SCHEDULER")); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNearestIsStable(t *testing.T) {
	t.Parallel()
	for _, have := range [][]string{{"quotes1", "quotes2"}, {"quotes2", "quotes1"}} {
		if got := Nearest("quotes", slices.Values(have)); got != "quotes1" {
			t.Errorf("Nearest among %v = %q, want quotes1", have, got)
		}
	}
}

func BenchmarkNearest(b *testing.B) {
	var names []string
	for d := range NewRegistry().Defs() {
		names = append(names, d.Name)
	}
	for b.Loop() {
		Nearest("CONCURRENT_REQUEST_PER_DOMAIM", slices.Values(names))
	}
}
