package cmd

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/skeincrawl/skein/crawltest"
)

// result is what a run in this process left behind.
type result struct {
	code     int
	out, err string
	exits    []int // of Exit, which ends nothing here
}

// runIn runs a command line with surroundings made for it. adapt may be nil.
func runIn(t *testing.T, adapt func(*system), args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	var r result
	var mu sync.Mutex
	sys := &system{
		Args: args, Dir: t.TempDir(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Environ: []string{"GOGC=100"}, // the tests share one collector
		Root:    fstest.MapFS{},
		Exit: func(code int) {
			mu.Lock()
			defer mu.Unlock()
			r.exits = append(r.exits, code)
		},
	}
	if adapt != nil {
		adapt(sys)
	}
	r.code = run(sys)
	r.out, r.err = out.String(), errs.String()
	return r
}

func TestRunUsesItsSurroundings(t *testing.T) {
	t.Parallel()
	r := runIn(t, func(sys *system) {
		sys.Environ = append(sys.Environ, "CRAWL_RETRY_TIMES=8", "CRAWL_SERVICE_HOST=10.0.0.1")
		if err := os.WriteFile(filepath.Join(sys.Dir, "crawl.yaml"), []byte("CONCURRENT_REQUESTS: 3\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}, "shown", "--nolog", "-o", "-")
	if r.code != exitOK || r.err != "" {
		t.Errorf("exit code %d, standard error %q, want 0 and nothing", r.code, r.err)
	}
	for _, want := range []string{"CONCURRENT_REQUESTS=3", "RETRY_TIMES=8 (CRAWL_RETRY_TIMES)"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("got %q, want %s in it", r.out, want)
		}
	}
}

// TestSignalsInARun sends one, two or three signals to a crawl that waits for a
// site that does not answer.
func TestSignalsInARun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		signals []os.Signal
		code    int
		exits   int
		log     string
	}{
		"second cuts":  {[]os.Signal{syscall.SIGTERM, os.Interrupt}, exitTerminated, 0, "INFO: Received SIGINT after SIGTERM, forcing shutdown\n"},
		"third leaves": {[]os.Signal{os.Interrupt, os.Interrupt, syscall.SIGTERM}, exitInterrupted, 1, "INFO: Received SIGINT twice, forcing shutdown\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			signals := make(chan os.Signal, len(tc.signals))
			var asked atomic.Bool
			site := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if asked.CompareAndSwap(false, true) {
					for _, sig := range tc.signals {
						signals <- sig
					}
				}
				<-r.Context().Done()
			}))
			defer site.Close()
			r := runIn(t, func(sys *system) { sys.Signals = signals }, "shop", "-a", "site="+site.URL, "-s", "SHUTDOWN_GRACE=1m")
			if r.code != tc.code || len(r.exits) > tc.exits {
				t.Errorf("exit code %d, %d calls of Exit, want %d and at most %d", r.code, len(r.exits), tc.code, tc.exits)
			}
			if !strings.Contains(r.err, tc.log) {
				t.Errorf("got the log\n%s\nwant in it %q", r.err, tc.log)
			}
		})
	}
}

func TestFirstSignalInARun(t *testing.T) {
	t.Parallel()
	signals := make(chan os.Signal, 1)
	pages := crawltest.NewSite(crawltest.Config{Pages: 100})
	interrupt := sync.OnceFunc(func() { signals <- os.Interrupt })
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		interrupt()
		pages.ServeHTTP(w, r)
	}))
	defer site.Close()
	r := runIn(t, func(sys *system) { sys.Signals = signals }, "shop", "-a", "site="+site.URL, "-s", "CONCURRENT_REQUESTS=1")
	if r.code != exitInterrupted || len(r.exits) > 0 || !strings.Contains(r.err, "Closing spider (shutdown)") {
		t.Errorf("exit code %d, log\n%s", r.code, r.err)
	}
}

// TestHelpFitsAScreen holds that the help is read without scrolling.
func TestHelpFitsAScreen(t *testing.T) {
	t.Parallel()
	help := runIn(t, nil, "--help").out
	lines := strings.Split(help, "\n")
	if len(lines) > 36 {
		t.Errorf("the help has %d lines, want at most 36:\n%s", len(lines), help)
	}
	topics := [][]string{{"help", "job"}}
	for _, name := range []string{"status", "queue", "seen", "failed", "retry-failed", "drop", "verify", "repair"} {
		topics = append(topics, []string{"help", "job", name})
	}
	for _, topic := range append(topics, [][]string{{"--help"}, {"help", "crawl"}, {"help", "list"}, {"help", "exit-codes"}, {"help", "settings"}, {"help", "demo"}, {"help", "startproject"}, {"help", "genspider"}}...) {
		for line := range strings.Lines(runIn(t, nil, topic...).out) {
			if len(line) > 81 {
				t.Errorf("help %v: a line of %d characters: %s", topic, len(line)-1, line)
			}
		}
	}
}

