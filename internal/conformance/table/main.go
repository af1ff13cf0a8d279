// Command table shows a report of the conformance tests: a line "family passed
// total" a family. The rows that are not passed go into a file.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/skeincrawl/skein/internal/conformance"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: table REPORT FILE-FOR-FAILED-ROWS")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run prints the table of a report and writes the file of failed rows.
func run(report, failed string, out io.Writer) error {
	families, err := read(report)
	if err != nil {
		return fmt.Errorf("read the report: %w", err)
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
	if len(all) == 0 {
		return nil, errors.New("no family was run")
	}
	slices.SortFunc(all, func(a, b conformance.Family) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
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
