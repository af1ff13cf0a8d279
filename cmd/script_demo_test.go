package cmd

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// setupGo lets scripts use the go command as the test does, but for the network.
func setupGo(ctx context.Context, e *testscript.Env) error {
	for name, value := range goEnviron(ctx) {
		e.Setenv(name, value)
	}
	e.Setenv("GOPROXY", "off")
	e.Setenv("GOTOOLCHAIN", "local")
	e.Setenv("GOFLAGS", "")
	return nil
}

var (
	goOnce sync.Once
	goVars map[string]string
)

// goEnviron returns where go keeps what it built and downloaded; nothing if
// there is no go.
func goEnviron(ctx context.Context) map[string]string {
	goOnce.Do(func() {
		names := []string{"GOCACHE", "GOMODCACHE"}
		out, err := exec.CommandContext(ctx, "go", append([]string{"env"}, names...)...).Output()
		if err != nil {
			return
		}
		goVars = map[string]string{}
		for i, value := range strings.Split(strings.TrimSpace(string(out)), "\n") {
			goVars[names[i]] = value
		}
	})
	return goVars
}

// program finds a program of the script.
func program(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
			return filepath.Join(dir, name)
		}
	}
	ts.Fatalf("there is no %s", name)
	return ""
}

func cmdDemo(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if s.demo != nil {
		ts.Fatalf("the demonstration runs already")
	}
	s.demo = exec.Command(program(ts, "crawl"), "demo", "--listen", "127.0.0.1:0") //nolint:noctx // it ends by a signal, or below.
	s.demo.Stderr = os.Stderr
	out, err := s.demo.StdoutPipe()
	ts.Check(err)
	ts.Check(s.demo.Start())
	ts.Defer(func() {
		if s.demo != nil {
			_ = s.demo.Process.Kill()
			_ = s.demo.Wait()
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	ts.Check(err)
	address := strings.TrimSpace(line)
	ts.Setenv("DEMO", address)
	ts.Setenv("DEMOHOST", strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/"))
}

func cmdEndDemo(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	sig := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM}[args[0]]
	want, err := strconv.Atoi(args[1])
	if s.demo == nil || sig == nil || err != nil {
		ts.Fatalf("enddemo: want a demonstration that runs, INT or TERM, and an exit code")
	}
	ts.Check(s.demo.Process.Signal(sig))
	err = s.demo.Wait()
	got := s.demo.ProcessState.ExitCode()
	s.demo = nil
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("the demonstration ended with %d, want %d", got, want)
	}
}

func cmdReplace(ts *testscript.TestScript, neg bool, args []string) {
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s has no %s", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o600))
}
