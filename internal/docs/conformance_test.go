package docs

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const conformanceFile = "conformance.md"

// familyInTest finds the families that a test runs: as it calls Run, or in a map of checks.
var familyInTest = regexp.MustCompile(`conformance\.Run\(t, "([a-z]+/[a-z0-9_]+)"|"([a-z]+/[a-z0-9_]+)": +check`)

// The page names every family that is run, with the file of its test, and no other.
func TestConformanceFamilies(t *testing.T) {
	var want []string
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(filepath.Join(root, path))
		for _, m := range familyInTest.FindAllSubmatch(b, -1) {
			want = append(want, string(bytes.Join(m[1:], nil))+" "+path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", conformanceFile))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Families\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var got []string
	for _, m := range regexp.MustCompile("(?m)^\\| (`.*`) \\| `(.*)` \\|$").FindAllStringSubmatch(table, -1) {
		for family := range strings.FieldsSeq(m[1]) {
			got = append(got, strings.Trim(family, "`")+" "+m[2])
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s lists\n%s\nwant\n%s", conformanceFile, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The row that the page shows is read and passed.
func TestConformanceRow(t *testing.T) {
	for _, b := range blocks(t) {
		if b.file != conformanceFile || b.lang != "text" {
			continue
		}
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "url"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "url", "canonicalize.jsonl"), []byte(b.text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-run", "Conformance", "./internal/weburl")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "CONFORMANCE_DIR="+dir, "CONFORMANCE_REPORT=")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "url/canonicalize 1 1") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	t.Errorf("%s shows no row", conformanceFile)
}
