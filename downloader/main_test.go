package downloader

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// logBuffer collects log lines of several goroutines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// wants fails the test unless the log has a line with each text, and as often
// as it is given.
func (l *logBuffer) wants(t *testing.T, texts ...string) {
	t.Helper()
	want := map[string]int{}
	for _, s := range texts {
		want[s]++
	}
	for s, n := range want {
		if got := strings.Count(l.String(), s); got != n {
			t.Errorf("log has %q %d times, want %d:\n%s", s, got, n, l.String())
		}
	}
}

// newEnv returns an Env with some settings, and its log.
func newEnv(t testing.TB, values map[string]any) (*crawl.Env, *logBuffer) {
	t.Helper()
	s, _, err := settings.New().Spider("test", values).Build()
	if err != nil {
		t.Fatalf("settings: %v", err)
	}
	log := &logBuffer{}
	return &crawl.Env{Settings: s, Stats: crawl.NewStats(), Signals: &crawl.Signals{}, Log: zerolog.New(log)}, log
}
