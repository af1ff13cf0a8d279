package docs

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skeincrawl/skein/internal/demo"
)

const jobCommandsFile = "job-commands.md"

// badDay is the demonstration, with a page of an author that fails for so long
// that a crawl gives it up.
func badDay() http.Handler {
	site := demo.New()
	var tries atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/author/ada-weaver/" && tries.Add(1) <= 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		site.ServeHTTP(w, r)
	})
}

// TestJobCommands runs the commands of docs/job-commands.md and compares what they
// print with what is shown behind them.
func TestJobCommands(t *testing.T) {
	bin, dir := t.TempDir(), t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "crawl"), "./cmd/crawl")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	site := httptest.NewServer(badDay())
	t.Cleanup(site.Close)
	shell := func(line string) (stdout, log string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", strings.ReplaceAll(line, demoAddress, site.URL+"/"))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, stderr.String())
		}
		here := strings.NewReplacer(site.URL+"/", demoAddress, dir, "/home/me")
		return here.Replace(string(out)), stderr.String()
	}
	var stdout, log string
	compared := 0
	for _, b := range blocks(t) {
		switch {
		case b.file != jobCommandsFile:
		case b.lang == "sh":
			var logged string
			stdout, logged = shell(b.text)
			log += logged
		case strings.HasPrefix(b.text, "1 request was given up") && strings.Contains(log, strings.TrimSpace(b.text)):
			compared++
		default:
			if got, want := stable(stdout), stable(b.text); got != want {
				t.Errorf("%s:%d: the commands before it print\n%s\nnot\n%s", b.file, b.line, stdout, b.text)
			}
			compared++
		}
	}
	if compared < 7 {
		t.Errorf("compared %d outputs: are they still there?", compared)
	}
	status, _ := shell("crawl job status crawls/q --json")
	checkFields(t, status)
}

var changing = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d+ bytes| +`)

// stable takes out what is different each time, with the blanks that align it.
func stable(text string) string { return changing.ReplaceAllString(text, "…") }

// checkFields checks that the page has every field of a document.
func checkFields(t *testing.T, doc string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", jobCommandsFile))
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal([]byte(doc), &fields); err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("%s does not tell what the field %s is", jobCommandsFile, name)
		}
	}
}
