package cmd

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// seen plays what was written on a terminal and returns what it shows: lines,
// the last one without its end.
func seen(written string) string {
	written = strings.NewReplacer(noWrap, "", wrap, "").Replace(written)
	var done strings.Builder
	line, at := "", 0
	for written != "" {
		switch {
		case strings.HasPrefix(written, "\r\x1b[K"):
			line, at, written = "", 0, written[4:]
		case written[0] == '\r':
			at, written = 0, written[1:]
		case written[0] == '\n':
			done.WriteString(line + "\n")
			line, at, written = "", 0, written[1:]
		default:
			line = line[:at] + written[:1] + line[min(at+1, len(line)):]
			at, written = at+1, written[1:]
		}
	}
	return done.String() + line
}

// TestScreen holds that lines of the log and items stand above the status line,
// whole, and that nothing is left of it at the end.
func TestScreen(t *testing.T) {
	t.Parallel()
	var term bytes.Buffer
	s := &screen{w: &term}
	out := s.over(&term)
	for _, step := range []struct{ show, write, want string }{
		{"", "a log line\n", "a log line\n"},
		{"a long status", "", "a log line\na long status"},
		{"", "", "a log line\n"},
		{"status", "", "a log line\nstatus"},
		{"status", "x\ny\n", "a log line\nx\ny\nstatus"},
		{"status", "[{", "a log line\nx\ny\n[{"}, // of somebody who has not ended the line
		{"status 2", "", "a log line\nx\ny\n[{"},
		{"status 2", "}]\n", "a log line\nx\ny\n[{}]\nstatus 2"},
		{"", "", "a log line\nx\ny\n[{}]\n"},
	} {
		if step.write == "" {
			s.show(step.show)
		} else if n, err := out.Write([]byte(step.write)); n != len(step.write) || err != nil {
			t.Errorf("Write = %d, %v", n, err)
		}
		if got := seen(term.String()); got != step.want {
			t.Errorf("after %q and %q: the terminal shows\n%q, want\n%q", step.show, step.write, got, step.want)
		}
	}
}

// steps is a crawl of ten pages a second.
type steps struct{ start time.Time }

func (s steps) Stats() map[string]any {
	n := int64(time.Since(s.start).Seconds() * 10)
	return map[string]any{"response_received_count": n, "item_scraped_count": 2 * n, "start_time": s.start}
}

func (s steps) Queued() int64 { return 7 }

func TestProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var term lockedBuffer
		p := newProgress(&screen{w: &term}, steps{time.Now()})
		shows := func(want string) {
			t.Helper()
			synctest.Wait()
			if got := seen(term.String()); got != want {
				t.Errorf("the terminal shows %q, want %q", got, want)
			}
		}
		shows("")
		time.Sleep(1100 * time.Millisecond) // between two looks
		shows("10 pages (600/min), 20 items, 7 queued")
		time.Sleep(time.Minute)
		shows("610 pages (600/min), 1220 items, 7 queued")
		p.close()
		shows("")
	})
}

// crawlOnTerminal crawls a site that waits once until the status line was there,
// and returns what was written to the terminal.
func crawlOnTerminal(t *testing.T, adapt func(*system), args ...string) string {
	t.Helper()
	var first atomic.Bool
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if first.CompareAndSwap(false, true) {
			timer := time.NewTimer(3 * tick / 2)
			defer timer.Stop()
			<-timer.C
		}
		fmt.Fprint(w, "<title>x</title>")
	}))
	t.Cleanup(site.Close)
	var term lockedBuffer
	r := runIn(t, func(sys *system) {
		sys.Terminal, sys.OutTerminal, sys.Stdout, sys.Stderr = true, true, &term, &term
		if adapt != nil {
			adapt(sys)
		}
	}, append([]string{"site", "-a", "start=" + site.URL + "/", "-s", "ROBOTSTXT_OBEY=False"}, args...)...)
	if r.code != exitOK {
		t.Errorf("exit code %d", r.code)
	}
	return term.String()
}

var statusLine = regexp.MustCompile(`\d+ pages \(\d+/min\)`)

func TestStatusLine(t *testing.T) {
	t.Parallel()
	written := crawlOnTerminal(t, nil, "-o", "-")
	if !strings.Contains(written, "0 pages (0/min), 0 items, 0 queued") {
		t.Errorf("no status line in\n%q", written)
	}
	shown := seen(written)
	if statusLine.MatchString(shown) || strings.Contains(shown, "\x1b") {
		t.Errorf("something is left of the status line:\n%s", shown)
	}
	if !strings.Contains(shown, `","status":200,"depth":0}`+"\n") || !strings.HasSuffix(shown, "INFO: Spider closed (finished)\n") {
		t.Errorf("the terminal shows\n%s\nwant the item and the end of the log", shown)
	}
}

func TestNoStatusLine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		adapt func(*system)
		args  []string
	}{
		"--no-progress": {nil, []string{"--no-progress"}},
		"no terminal":   {func(sys *system) { sys.Terminal = false }, nil},
		"dumb terminal": {func(sys *system) { sys.Environ = append(sys.Environ, "TERM=dumb") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := crawlOnTerminal(t, tc.adapt, tc.args...); statusLine.MatchString(got) || strings.Contains(got, "\r") {
				t.Errorf("got a status line: %q", got)
			}
		})
	}
}

// A lockedBuffer is a buffer that several streams write to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
