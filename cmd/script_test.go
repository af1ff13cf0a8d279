package cmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/skeincrawl/skein/crawltest"
)

var update = flag.Bool("update", false, "rewrite the expectations in the scripts")

// TestScript runs the specification of the command line, one promise a script.
// Commands beyond those of testscript:
//
//	site [pages=N] [latency=D]  starts a crawltest.Site at $SITE
//	waitfor N                   waits until the site got N requests
//	signal INT|TERM|KILL        sends a signal to the background crawl, or to what it runs
//	exits CODE PROGRAM ARG...   runs a program that has to end with CODE
//	ended CODE                  checks how the crawl that got a signal ended, after wait
//	lines FILE N                checks that a file has N lines, all different
//	records FILE N|some         checks that a file of JSON, CSV or JSON Lines is well formed and
//	                            has N records, all different, or at least one
//	demo                        starts crawl demo; its address is $DEMO, without http:// $DEMOHOST
//	enddemo INT|TERM CODE       sends it a signal and checks how it ends
//	replace FILE OLD NEW        puts one text in place of another in a file
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		UpdateScripts:      *update,
		RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Values[stageKey{}] = &stage{changed: make(chan struct{}, 1)}
			e.Setenv("TZ", "UTC")
			e.Setenv("GORACE", "atexit_sleep_ms=0") // else each program waits a second at its end
			return setupGo(t.Context(), e)
		},
		Condition: func(name string) (bool, error) { return condition(t.Context(), name) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"site": cmdSite, "waitfor": cmdWaitFor, "signal": cmdSignal, "exits": cmdExits, "ended": cmdEnded, "lines": cmdLines,
			"demo": cmdDemo, "enddemo": cmdEndDemo, "replace": cmdReplace, "records": cmdRecords, "waitlines": cmdWaitLines,
		},
	})
}

// condition knows [pidns]: whether a program can be made process 1.
func condition(ctx context.Context, name string) (bool, error) {
	if name != "pidns" {
		return false, fmt.Errorf("there is no condition %q", name)
	}
	return exec.CommandContext(ctx, "unshare", "--pid", "--fork", "true").Run() == nil, nil
}

type stageKey struct{}

// stage is what the commands of one script share.
type stage struct {
	mu      sync.Mutex
	hits    int
	changed chan struct{}
	victim  *exec.Cmd
	demo    *exec.Cmd
}

func stageOf(ts *testscript.TestScript) *stage { return ts.Value(stageKey{}).(*stage) }

// hit counts a request of the site.
func (s *stage) hit() {
	s.mu.Lock()
	s.hits++
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *stage) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits
}

func cmdSite(ts *testscript.TestScript, neg bool, args []string) {
	cfg := crawltest.Config{Pages: 20}
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		var err error
		switch name {
		case "pages":
			cfg.Pages, err = strconv.Atoi(value)
		case "latency":
			cfg.Latency, err = time.ParseDuration(value)
		default:
			ts.Fatalf("unknown option %s of site", name)
		}
		ts.Check(err)
	}
	s, site := stageOf(ts), crawltest.NewSite(cfg)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.hit()
		site.ServeHTTP(w, r)
	}))
	ts.Defer(srv.Close)
	ts.Setenv("SITE", srv.URL)
}

func cmdWaitFor(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	s, late := stageOf(ts), time.After(time.Minute)
	for s.count() < want {
		select {
		case <-s.changed:
		case <-late:
			ts.Fatalf("the site got %d requests in a minute, want %d", s.count(), want)
		}
	}
}

func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	sig := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "KILL": os.Kill}[args[0]]
	running := ts.BackgroundCmds()
	if sig == nil || len(running) != 1 {
		ts.Fatalf("signal %s: want INT, TERM or KILL, and one command in the background, not %d", args[0], len(running))
	}
	stageOf(ts).victim = running[0]
	p, err := os.FindProcess(innermost(running[0].Process.Pid))
	ts.Check(err)
	ts.Check(p.Signal(sig))
}

// innermost follows a chain of processes down to the one that started no other.
// Where the system does not tell children, it is the first.
func innermost(pid int) int {
	for {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
		child, _, _ := strings.Cut(string(children), " ")
		n, aerr := strconv.Atoi(child)
		if err != nil || aerr != nil {
			return pid
		}
		pid = n
	}
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func cmdEnded(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	s := stageOf(ts)
	if s.victim == nil || s.victim.ProcessState == nil {
		ts.Fatalf("nothing got a signal and was waited for")
	}
	if got := s.victim.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	seen, got := map[string]bool{}, 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if seen[line] {
			ts.Fatalf("%s has a line twice: %s", args[0], line)
		}
		seen[line] = true
		got++
	}
	if got != want {
		ts.Fatalf("%s has %d lines, want %d", args[0], got, want)
	}
}
