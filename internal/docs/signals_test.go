package docs

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

const signalsHead = "# Signals\n\n" +
	"The table is made from the comments in `crawl/signals.go` by `go test ./internal/docs -run TestSignalsDoc -update`; a\n" +
	"test compares them. A signal is a Go type; `crawl.On` connects a function with it, `crawl.Send` sends it, also one\n" +
	"of your own, and `crawl.Wait` waits for it. They stand in the order in which they can happen.\n\n"

// TestSignalsDoc compares the table in docs/signals.md with the comments of the
// types.
func TestSignalsDoc(t *testing.T) {
	var table bytes.Buffer
	table.WriteString(signalsHead + "| signal | in Scrapy | carries | when |\n|---|---|---|---|\n")
	specs := signalTypes(t)
	for _, s := range specs {
		fmt.Fprintln(&table, signalRow(s))
	}
	if len(specs) < 15 {
		t.Fatalf("found %d signals in crawl/signals.go", len(specs))
	}
	table.WriteString("\n")
	file := filepath.Join(root, "docs", "signals.md")
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := bytes.Cut(have, []byte("\n## "))
	if !found {
		t.Fatal("docs/signals.md has no sections after its table")
	}
	want := append(table.Bytes(), append([]byte("## "), rest...)...)
	if *update {
		if err := os.WriteFile(file, want, 0o600); err != nil {
			t.Fatal(err)
		}
		have = want
	}
	if !bytes.Equal(have, want) {
		t.Error("docs/signals.md is not up to date: go test ./internal/docs -run TestSignalsDoc -update")
	}
}

// signalTypes returns the types of the events of a crawl.
func signalTypes(t *testing.T) (specs []*ast.TypeSpec) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "crawl", "signals.go"), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || !strings.HasPrefix(g.Doc.Text(), "The events of a crawl") {
			continue
		}
		for _, s := range g.Specs {
			specs = append(specs, s.(*ast.TypeSpec))
		}
	}
	return specs
}

var scrapysName = regexp.MustCompile(`\s*\(Scrapy's (\w+)\)`)

// signalRow is the line of a signal. Its name in Scrapy is its own in Scrapy's
// style, unless the comment tells another.
func signalRow(s *ast.TypeSpec) string {
	text, name := s.Doc.Text(), snake(s.Name.Name)
	if m := scrapysName.FindStringSubmatch(text); m != nil {
		text, name = strings.Replace(text, m[0], "", 1), m[1]
	}
	text = strings.TrimPrefix(markdown(text), s.Name.Name+" is sent ")
	return fmt.Sprintf("| `%s` | `%s` | %s | %s |", s.Name.Name, name, fieldsOf(s.Type.(*ast.StructType)), cell(text))
}

// markdown is a comment as one line; what it links to are names of package crawl.
func markdown(text string) string {
	d := new(comment.Parser).Parse(regexp.MustCompile(`\[(\w+)\]`).ReplaceAllString(text, "`crawl.$1`"))
	return strings.Join(strings.Fields(string(new(comment.Printer).Comment(d))), " ")
}

func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// fieldsOf lists the fields of a signal with their comments.
func fieldsOf(s *ast.StructType) string {
	var all []string
	for _, f := range s.Fields.List {
		for _, n := range f.Names {
			text := "`" + n.Name + "`"
			if c := strings.TrimSpace(f.Comment.Text()); c != "" {
				text += " (" + markdown(c) + ")"
			}
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, ", ")
}
