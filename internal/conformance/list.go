package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// listPath is the page with the rows that are not passed, from the root of the
// module.
const listPath = "docs/conformance.md"

// readList reads the list once a process.
var readList = sync.OnceValues(func() (map[string]string, error) { //nolint:gochecknoglobals // the page does not change.
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for ; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			return nil, fmt.Errorf("no go.mod above the test: cannot find %s", listPath)
		}
	}
	page, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(listPath)))
	if err != nil {
		return nil, err
	}
	return parseList(string(page))
})

// Listed returns the reasons why rows are not passed, by the IDs of the rows.
func Listed(t *testing.T) map[string]string {
	t.Helper()
	list, err := readList()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// parseList reads the tables under the headings "### family": a reason, and the
// last parts of the IDs of the rows.
func parseList(page string) (map[string]string, error) {
	list, family := map[string]string{}, ""
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			heading, _ := strings.CutPrefix(line, "### ")
			family = strings.Trim(heading, "`")
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.Contains(family, "/") || len(cells) != 2 || !strings.Contains(cells[1], "`") {
			continue
		}
		reason := strings.TrimSpace(cells[0])
		for id := range strings.FieldsSeq(strings.ReplaceAll(cells[1], "`", "")) {
			id = family + "/" + id
			if reason == "" || list[id] != "" {
				return nil, fmt.Errorf("%s: %s is listed without a reason or twice", listPath, id)
			}
			list[id] = reason
		}
	}
	return list, nil
}
