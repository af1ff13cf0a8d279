package crawl_test

import (
	"slices"
	"testing"

	"github.com/skeincrawl/skein/internal/conformance"
)

// cases reads a file of vectors.
func cases[T any](t *testing.T, name string) []T {
	t.Helper()
	var all []T
	for _, c := range conformance.Cases[T](t, name) {
		all = append(all, c.V)
	}
	return all
}

// A tally counts the rows of a family that pass.
type tally struct {
	passed, total int
	failed        []string
}

func (c *tally) row(t *testing.T, id string, got, want any, ok bool) {
	t.Helper()
	c.total++
	if ok {
		c.passed++
		return
	}
	c.failed = append(c.failed, id)
	t.Logf("%s: got %.200q, want %.200q", id, got, want)
}

// floor fails the test when a row fails that is not among the known ones, whose
// reasons stand beside them.
func (c *tally) floor(t *testing.T, family string, known map[string]string) {
	t.Helper()
	t.Logf("%s %d %d", family, c.passed, c.total)
	for _, id := range c.failed {
		if known[id] == "" {
			t.Errorf("%s failed", id)
		}
	}
	for id := range known {
		if !slices.Contains(c.failed, id) && c.total > 0 {
			t.Logf("%s: known to fail, but passes or is not there", id)
		}
	}
}
