package arch

import (
	"slices"
	"strings"
	"testing"
)

// TestImports holds the table: who may import what of the module.
func TestImports(t *testing.T) {
	for _, s := range sources(t) {
		r, ok := table[s.pkg]
		if !ok {
			t.Errorf("%s: package %s has no row in the table", s.path, s.pkg)
			continue
		}
		for _, imp := range s.imports() {
			pkg, ok := strings.CutPrefix(imp, modulePath+"/")
			if ok && !r.allows(s, pkg) {
				t.Errorf("%s imports %s, but %s", s.path, pkg, r.reason)
			}
		}
	}
}

func (r row) allows(s source, pkg string) bool {
	if slices.Contains(r.imports, pkg) {
		return true
	}
	return s.test && (pkg == s.pkg || slices.Contains(r.tests, pkg) || slices.Contains(testHelpers, pkg))
}

// TestTable holds the table against the packages that exist.
func TestTable(t *testing.T) {
	pkgs := packages(t)
	for name, r := range table {
		if r.reason == "" {
			t.Errorf("the row of %s has no reason", name)
		}
		if len(pkgs[name]) == 0 {
			t.Errorf("the table has a row for %s, which does not exist", name)
		}
		for _, imp := range slices.Concat(r.imports, r.tests) {
			if _, ok := table[imp]; !ok {
				t.Errorf("the row of %s allows %s, which has no row", name, imp)
			}
		}
	}
}

// TestTableHasNoCycle proves that imports go one way.
func TestTableHasNoCycle(t *testing.T) {
	done := map[string]bool{}
	var visit func(pkg string, above []string)
	visit = func(pkg string, above []string) {
		if slices.Contains(above, pkg) {
			t.Fatalf("the table allows a cycle: %s", strings.Join(append(above, pkg), " → "))
		}
		if done[pkg] {
			return
		}
		for _, imp := range table[pkg].imports {
			visit(imp, append(slices.Clone(above), pkg))
		}
		done[pkg] = true
	}
	for pkg := range table {
		visit(pkg, nil)
	}
}

// TestGuards holds who may use packages of others.
func TestGuards(t *testing.T) {
	for _, s := range sources(t) {
		for _, imp := range s.imports() {
			for _, g := range guards {
				if g.covers(imp) && !slices.Contains(g.users, s.pkg) && (!s.test || !g.tests) {
					t.Errorf("%s imports %s, but %s", s.path, imp, g.reason)
				}
			}
		}
	}
}

// covers reports whether the guard is about a path. The packages of the
// standard library are guarded one by one.
func (g guard) covers(imp string) bool {
	return imp == g.path || strings.Contains(g.path, ".") && strings.HasPrefix(imp, g.path+"/")
}
