package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testName = regexp.MustCompile("`([\\w/]+)\\.(Test\\w+|Fuzz\\w+)`|`(script/[\\w-]+\\.txtar)`")
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// tests returns the names of all tests of the module, with their packages.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		for _, m := range testFunc.FindAllSubmatch(text, -1) {
			names[filepath.ToSlash(filepath.Dir(name))+"."+string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// noPromise is what a cell says that needs no test.
const noPromise = "no promise"

// TestGuarantees holds that every cell of docs/guarantees.md names a test, but
// for those that promise nothing, and that each of them exists.
func TestGuarantees(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "guarantees.md"))
	if err != nil {
		t.Fatal(err)
	}
	have, cells := tests(t), 0
	for line := range strings.Lines(string(text)) {
		row := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(row) < 4 || strings.HasPrefix(row[0], "-") || strings.Contains(line, "| kill -9 |") {
			continue
		}
		for _, cell := range row[1:] {
			if cells++; strings.TrimSpace(cell) == noPromise {
				continue
			}
			named := testName.FindAllStringSubmatch(cell, -1)
			if len(named) == 0 {
				t.Errorf("%s: a cell names no test: %s", strings.TrimSpace(row[0]), cell)
			}
			for _, m := range named {
				checkNamed(t, have, m)
			}
		}
	}
	if cells < 30 {
		t.Errorf("found %d cells: is the table still there?", cells)
	}
}

func checkNamed(t *testing.T, have map[string]bool, m []string) {
	t.Helper()
	if m[3] != "" {
		if _, err := os.Stat(filepath.Join(root, "cmd", "testdata", filepath.FromSlash(m[3]))); err != nil {
			t.Errorf("there is no script %s: %v", m[3], err)
		}
		return
	}
	if name := m[1] + "." + m[2]; !have[name] {
		t.Errorf("there is no test %s", name)
	}
}
