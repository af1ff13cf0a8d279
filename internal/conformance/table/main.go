// Command table shows a report of the conformance tests: a line "family passed
// total" a family, and one of the files of vectors that are of none. The rows that
// are not passed go into a file.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/skeincrawl/skein/internal/conformance"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: table REPORT FILE-FOR-FAILED-ROWS FOLDER-OF-VECTORS")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run prints the table of a report about the vectors in dir and writes the file of
// failed rows.
func run(report, failed, dir string, out io.Writer) error {
	families, err := read(report)
	if err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	others, err := notRun(dir, families)
	if err != nil {
		return fmt.Errorf("look for vectors: %w", err)
	}
	if len(families) == 0 {
		return fmt.Errorf("no family was run: %s has no file of one, but %d others %v", dir, len(others), others)
	}
	var list bytes.Buffer
	w := bufio.NewWriter(out)
	for _, f := range families {
		_, _ = fmt.Fprintln(w, f.Name, f.Passed, f.Total) // the error is Flush's.
		for _, row := range f.Failed {
			list.WriteString(line(f.Name, row))
		}
	}
	if err := os.WriteFile(failed, list.Bytes(), 0o644); err != nil { //nolint:gosec // vectors are no secret.
		return fmt.Errorf("write the failed rows: %w", err)
	}
	if len(others) > 0 {
		_, _ = fmt.Fprintln(w, "not run:", strings.Join(others, " "))
	}
	_, _ = fmt.Fprintf(w, "The rows that failed, with what came and what was wanted, are in %s.\n", failed)
	return w.Flush()
}

// read returns the families of a report, sorted by name.
func read(path string) ([]conformance.Family, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []conformance.Family
	for l := range bytes.Lines(b) {
		var f conformance.Family
		if err := json.Unmarshal(l, &f); err != nil {
			return nil, fmt.Errorf("%w in %s", err, l)
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b conformance.Family) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// notRun returns the files of vectors below a folder that are of no family, as
// those of families are named: a/b is the file a/b.jsonl.
func notRun(dir string, families []conformance.Family) ([]string, error) {
	var names []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(file string, _ fs.DirEntry, err error) error {
		name, vectors := strings.CutSuffix(file, ".jsonl")
		if vectors && !slices.ContainsFunc(families, func(f conformance.Family) bool { return f.Name == name }) {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// line words a row that is not passed in one line.
func line(family string, f conformance.Failure) string {
	const limit = 400
	why := strings.Join(strings.Fields(f.Why), " ")
	if len(why) > limit {
		why = strings.ToValidUTF8(why[:limit], "") + "…"
	}
	if f.Reason != "" {
		why += " (known: " + f.Reason + ")"
	}
	return fmt.Sprintf("%s\t%s\t%s\n", family, f.ID, why)
}
