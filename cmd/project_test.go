package cmd

import (
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

// TestOrigin holds where a project takes this module from.
func TestOrigin(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	build := func(path, version string, deps ...*debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: path, Version: version}, Deps: deps}
	}
	const shop = "example.org/shop"
	for name, tc := range map[string]struct {
		sys             system
		replace         string
		version, folder string
		wrong           string
	}{
		"named folder":        {system{Sources: "/nowhere"}, here, "v0.0.0", here, ""},
		"checkout":            {system{Sources: here, Version: "v1.2.3"}, "", "v0.0.0", here, ""},
		"release":             {system{Build: build(module, "v1.2.3")}, "", "v1.2.3", "", ""},
		"checkout that moved": {system{Sources: "/nowhere", Build: build(module, "v1.2.3")}, "", "v1.2.3", "", ""},
		"commit":              {system{Build: build(module, "v0.0.0-20261130150228-0c97a2c00000")}, "", "v0.0.0-20261130150228-0c97a2c00000", "", ""},
		"somebody's program":  {system{Build: build(shop, "v9.9.9", &debug.Module{Path: module, Version: "v1.2.3"})}, "", "v1.2.3", "", ""},
		"by the linker":       {system{Version: "v1.2.3"}, "", "v1.2.3", "", ""},
		"with changes":        {system{Build: build(module, "v1.2.3+dirty"), Version: "v1.2.3-dirty"}, "", "", "", "--replace FOLDER"},
		"between releases":    {system{Version: "v1.2.3-4-gabcdef0"}, "", "", "", "--replace FOLDER"},
		"somebody's replaced": {system{Build: build(shop, "v9.9.9", &debug.Module{Path: module, Version: "v1.2.3", Replace: &debug.Module{Path: "../x"}})}, "", "", "", "--replace FOLDER"},
		"development":         {system{Build: build(module, "(devel)"), Version: "0c97a2c"}, "", "", "", "--replace FOLDER"},
		"folder of nothing":   {system{Sources: here}, "/nowhere", "", "", "--replace /nowhere: read its go.mod"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, err := originOf(&tc.sys, tc.replace)
			if tc.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wrong) {
					t.Errorf("error %v, want %q", err, tc.wrong)
				}
				return
			}
			if err != nil || o.Version != tc.version || o.Replace != tc.folder || (o.Sums != nil) != (tc.folder != "") {
				t.Errorf("got %s from %q, %v, want %s from %q", o.Version, o.Replace, err, tc.version, tc.folder)
			}
		})
	}
}

// TestGoVersion holds that projects ask of Go what this module does.
func TestGoVersion(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(mod); m == nil || string(m[1]) != goVersion {
		t.Errorf("go.mod wants %q, new projects %s", m, goVersion)
	}
}

// TestReleasedProject holds that a project on a release names nothing of this
// machine, and what its go.mod needs is left to go mod tidy.
func TestReleasedProject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := runIn(t, func(sys *system) { sys.Dir, sys.Version = dir, "v1.2.3" }, "startproject", "shop")
	mod, err := os.ReadFile(filepath.Join(dir, "shop", "go.mod"))
	if want := "module shop\n\ngo " + goVersion + "\n\nrequire " + module + " v1.2.3\n"; err != nil || string(mod) != want {
		t.Errorf("go.mod is %q, %v, want %q", mod, err, want)
	}
	if r.code != exitOK || !strings.Contains(r.out, "  go mod tidy\n") {
		t.Errorf("exit code %d, output\n%s%s", r.code, r.out, r.err)
	}
	docker, err := os.ReadFile(filepath.Join(dir, "shop", "Dockerfile"))
	if err != nil || strings.Contains(string(docker), "vendor") {
		t.Errorf("the Dockerfile speaks of vendoring, %v:\n%s", err, docker)
	}
}

// TestTemplatesAreFormatted holds that what the templates make is in gofmt's form.
func TestTemplatesAreFormatted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(sys *system) { sys.Dir, sys.Version = dir, "v1.2.3" }
	runIn(t, in, "startproject", "a-b")
	dir = filepath.Join(dir, "a-b")
	runIn(t, in, "genspider", "basic", "x", "x.test")
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.go"))
	if err != nil || len(files) != 5 {
		t.Fatalf("files %v, %v, want 5", files, err)
	}
	for _, f := range append(files, filepath.Join(dir, "main.go")) {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if formatted, err := format.Source(text); err != nil || string(formatted) != string(text) {
			t.Errorf("%s is not formatted, %v:\n%s", f, err, text)
		}
	}
}

func TestNamesOfSpiders(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"shop":         {"Shop", "shop"},
		"my-shop":      {"MyShop", "myshop"},
		"books.co.uk":  {"BooksCoUk", "bookscouk"},
		"x_test":       {"XTest", "xtest"},
		"shop_windows": {"ShopWindows", "shopwindows"},
		"a--b.":        {"AB", "ab"},
	} {
		if got := [2]string{typeName(name), fileName(name)}; got != want {
			t.Errorf("%s: type and file %v, want %v", name, got, want)
		}
	}
}
