package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

// logged returns the line that f writes, without its time.
func logged(t testing.TB, colour bool, f func(zerolog.Logger)) string {
	t.Helper()
	var b bytes.Buffer
	now := func() time.Time { return time.Date(2026, 11, 30, 15, 2, 28, 999, time.UTC) }
	f(zerolog.New(&lineWriter{w: &b, now: now, colour: colour}))
	line, ok := strings.CutPrefix(b.String(), "2026-11-30 15:02:28 ")
	if !ok {
		t.Fatalf("no time: %q", b.String())
	}
	return line
}

func TestLogLine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		log  func(zerolog.Logger)
		want string
	}{
		"plain":   {func(l zerolog.Logger) { l.Info().Str(crawl.LogComponent, "engine").Msg("Spider opened") }, "[engine] INFO: Spider opened\n"},
		"nobody":  {func(l zerolog.Logger) { l.Info().Msg("x") }, "[skein] INFO: x\n"},
		"empty":   {func(l zerolog.Logger) { l.Info().Msg("") }, "[skein] INFO: \n"},
		"debug":   {func(l zerolog.Logger) { l.Debug().Msg("x") }, "[skein] DEBUG: x\n"},
		"trace":   {func(l zerolog.Logger) { l.Trace().Msg("x") }, "[skein] DEBUG: x\n"},
		"warning": {func(l zerolog.Logger) { l.Warn().Msg("x") }, "[skein] WARNING: x\n"},
		"error":   {func(l zerolog.Logger) { l.Error().Msg("x") }, "[skein] ERROR: x\n"},
		"critical": {
			func(l zerolog.Logger) { l.WithLevel(zerolog.FatalLevel).Msg("x") }, "[skein] CRITICAL: x\n",
		},
		"no level": {func(l zerolog.Logger) { l.Log().Msg("x") }, "[skein] INFO: x\n"},
		"error field": {
			func(l zerolog.Logger) { l.Error().Err(errors.New("refused")).Msg("Error downloading") },
			"[skein] ERROR: Error downloading error=\"refused\"\n",
		},
		"fields": {
			func(l zerolog.Logger) {
				l.Info().Str("url", "http://x/?a").Str("why", "two words").Int("n", 3).Bool("ok", true).Str("none", "").Interface("m", map[string]any{"a": []int{1, 2}, "b": "}"}).Msg("x")
			},
			`[skein] INFO: x url=http://x/?a why="two words" n=3 ok=true none="" m={"a":[1,2],"b":"}"}` + "\n",
		},
		"lines": {func(l zerolog.Logger) { l.Info().Msg("Dumping stats:\n{'a': 1,\n\t'b\\\"': 2}") }, "[skein] INFO: Dumping stats:\n{'a': 1,\n\t'b\\\"': 2}\n"},
		"later component": {
			func(l zerolog.Logger) {
				a := l.With().Str(crawl.LogComponent, "engine").Logger()
				b := a.With().Str(crawl.LogComponent, "retry").Logger()
				b.Info().Msg("x")
			}, "[retry] INFO: x\n",
		},
		"terminal":  {func(l zerolog.Logger) { l.Info().Msg("\x1b[2Jgone\r\x7f") }, `[skein] INFO: \u001b[2Jgone\r\u007f` + "\n"},
		"other":     {func(l zerolog.Logger) { l.Info().Msg("größer 日本 😀") }, "[skein] INFO: größer 日本 😀\n"},
		"raw rune":  {func(l zerolog.Logger) { l.Info().RawJSON("message", []byte(`"\u00e9\ud83d\ude00\ud83d\/"`)).Send() }, "[skein] INFO: é😀\ufffd/\n"},
		"not utf-8": {func(l zerolog.Logger) { l.Info().Msg("a\xffb") }, "[skein] INFO: a\ufffdb\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := logged(t, false, tc.log); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestLogColour(t *testing.T) {
	t.Parallel()
	got := logged(t, true, func(l zerolog.Logger) { l.Error().Msg("x") })
	if want := "[skein] \x1b[31mERROR\x1b[0m: x\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := logged(t, true, func(l zerolog.Logger) { l.Info().Msg("x") }); strings.Contains(got, "\x1b") {
		t.Errorf("an ordinary line has a colour: %q", got)
	}
	for env, want := range map[string]bool{"": true, "NO_COLOR=1": false, "NO_COLOR=": true, "TERM=dumb": false, "TERM=xterm": true} {
		if got := wantsColour([]string{env}); got != want {
			t.Errorf("wantsColour(%s) = %v, want %v", env, got, want)
		}
	}
}