func TestVersionText(t *testing.T) {
	t.Parallel()
	vcs := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc123"}, {Key: "vcs.modified", Value: "true"}}
	for name, tc := range map[string]struct {
		version string
		build   *debug.BuildInfo
		want    string
	}{
		"nothing known": {"", nil, "Skein development version\n"},
		"by the linker": {"1.2.3", &debug.BuildInfo{Main: debug.Module{Path: module, Version: "(devel)"}}, "Skein 1.2.3\n"},
		"go install":    {"", &debug.BuildInfo{Main: debug.Module{Path: module, Version: "v1.2.3"}}, "Skein v1.2.3\n"},
		"commit":        {"1.2.3", &debug.BuildInfo{Main: debug.Module{Path: module}, Settings: vcs}, "Skein 1.2.3\nCommit abc123 with changes\n"},
		"a program of somebody": {
			"", &debug.BuildInfo{
				Main: debug.Module{Path: "example.org/shop", Version: "v0.1.0"},
				Deps: []*debug.Module{{Path: module, Version: "v1.2.3"}},
			},
			"Skein v1.2.3\nProgram example.org/shop v0.1.0\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := versionText(&system{Version: tc.version, Build: tc.build})
			if rest, ok := strings.CutPrefix(got, tc.want); !ok || !strings.HasPrefix(rest, "Go 1.") {
				t.Errorf("got\n%s\nwant\n%sGo 1.…", got, tc.want)
			}
		})
	}
}

// brokenPipe is a stream whose reader went away.
type brokenPipe struct{ err error }

func (p brokenPipe) Write([]byte) (int, error) { return 0, &os.PathError{Op: "write", Err: p.err} }

func TestClosedOutput(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"list"}, {"version"}, {"help"}, {"--version"}} {
		for err, want := range map[error]int{syscall.EPIPE: exitOK, syscall.ENOSPC: exitFailed} {
			if want == exitFailed && args[0] != "list" && args[0] != "version" {
				continue // cobra writes the others and swallows the error
			}
			r := runIn(t, func(sys *system) { sys.Stdout = brokenPipe{err} }, args...)
			if r.code != want || (r.err == "") != (want == exitOK) {
				t.Errorf("%v with %v: exit code %d, standard error %q, want %d", args, err, r.code, r.err, want)
			}
		}
	}
}

// TestCompletion holds what the shell is offered. The line with a colon tells it
// what to do with the offers: 4 is no files, 2 is no space behind the word.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		typed []string
		want  []string
	}{
		{[]string{"crawl", "sh"}, []string{"shop\tReads the products of a shop.\n", "shown\n", ":4\n"}},
		{[]string{"se"}, []string{"settings\t"}},
		{[]string{"shop", "-s", "DOWNLOAD_DEL"}, []string{"DOWNLOAD_DELAY=\tLeast time", ":6\n"}},
		{[]string{"-s", "LOG_FORM"}, []string{"LOG_FORMAT=\t"}},
		{[]string{"shop", "-s", "LOG_FORMAT="}, []string{"LOG_FORMAT=text\nLOG_FORMAT=json\n", ":4\n"}},
		{[]string{"shop", "-s", "RETRY_ENABLED="}, []string{"RETRY_ENABLED=True\nRETRY_ENABLED=False\n"}},
		{[]string{"shop", "-s", "SCHEDULER_START_DISK_QUEUE="}, []string{"SCHEDULER_START_DISK_QUEUE=None\n"}},
		{[]string{"shop", "-L", ""}, []string{"DEBUG\nINFO\n"}},
		{[]string{"shop", "--log-format", ""}, []string{"text\njson\n"}},
		{[]string{"shop", "-a", ""}, []string{"category=\twhat to look for\n", ":6\n"}},
		{[]string{"settings", "--get", "JOBD"}, []string{"JOBDIR\tDirectory", ":4\n"}},
		{[]string{"settings", "sho"}, []string{"shop\t", "shown\n"}},
		{[]string{"genspider", ""}, []string{"basic\n"}},
	} {
		got := runIn(t, nil, append([]string{"__complete"}, tc.typed...)...).out
		for _, want := range tc.want {
			if !strings.Contains(got, want) {
				t.Errorf("%q: got %q, want %q in it", tc.typed, got, want)
			}
		}
	}
	if got := runIn(t, nil, "__complete", "shop", "-s", "TELNET").out; strings.Contains(got, "TELNET") {
		t.Errorf("a setting that is not supported is offered: %q", got)
	}
	if script := runIn(t, nil, "completion", "bash").out; !strings.Contains(script, "crawl") {
		t.Errorf("crawl completion bash wrote %q", script)
	}
}

func TestArgErrorsOfNoSpider(t *testing.T) {
	t.Parallel()
	r := runIn(t, nil, "nobody", "-a", "x", "-s", "Y", "-o", "")
	if want := 4; r.code != exitUsage || strings.Count(r.err, "crawl: ") != want {
		t.Errorf("exit code %d and\n%swant %d lines", r.code, r.err, want)
	}
}

// What Go's own packages log goes where the log goes, if it is wanted at all.
func TestGoLog(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]bool{"DEBUG": true, "INFO": false} {
		taken := false
		r := runIn(t, func(sys *system) {
			sys.GoLog = func(to io.Writer) {
				taken = true
				if _, err := io.WriteString(to, "Unsolicited response\n"); err != nil {
					t.Error(err)
				}
			}
		}, "shown", "-L", level, "-o", "-")
		if got := strings.Contains(r.err, " [go] DEBUG: Unsolicited response\n"); !taken || got != want {
			t.Errorf("-L %s: the line is in the log = %v, want %v:\n%s", level, got, want, r.err)
		}
	}
}
