package cmd

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

func cmdRecords(ts *testscript.TestScript, neg bool, args []string) {
	records, err := readRecords(args[0], ts.ReadFile(args[0]))
	if err != nil {
		ts.Fatalf("%s is not well formed: %v", args[0], err)
	}
	seen := map[string]bool{}
	for _, r := range records {
		if seen[r] {
			ts.Fatalf("%s has a record twice: %s", args[0], r)
		}
		seen[r] = true
	}
	if want, err := strconv.Atoi(args[1]); err == nil && len(records) != want || len(records) == 0 {
		ts.Fatalf("%s has %d records, want %s", args[0], len(records), args[1])
	}
}

// readRecords returns the records of a feed, each as some text.
func readRecords(file, text string) ([]string, error) {
	var records []string
	switch filepath.Ext(file) {
	case ".json":
		var list []json.RawMessage
		err := json.Unmarshal([]byte(text), &list)
		for _, r := range list {
			records = append(records, string(r))
		}
		return records, err
	case ".csv":
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		for i, row := range rows {
			if i > 0 {
				records = append(records, strings.Join(row, "\x00"))
			}
		}
		return records, err
	}
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, "\n") {
			return nil, errors.New("its last line has no end")
		}
		if !json.Valid([]byte(line)) {
			return nil, fmt.Errorf("no JSON: %s", line)
		}
		records = append(records, line)
	}
	return records, nil
}
