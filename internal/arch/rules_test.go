package arch

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestSurroundings holds that only cmd touches the process it runs in.
func TestSurroundings(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.pkg == "cmd" || strings.HasPrefix(s.pkg, "internal/conformance") { // tests have no settings to say where the vectors are
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "os" && surroundings[sel.Sel.Name] != "" {
				t.Errorf("%s uses os.%s, but %s", s.path, sel.Sel.Name, surroundings[sel.Sel.Name])
			}
			return true
		})
	}
}

// TestImportNames holds that packages of the standard library and of others are
// used by their own names: a rule that looks for os.Exit must not miss it.
func TestImportNames(t *testing.T) {
	for _, s := range sources(t) {
		for _, spec := range s.file.Imports {
			if spec.Name == nil || spec.Name.Name == "_" {
				continue
			}
			if spec.Name.Name == "." || spec.Path.Value == `"os"` {
				t.Errorf("%s imports %s as %s", s.path, spec.Path.Value, spec.Name.Name)
			}
		}
	}
}

// TestPackageComments holds that every package says once what it is.
func TestPackageComments(t *testing.T) {
	for name, files := range packages(t) {
		var with []string
		for _, s := range files {
			if s.file.Doc != nil && !s.test {
				with = append(with, s.path)
			}
			if s.file.Doc != nil && s.test {
				t.Errorf("%s: the package comment belongs into no test", s.path)
			}
		}
		if len(with) != 1 {
			t.Errorf("package %s has %d package comments, want 1: %v", name, len(with), with)
		}
	}
}

// TestPackageNames holds that names say what is inside, and are those of the
// folders.
func TestPackageNames(t *testing.T) {
	for _, s := range sources(t) {
		name := strings.TrimSuffix(s.file.Name.Name, "_test")
		if slices.Contains(vague, name) || slices.Contains(vague, path.Base(s.pkg)) {
			t.Errorf("%s: the name %s says nothing about the package", s.path, name)
		}
		if name != "main" && name != path.Base(s.pkg) {
			t.Errorf("%s: package %s is in folder %s", s.path, name, s.pkg)
		}
	}
}

// TestFileSizes holds that a file can be read in one go.
func TestFileSizes(t *testing.T) {
	const most = 600
	for _, s := range sources(t) {
		if s.size >= most {
			t.Errorf("%s has %d lines, want less than %d: split it by topic", s.path, s.size, most)
		}
	}
}

// TestMainIsOneStatement holds that our own program has no rights that a user's lacks.
func TestMainIsOneStatement(t *testing.T) {
	statements := 0
	for _, s := range packages(t)["cmd/crawl"] {
		if s.test {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok {
				statements += len(f.Body.List)
			}
			if ok && f.Name.Name != "main" {
				t.Errorf("%s declares %s, want nothing but main", s.path, f.Name.Name)
			}
		}
	}
	if statements != 1 {
		t.Errorf("the functions of cmd/crawl have %d statements, want 1", statements)
	}
}
