package docs

import (
	"bufio"
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	tutorialFile = "tutorial.md"
	demoAddress  = "http://127.0.0.1:8000/"
)

// A student works through the tutorial, block by block.
type student struct {
	dir, cwd string // the empty folder, and where the last block ended
	bin      string
	env      []string
	site     string // where the demonstration is
}

// TestTutorial does what the tutorial says, from an empty folder and without
// network: what is a command is run, what is a file is written.
func TestTutorial(t *testing.T) {
	dir := t.TempDir()
	s := &student{dir: dir, cwd: dir, bin: t.TempDir()}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(s.bin, "crawl"), "./cmd/crawl")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.env = append(os.Environ(), "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GOPROXY=off", "GOFLAGS=-buildvcs=false", "CRAWL_DOWNLOAD_DELAY=0")
	text, err := os.ReadFile(filepath.Join(root, "docs", tutorialFile))
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, b := range blocks(t) {
		switch {
		case b.file != tutorialFile || b.lang == "text":
		case b.lang == "go":
			s.write(t, fileOf(t, text, b), b.text)
		case strings.TrimSpace(b.text) == "crawl demo":
			s.serve(t)
		default:
			s.run(t, b)
			commands += strings.Count(b.text, "\n")
		}
	}
	s.check(t)
	if commands < 20 {
		t.Errorf("ran %d commands: is the tutorial still there?", commands)
	}
}

var quotedFile = regexp.MustCompile("`(\\w+/\\w+\\.go)`:\n\n$")

// fileOf returns the file that the sentence before a block speaks of.
func fileOf(t *testing.T, text []byte, b block) string {
	t.Helper()
	m := quotedFile.FindSubmatch(text[:bytes.Index(text, []byte("```go\n"+b.text))])
	if m == nil {
		t.Fatalf("%s:%d: the sentence before the block names no file", b.file, b.line)
	}
	return string(m[1])
}

func (s *student) write(t *testing.T, file, text string) {
	t.Helper()
	path := filepath.Join(s.cwd, filepath.FromSlash(file))
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the tutorial replaces a file that does not exist: %v", err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// serve starts the demonstration on a free port.
func (s *student) serve(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	demo := exec.CommandContext(ctx, filepath.Join(s.bin, "crawl"), "demo", "--listen", "127.0.0.1:0")
	demo.Cancel = func() error { return demo.Process.Signal(os.Interrupt) }
	out, err := demo.StdoutPipe()
	if err == nil {
		err = demo.Start()
	}
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = demo.Wait() // that it was ended is its error
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	s.site = strings.TrimSpace(line)
}

// run runs the lines of a block in one shell, which goes on where the last one
// was. The address of the demonstration is replaced everywhere.
func (s *student) run(t *testing.T, b block) {
	t.Helper()
	if s.site != "" {
		s.replaceAddress(t)
		b.text = strings.ReplaceAll(b.text, demoAddress, s.site)
	}
	note := filepath.Join(s.bin, "cwd")
	cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", b.text+"\npwd >"+note)
	cmd.Dir, cmd.Env = s.cwd, s.env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s:%d: %v\n%s\n%s", b.file, b.line, err, b.text, out)
	}
	cwd, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	s.cwd = strings.TrimSpace(string(cwd))
}

func (s *student) replaceAddress(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte(demoAddress)) {
			return err
		}
		return os.WriteFile(path, bytes.ReplaceAll(text, []byte(demoAddress), []byte(s.site)), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// check looks at what the commands left behind, as the tutorial tells it.
func (s *student) check(t *testing.T) {
	t.Helper()
	for file, want := range map[string]int{"quotes.jsonl": 50, "authors.jsonl": 6, "all.jsonl": 6} {
		text, err := os.ReadFile(filepath.Join(s.cwd, file))
		seen := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			seen[line] = true
		}
		if n := strings.Count(string(text), "\n"); err != nil || n != want || len(seen) != want {
			t.Errorf("%s has %d lines, %d of them different, %v, want %d", file, n, len(seen), err, want)
		}
	}
}

// TestMakeDemo runs the first command of the README. It ends by itself and shows
// every item.
func TestMakeDemo(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("there is no make")
	}
	cmd := exec.CommandContext(t.Context(), "make", "-s", "demo")
	cmd.Dir = root
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.Output()
	if n := bytes.Count(out, []byte(`{"type":`)); err != nil || n != 56 {
		t.Errorf("%d items, %v, want 56\n%s%s", n, err, out, log.Bytes())
	}
}