// TestLogLevels holds that LOG_LEVEL and LOG_ENABLED decide before an event is
// made.
func TestLogLevels(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		assign string
		want   zerolog.Level
	}{
		{"LOG_LEVEL=DEBUG", zerolog.DebugLevel},
		{"LOG_LEVEL=INFO", zerolog.InfoLevel},
		{"LOG_LEVEL=WARNING", zerolog.WarnLevel},
		{"LOG_LEVEL=ERROR", zerolog.ErrorLevel},
		{"LOG_LEVEL=CRITICAL", zerolog.FatalLevel},
		{"LOG_ENABLED=False", zerolog.Disabled},
	} {
		s, _, err := settings.NewRegistry().Builder().Assign(tc.assign).Build()
		if err != nil {
			t.Fatal(err)
		}
		log := newLog(logTarget{w: io.Discard}, s)
		if got := log.GetLevel(); got != tc.want {
			t.Errorf("%s: level %v, want %v", tc.assign, got, tc.want)
		}
	}
}

// FuzzLogLine holds that every message and field that zerolog writes becomes one
// write without a control character that a terminal could obey.
func FuzzLogLine(f *testing.F) {
	f.Add("Spider opened", "key", "value")
	f.Add("a\nb\x1b[2J\\", "k\"", "\\\"}")
	f.Add("\xff\u2028😀", "", "\x00")
	f.Fuzz(func(t *testing.T, msg, key, value string) {
		line := logged(t, false, func(l zerolog.Logger) { l.Info().Str(key, value).Msg(msg) })
		if !strings.HasSuffix(line, "\n") {
			t.Errorf("no end of line: %q", line)
		}
		if i := strings.IndexFunc(line, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }); i >= 0 {
			t.Errorf("a control character at %d: %q", i, line)
		}
	})
}

// FuzzScanEvent holds that anything at all can be written, and that of valid
// events no field is lost.
func FuzzScanEvent(f *testing.F) {
	f.Add([]byte(`{"level":"info","message":"x","n":1,"o":{"a":[1,"]"]}}`))
	f.Add([]byte(`{"a":"\u12`))
	f.Add([]byte(`{"a":`))
	f.Add([]byte(`[1`))
	f.Add([]byte(`{"":"\\"}`))
	f.Fuzz(func(t *testing.T, event []byte) {
		w := &lineWriter{w: io.Discard, now: time.Now}
		if n, err := w.WriteLevel(zerolog.InfoLevel, event); n != len(event) || err != nil {
			t.Errorf("WriteLevel = %d, %v, want %d", n, err, len(event))
		}
		var valid map[string]json.RawMessage
		if json.Unmarshal(event, &valid) != nil || bytes.ContainsAny(event, " \t\r\n\\") {
			return // zerolog writes no spaces; an escaped key has two spellings
		}
		got := map[string]string{}
		for _, f := range scanEvent(nil, event) {
			got[string(f.key)] = string(f.value)
		}
		for key, value := range valid {
			if key == strings.ToValidUTF8(key, "") && !strings.ContainsRune(key, '\ufffd') && got[key] != string(value) {
				t.Errorf("field %q is %q, want %q", key, got[key], value)
			}
		}
	})
}

func BenchmarkLogLine(b *testing.B) {
	log := zerolog.New(&lineWriter{w: io.Discard, now: time.Now}).With().Str(crawl.LogComponent, "engine").Logger()
	b.ReportAllocs()
	for b.Loop() {
		log.Info().Str("url", "http://example.com/a").Msg("Crawled a page\nand more")
	}
}

func BenchmarkLogDisabled(b *testing.B) {
	log := zerolog.New(&lineWriter{w: io.Discard, now: time.Now}).Level(zerolog.InfoLevel)
	b.ReportAllocs()
	for b.Loop() {
		log.Debug().Str("url", "http://example.com/a").Msg("Crawled a page")
	}
}
