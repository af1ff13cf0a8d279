package cmd

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/settings"
)

// defaultComponent is the name in lines of nobody in particular.
const defaultComponent = "skein"

// logTarget is where the lines of a log go.
type logTarget struct {
	w      io.Writer
	colour bool
	close  func() error
}

// openLog opens the file of LOG_FILE, or takes standard error.
func openLog(sys *system, stderr io.Writer, s *settings.Settings) (logTarget, error) {
	name, _ := s.Lookup("LOG_FILE")
	if path := name.String(); path != "" && s.Bool("LOG_ENABLED") {
		f, err := os.OpenFile(path, logFlags(s.Bool("LOG_FILE_APPEND")), 0o666) // less what the umask takes
		if err != nil {
			return logTarget{}, fmt.Errorf("LOG_FILE=%q (%s): open the log: %w", path, name.Source, err)
		}
		return logTarget{w: f, close: f.Close}, nil
	}
	return logTarget{
		w: stderr, colour: sys.Terminal && wantsColour(sys.Environ), close: func() error { return nil },
	}, nil
}

func logFlags(appends bool) int {
	if appends {
		return os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	return os.O_WRONLY | os.O_CREATE | os.O_TRUNC
}

// newLog returns the log of a crawl, in Scrapy's layout or as zerolog's own JSON
// with a time. What is below LOG_LEVEL costs next to nothing.
func newLog(to logTarget, s *settings.Settings) zerolog.Logger {
	level := zerologLevel(s.String("LOG_LEVEL"))
	switch {
	case !s.Bool("LOG_ENABLED"):
		return zerolog.Nop()
	case s.String("LOG_FORMAT") == "json":
		return zerolog.New(zerolog.SyncWriter(to.w)).Level(level).With().Timestamp().Logger()
	}
	return zerolog.New(&lineWriter{w: to.w, now: time.Now, colour: to.colour}).Level(level)
}

// goLog turns what Go's own packages log into lines of the log. They are for who
// looks for a fault.
type goLog struct{ log zerolog.Logger }

// Write logs one line.
func (l goLog) Write(p []byte) (int, error) {
	l.log.Debug().Msg(strings.TrimSpace(string(p)))
	return len(p), nil
}

// wantsColour obeys https://no-color.org and terminals that know no colours.
func wantsColour(environ []string) bool {
	return getenv(environ, "NO_COLOR") == "" && getenv(environ, "TERM") != "dumb"
}

// zerologLevel translates a value of LOG_LEVEL.
func zerologLevel(name string) zerolog.Level {
	switch name {
	case "DEBUG":
		return zerolog.DebugLevel
	case "WARNING":
		return zerolog.WarnLevel
	case "ERROR":
		return zerolog.ErrorLevel
	case "CRITICAL":
		return zerolog.FatalLevel
	}
	return zerolog.InfoLevel
}

// levelName is the name that Python has for a level.
func levelName(l zerolog.Level) string {
	switch l {
	case zerolog.TraceLevel, zerolog.DebugLevel:
		return "DEBUG"
	case zerolog.WarnLevel:
		return "WARNING"
	case zerolog.ErrorLevel:
		return "ERROR"
	case zerolog.FatalLevel, zerolog.PanicLevel:
		return "CRITICAL"
	}
	return "INFO"
}

// levelColour is the escape sequence that begins a coloured level, or "".
func levelColour(l zerolog.Level) string {
	switch l {
	case zerolog.WarnLevel:
		return "\x1b[33m"
	case zerolog.ErrorLevel, zerolog.FatalLevel, zerolog.PanicLevel:
		return "\x1b[31m"
	}
	return ""
}

// A lineWriter turns the events of zerolog, which are JSON, into lines for
// people:
//
//	2026-11-30 15:02:28 [engine] INFO: Spider opened
//
// It is safe for concurrent use; each event is one write. An error of the
// stream is not reported: there is nowhere left to report it.
type lineWriter struct {
	w      io.Writer
	now    func() time.Time
	colour bool

	mu     sync.Mutex
	fields []field
	line   []byte
}

var _ zerolog.LevelWriter = (*lineWriter)(nil)

// Write writes an event without a level.
func (l *lineWriter) Write(event []byte) (int, error) { return l.WriteLevel(zerolog.NoLevel, event) }

// WriteLevel writes an event of zerolog as one line.
func (l *lineWriter) WriteLevel(level zerolog.Level, event []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fields = scanEvent(l.fields[:0], event)
	l.line = l.now().AppendFormat(l.line[:0], time.DateTime)
	l.line = appendHead(l.line, levelName(level), l.tint(level), l.fields)
	l.line = append(appendFields(l.line, l.fields), '\n')
	_, _ = l.w.Write(l.line)
	if cap(l.line) > maxKept {
		l.line = nil
	}
	return len(event), nil
}

// maxKept bounds the buffer that stays between lines, in bytes.
const maxKept = 64 << 10

func (l *lineWriter) tint(level zerolog.Level) string {
	if l.colour {
		return levelColour(level)
	}
	return ""
}
