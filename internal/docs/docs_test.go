package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawltest"
	"github.com/skeincrawl/skein/internal/demo"
)

// root is the module's folder, seen from here.
const root = "../.."

// block is a fenced block of a document.
type block struct {
	file, lang, text string
	line             int
}

var fence = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// blocks returns the fenced blocks of all documents.
func blocks(t *testing.T) []block {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	for _, f := range append(files, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fence.FindAllSubmatchIndex(b, -1) {
			all = append(all, block{
				file: filepath.Base(f), lang: string(b[m[2]:m[3]]), text: string(b[m[4]:m[5]]),
				line: 1 + bytes.Count(b[:m[0]], []byte("\n")),
			})
		}
	}
	return all
}

func TestEveryBlockIsOfAKnownKind(t *testing.T) {
	for _, b := range blocks(t) {
		switch b.lang {
		case "go", "sh", "yaml", "text":
		default:
			t.Errorf("%s:%d: a block of kind %q is neither compiled nor run: use go, sh, yaml, or text for layouts", b.file, b.line, b.lang)
		}
	}
}

// TestGoBlocks compiles every block of Go. Blocks of package main become
// programs; the others have to be whole files too.
func TestGoBlocks(t *testing.T) {
	for _, b := range blocks(t) {
		if b.lang != "go" || b.file == tutorialFile { // TestTutorial has them
			continue
		}
		t.Run(fmt.Sprintf("%s:%d", b.file, b.line), func(t *testing.T) {
			t.Parallel()
			compile(t, b.text)
		})
	}
}

// compile builds one file as a package of this module and returns the program.
func compile(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	abs, err := filepath.Abs(filepath.Join(root, "internal", "docs", "block", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {abs: file}})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(os.WriteFile(file, []byte(source), 0o600), os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "./internal/docs/block")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// TestCommands runs the command lines of the documents with the real program.
func TestCommands(t *testing.T) {
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "crawl"), "./cmd/crawl")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.Replace(r.URL.Path, "/", "/p/0", 1) // the front page
		if !strings.HasPrefix(r.URL.Path, "/p/0p/") {
			crawltest.NewSite(crawltest.Config{Pages: 1}).ServeHTTP(w, r)
		}
	}))
	t.Cleanup(site.Close)
	quotes := httptest.NewServer(demo.New())
	t.Cleanup(quotes.Close)
	for _, b := range blocks(t) {
		if b.lang != "sh" || b.file == tutorialFile || b.file == jobCommandsFile { // they have tests of their own
			continue
		}
		t.Run(fmt.Sprintf("%s:%d", b.file, b.line), func(t *testing.T) {
			dir := t.TempDir()
			for line := range strings.Lines(b.text) {
				line = strings.Replace(line, "crawl quotes ", "crawl quotes -a site="+quotes.URL+" ", 1)
				command(t, strings.TrimSpace(line), dir, bin, site.URL)
			}
		})
	}
}

// command runs one line, or checks that what it names is there.
func command(t *testing.T, line, dir, bin, site string) {
	t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "", "#", "cd", "mkdir", "go", "docker":
		return
	case "make":
		target, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		b, err := os.ReadFile(filepath.Join(root, "Makefile"))
		if err != nil || !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(target)+`:`).Match(b) {
			t.Errorf("the Makefile has no target %q (%v)", target, err)
		}
		return
	}
	line = strings.ReplaceAll(strings.TrimPrefix(line, "bin/"), "https://example.com", site)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
}

// TestReadmeSpider runs the spider of the README on a page like the one that it
// is for.
func TestReadmeSpider(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		next := `<li class="next"><a href="/page/2/">Next</a></li>`
		if r.URL.Path != "/" {
			next = ""
		}
		fmt.Fprintf(w, `<div class="quote"><span class="text">Words of %s</span><small class="author">A. N.</small><a class="tag">x</a><a class="tag">y</a></div>%s`, r.URL.Path, next)
	}))
	t.Cleanup(site.Close)
	for _, b := range blocks(t) {
		if b.file != "README.md" || b.lang != "go" {
			continue
		}
		if n := strings.Count(b.text, "\n"); n > 50 {
			t.Errorf("the spider takes %d lines", n)
		}
		program := compile(t, strings.ReplaceAll(b.text, "https://quotes.toscrape.com", site.URL))
		cmd := exec.CommandContext(t.Context(), program, "quotes", "-o", "-", "--nolog")
		out, err := cmd.Output()
		want := `{"text":"Words of /","author":"A. N.","tags":["x","y"]}` + "\n" + `{"text":"Words of /page/2/","author":"A. N.","tags":["x","y"]}` + "\n"
		if err != nil || string(out) != want {
			t.Errorf("got %s, %v, want %s", out, err, want)
		}
	}
}
