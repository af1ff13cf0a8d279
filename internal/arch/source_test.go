package arch

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	root       = "../.."
	modulePath = "github.com/skeincrawl/skein"
)

// A source is one Go file of the module.
type source struct {
	path string // from the root, with slashes
	pkg  string // the folder, which is the import path without the module's
	test bool
	size int // in lines
	file *ast.File
}

// imports returns the paths that a file imports.
func (s source) imports() []string {
	var list []string
	for _, spec := range s.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			panic(err) // the parser accepted it
		}
		list = append(list, p)
	}
	return list
}

var load = sync.OnceValues(func() ([]source, error) {
	var all []source
	fset := token.NewFileSet()
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && ignored(name) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		s, err := parse(fset, name)
		all = append(all, s)
		return err
	})
	return all, err
})

// ignored folders hold no packages of the module, by the rules of the go command
// and of .gitignore.
func ignored(name string) bool {
	base := path.Base(name)
	return name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "vendor" || name == "bin")
}

func parse(fset *token.FileSet, name string) (source, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return source{}, err
	}
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return source{
		path: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
		size: bytes.Count(text, []byte("\n")), file: file,
	}, err
}

// sources returns every Go file of the module.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := load()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("found only %d files: is %s the root of the module?", len(all), root)
	}
	return all
}

func packages(t *testing.T) map[string][]source {
	t.Helper()
	pkgs := map[string][]source{}
	for _, s := range sources(t) {
		pkgs[s.pkg] = append(pkgs[s.pkg], s)
	}
	return pkgs
}
