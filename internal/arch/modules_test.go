package arch

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestNoReplace holds that the module builds for others as it does for us: what
// replaces a module counts only in the main module.
func TestNoReplace(t *testing.T) {
	for line := range strings.Lines(read(t, "go.mod")) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word == "replace" || word == "exclude" {
			t.Errorf("go.mod: %s", strings.TrimSpace(line))
		}
	}
}

var requirement = regexp.MustCompile(`(?m)^(?:require)?\s+(\S+\.\S+/\S+) v\S+`)

// direct returns the modules that the packages of this one import.
func direct(t *testing.T) map[string]bool {
	t.Helper()
	var required []string
	for _, m := range requirement.FindAllStringSubmatch(read(t, "go.mod"), -1) {
		required = append(required, m[1])
	}
	used := map[string]bool{}
	for _, s := range sources(t) {
		for _, imp := range s.imports() {
			if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") || strings.HasPrefix(imp, modulePath) {
				continue
			}
			i := slices.IndexFunc(required, func(m string) bool { return imp == m || strings.HasPrefix(imp, m+"/") })
			if i < 0 {
				t.Errorf("%s imports %s, which go.mod does not require", s.path, imp)
				continue
			}
			used[required[i]] = true
		}
	}
	return used
}

var dependencyRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\|$")

// TestDependencies holds that each direct dependency has its reason in
// docs/dependencies.md, and that nothing else is there.
func TestDependencies(t *testing.T) {
	told := map[string]bool{}
	for _, m := range dependencyRow.FindAllStringSubmatch(read(t, "docs/dependencies.md"), -1) {
		if told[m[1]] {
			t.Errorf("docs/dependencies.md has two lines for %s", m[1])
		}
		told[m[1]] = true
	}
	used := direct(t)
	for _, m := range slices.Sorted(maps.Keys(used)) {
		if !told[m] {
			t.Errorf("%s has no line in docs/dependencies.md", m)
		}
	}
	for _, m := range slices.Sorted(maps.Keys(told)) {
		if !used[m] {
			t.Errorf("docs/dependencies.md has a line for %s, which nothing imports", m)
		}
	}
}
