// Package conformance reads published test vectors, for tests.
package conformance

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// dirVariable names the environment variable with the folder of the vectors.
const dirVariable = "CONFORMANCE_DIR"

// A Case is one vector. What it is called is beside what it says.
type Case[C any] struct {
	ID, Test, Domain string
	V                C `json:"-"`
}

// File returns a file of the folder of vectors, which has a path with slashes.
// Without the folder the test is skipped.
func File(t *testing.T, name string) []byte {
	t.Helper()
	dir := os.Getenv(dirVariable)
	if dir == "" {
		t.Skip(dirVariable + " is not set: it names the folder of public test vectors")
	}
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Cases reads a file of one JSON object a line. A file without any fails the test.
func Cases[C any](t *testing.T, name string) []Case[C] {
	t.Helper()
	var all []Case[C]
	for line := range bytes.Lines(File(t, name)) {
		var c Case[C]
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("%s: %v in %s", name, err, line)
		}
		if err := json.Unmarshal(line, &c.V); err != nil {
			t.Fatalf("%s of %s: %v", c.ID, name, err)
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no case", name)
	}
	return all
}
