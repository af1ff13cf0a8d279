package cmd

import (
	"io"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/settings"
)

// defaultComponent is the name in lines of nobody in particular.
const defaultComponent = "skein"

// newLog returns the log of a crawl: lines in Scrapy's layout on standard
// error. What is below LOG_LEVEL costs next to nothing.
func newLog(sys *system, s *settings.Settings) zerolog.Logger {
	if !s.Bool("LOG_ENABLED") {
		return zerolog.Nop()
	}
	w := &lineWriter{w: sys.Stderr, now: time.Now, colour: sys.Terminal && wantsColour(sys.Environ)}
	return zerolog.New(w).Level(zerologLevel(s.String("LOG_LEVEL")))
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
