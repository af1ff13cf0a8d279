// Package conformance runs published test vectors, for tests. docs/conformance.md
// lists the rows that are not passed, with the reasons: a test fails over one that
// is not listed, and over a listed one that passes.
package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// The environment variables that tests understand: the folder of the vectors, and
// a file for the report of a run that judges nothing (see [Run]).
const (
	dirVariable    = "CONFORMANCE_DIR"
	reportVariable = "CONFORMANCE_REPORT"
)

// Run calls f for each row of a family, a file with one JSON object a line whose
// name is the family with ".jsonl" behind it. The test is skipped without the
// folder of vectors or without the file, and fails over a file that is broken.
// A row is passed if f neither fails nor skips it. If the environment names a
// report, a line of JSON about the family is appended to it (a [Family]), and rows
// that are not passed do not fail the test.
func Run[C any](t *testing.T, family string, f func(r *Row, c C)) {
	t.Helper()
	rows := rowsOf[C](t, family)
	listed := Listed(t)
	report := os.Getenv(reportVariable)
	result := Family{Name: family, Total: len(rows)}
	for _, c := range rows {
		r := &Row{lenient: report != "" || listed[c.ID] != ""}
		t.Run(c.ID, func(t *testing.T) {
			r.T = t
			defer r.end(report != "")
			if c.err != nil {
				r.Fatalf("read the row: %v", c.err)
			}
			f(r, c.V)
		})
		switch {
		case r.why != "":
			result.Failed = append(result.Failed, Failure{ID: c.ID, Why: r.why, Reason: listed[c.ID]})
		case listed[c.ID] != "" && report == "":
			t.Errorf("%s is passed: take it off the list in %s", c.ID, listPath)
		}
	}
	result.Passed = result.Total - len(result.Failed)
	t.Logf("%s %d %d", family, result.Passed, result.Total)
	if report != "" {
		if err := result.appendTo(report); err != nil {
			t.Fatal(err)
		}
	}
}

// row is one line of a file. A line that is JSON and not what its test knows is a
// row that is not passed; the file is as it should be.
type row[C any] struct {
	ID  string
	V   C     `json:"-"`
	err error // of V
}

func rowsOf[C any](t *testing.T, family string) []row[C] {
	t.Helper()
	var all []row[C]
	for line := range bytes.Lines(file(t, family+".jsonl")) {
		var c row[C]
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("%s: %v in %s", family, err, line)
		}
		c.err = json.Unmarshal(line, &c.V)
		all = append(all, c)
	}
	if len(all) == 0 {
		t.Fatalf("%s.jsonl has no row", family)
	}
	return all
}

// file reads a file of the folder of vectors, which has a path with slashes.
func file(t *testing.T, name string) []byte {
	t.Helper()
	dir := os.Getenv(dirVariable)
	if dir == "" {
		t.Skip(dirVariable + " is not set: it names the folder of public test vectors")
	}
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}
