package crawl_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// conformance returns a file of the folder of test vectors.
func conformance(t *testing.T, name string) []byte {
	t.Helper()
	dir := os.Getenv("CONFORMANCE_DIR")
	if dir == "" {
		t.Skip("CONFORMANCE_DIR is not set")
	}
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// cases reads a file of one JSON object a line.
func cases[T any](t *testing.T, name string) []T {
	t.Helper()
	var all []T
	for line := range bytes.Lines(conformance(t, name)) {
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, v)
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
