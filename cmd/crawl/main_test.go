package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/skeincrawl/skein/crawltest"
)

// kills is how many processes the kill test kills.
var kills = flag.Int("kills", 20, "how many times the kill test kills the crawl")

// binary is the real program, built once.
var binary string

func TestMain(m *testing.M) {
	if os.Getenv(mazeProcess) != "" {
		crawlMaze()
	}
	flag.Parse()
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "crawl-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "crawl")
	build := exec.Command("go", "build", "-o", binary, ".") //nolint:noctx // ends by itself.
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the command: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// job is a crawl of a site into a job directory.
type job struct {
	t    *testing.T
	site *crawltest.Site
	srv  *httptest.Server
	n    int
	dir  string
	args []string // further
	wrap []string // a command to start it by

	mu    sync.Mutex
	now   int // requests in progress
	peak  int
	watch map[int]chan struct{} // hit count -> closed when it is reached
	hits  int
	wait  int           // hits from this number on are held,
	held  chan struct{} // until this is closed
}

// newJob serves a site.
func newJob(t *testing.T, cfg crawltest.Config, args ...string) *job {
	t.Helper()
	j := &job{t: t, site: crawltest.NewSite(cfg), n: cfg.Pages, dir: t.TempDir(), args: args, watch: map[int]chan struct{}{}}
	j.srv = httptest.NewServer(http.HandlerFunc(j.serve))
	t.Cleanup(j.srv.Close)
	return j
}

func (j *job) serve(w http.ResponseWriter, r *http.Request) {
	j.mu.Lock()
	j.hits++
	j.now++
	j.peak = max(j.peak, j.now)
	if c := j.watch[j.hits]; c != nil {
		close(c)
		delete(j.watch, j.hits)
	}
	held := j.held
	if j.hits < j.wait {
		held = nil
	}
	j.mu.Unlock()
	if held != nil {
		<-held
	}
	j.site.ServeHTTP(w, r)
	j.mu.Lock()
	j.now-- // before the page goes out: it fits the buffer of the server
	j.mu.Unlock()
}

// after returns a channel that is closed when n further requests have come.
func (j *job) after(n int) <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := make(chan struct{})
	j.watch[j.hits+n] = c
	return c
}

// hold keeps the crawl from ending: from n further requests on none is answered
// until release is called.
func (j *job) hold(n int) (release func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	held := make(chan struct{})
	j.wait, j.held = j.hits+n, held
	return sync.OnceFunc(func() { close(held) })
}

func (j *job) out() string { return filepath.Join(j.dir, "out.jsonl") }

// process is a started crawl.
type process struct {
	*exec.Cmd
	log  logBuffer
	done chan struct{}
}

// logBuffer is what a process has logged, to be read while it runs.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
	got chan struct{} // receives when something was added
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case b.got <- struct{}{}:
	default:
	}
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// start starts the command of the job.
func (j *job) start(more ...string) *process {
	j.t.Helper()
	args := append(append([]string{}, j.wrap...), binary, "site", "-a", "start="+j.srv.URL+"/p/0",
		"-a", `fields={"title":"h1.name::text","price":"span.price::text"}`, "-o", j.out(), "-s", "JOBDIR="+filepath.Join(j.dir, "job"))
	args = append(append(args, j.args...), more...)
	return startProcess(j.t, args)
}

func startProcess(t *testing.T, args []string, env ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(args[0], args[1:]...), done: make(chan struct{})} //nolint:noctx // killed by the test.
	p.Env = append(os.Environ(), env...)
	p.log.got = make(chan struct{}, 1)
	p.Stderr = &p.log
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.Wait() // the state is looked at
	}()
	t.Cleanup(func() { _ = p.Process.Kill(); <-p.done })
	return p
}

// waitFor waits until the process has logged something.
func (p *process) waitFor(t *testing.T, what string) {
	t.Helper()
	for !strings.Contains(p.log.String(), what) {
		select {
		case <-p.log.got:
		case <-p.done:
			if !strings.Contains(p.log.String(), what) {
				t.Fatalf("the process ended without logging %q:\n%s", what, p.log.String())
			}
		}
	}
}

// code waits and returns the exit code, -1 if a signal ended the process.
func (p *process) code() int {
	<-p.done
	return p.ProcessState.ExitCode()
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
}

// finish runs the job to its end.
func (j *job) finish(more ...string) *process {
	j.t.Helper()
	p := j.start(more...)
	if c := p.code(); c != 0 {
		j.t.Fatalf("exit code %d, want 0; log:\n%s", c, p.log.String())
	}
	return p
}

// check compares the feed with the site: each page is there once and whole.
func (j *job) check() {
	j.t.Helper()
	got := j.items()
	if len(got) != j.n {
		j.t.Errorf("%d items, want %d", len(got), j.n)
	}
	for p := range j.site.Pages() {
		if title, ok := got[j.srv.URL+p.Path]; !ok || title != p.Title {
			j.t.Errorf("item of %s: title %q, want %q", p.Path, title, p.Title)
		}
	}
}

// items reads the feed: title by URL. A line that is torn or there twice fails
// the test.
func (j *job) items() map[string]string {
	j.t.Helper()
	b, err := os.ReadFile(j.out())
	if err != nil && !os.IsNotExist(err) {
		j.t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(string(b)) {
		var v struct {
			URL, Title string
			Status     int
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil || !strings.HasSuffix(line, "\n") {
			j.t.Fatalf("torn line %q: %v", line, err)
		}
		if _, twice := got[v.URL]; twice {
			j.t.Errorf("%s is in the feed twice", v.URL)
		}
		got[v.URL] = v.Title
	}
	return got
}
