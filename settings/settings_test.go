package settings

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func build(t *testing.T, args ...string) *Settings {
	t.Helper()
	b := NewRegistry().Builder()
	for _, arg := range args {
		b.Assign(arg)
	}
	s, _, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func panics(t *testing.T, what, words string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if p, _ := recover().(string); !strings.Contains(p, words) {
			t.Errorf("%s: panic %q, want one with %q", what, p, words)
		}
	}()
	f()
}

func TestDecode(t *testing.T) {
	t.Parallel()
	type config struct {
		Delay   time.Duration  `setting:"DOWNLOAD_DELAY"`
		Codes   []int          `setting:"RETRY_HTTP_CODES"`
		Max     int64          `setting:"DOWNLOAD_MAXSIZE"`
		Orders  map[string]int `setting:"SPIDER_MIDDLEWARES"`
		Verify  bool           `setting:"DOWNLOAD_VERIFY_CERTIFICATES"`
		Other   string
		private int
	}
	got := Decode[config](build(t, "DOWNLOAD_DELAY=0.25", "SPIDER_MIDDLEWARES=depth=1", "RETRY_HTTP_CODES=500"))
	if got.Delay != 250*time.Millisecond || !slices.Equal(got.Codes, []int{500}) || got.Max != 64<<20 ||
		got.Orders["depth"] != 1 || !got.Verify || got.Other != "" || got.private != 0 {
		t.Errorf("Decode = %+v", got)
	}
}

func TestDecodePanics(t *testing.T) {
	t.Parallel()
	s := build(t)
	panics(t, "unknown", "no setting NOPE", func() {
		Decode[struct {
			A int `setting:"NOPE"`
		}](s)
	})
	panics(t, "unsupported", "no setting TELNETCONSOLE_HOST", func() {
		Decode[struct {
			A int `setting:"TELNETCONSOLE_HOST"`
		}](s)
	})
	panics(t, "other type", "cannot hold DOWNLOAD_DELAY", func() {
		Decode[struct {
			A int `setting:"DOWNLOAD_DELAY"`
		}](s)
	})
	panics(t, "unexported", "cannot hold RETRY_TIMES", func() {
		Decode[struct {
			a int `setting:"RETRY_TIMES"`
		}](s)
	})
}

func TestGetters(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	r.Declare(Def{Name: "RATIO", Default: 0.5, Help: "x"})
	r.Declare(Def{Name: "TAGS", Default: []string{"a"}, Help: "x"})
	s, _, err := r.Builder().Assign("RATIO=2").Build()
	if err != nil {
		t.Fatal(err)
	}
	if s.String("LOG_LEVEL") != "INFO" || !s.Bool("LOG_ENABLED") || s.Int("CONCURRENT_REQUESTS") != 16 ||
		s.Size("DOWNLOAD_WARNSIZE") != 33554432 || s.Duration("DOWNLOAD_TIMEOUT") != 3*time.Minute ||
		s.Float("RATIO") != 2 || !slices.Equal(s.Strings("TAGS"), []string{"a"}) || s.Ints("RETRY_HTTP_CODES")[7] != 429 ||
		s.Orders("SPIDER_MIDDLEWARES_BASE")["start"] != 25 || s.Map("DEFAULT_REQUEST_HEADERS")["Accept-Language"] != "en" {
		t.Error("a getter does not return its default")
	}
	panics(t, "unknown", "no setting NOPE", func() { s.Int("NOPE") })
	panics(t, "unsupported", "no setting TELNETCONSOLE_ENABLED", func() { s.Bool("TELNETCONSOLE_ENABLED") })
	panics(t, "other type", "is a int, not a string", func() { s.String("RETRY_TIMES") })
}

// ST-05: X over X_BASE, None removes, equal orders by name.
func TestComponents(t *testing.T) {
	t.Parallel()
	s := build(t, `DOWNLOADER_MIDDLEWARES={"mine": 50, "retry": null, "stats": 1, "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": null}`)
	want := []Component{{"stats", 1}, {"mine", 50}, {"offsite", 50}, {"robotstxt", 100}, {"httpauth", 300}, {"downloadtimeout", 350}, {"defaultheaders", 400}, {"useragent", 500}, {"metarefresh", 580}, {"httpcompression", 590}, {"cookies", 700}, {"httpproxy", 750}, {"httpcache", 900}}
	if got := s.Components("DOWNLOADER_MIDDLEWARES"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	want = []Component{{"start", 25}, {"httperror", 50}, {"referer", 700}, {"urllength", 800}, {"depth", 900}}
	if got := s.Components("SPIDER_MIDDLEWARES"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	panics(t, "no components", "no setting", func() { s.Components("RETRY_TIMES") })
}

func TestAll(t *testing.T) {
	t.Parallel()
	var names []string
	for name, v := range build(t, "JOBDIR=crawls/x").All() {
		names = append(names, name)
		if name == "JOBDIR" && (v.String() != "crawls/x" || v.Source.String() != "-s JOBDIR" || v.Source.Origin.String() != "command line") {
			t.Errorf("JOBDIR = %v from %v", v, v.Source)
		}
		if name == "LOG_LEVEL" && v.Source.String() != "default" {
			t.Errorf("LOG_LEVEL from %v, want default", v.Source)
		}
	}
	supported := 0
	for d := range NewRegistry().Defs() {
		if d.Status == Supported {
			supported++
		}
	}
	if !slices.IsSorted(names) || len(names) != supported || supported < 100 {
		t.Errorf("%d names, want all %d that are supported in order: %v", len(names), supported, names)
	}
	for range build(t).All() {
		break // a caller may stop early
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, "None"},
		{true, "True"},
		{0.5, "0.5"},
		{250 * time.Millisecond, "250ms"},
		{int64(1024), "1024"},
		{[]int{1, 2}, "[1,2]"},
		{map[string]int{"b": Disabled, "a": 1}, `{"a":1,"b":null}`},
		{map[string]any{"A": "<a&b>"}, `{"A":"<a&b>"}`},
	} {
		if got := Format(c.v); got != c.want {
			t.Errorf("Format(%#v) = %q, want %q", c.v, got, c.want)
		}
	}
	if got := (Value{V: "x", Secret: true}).String(); got != "***" {
		t.Errorf("a secret shows as %q", got)
	}
}

// SCH-16 for None and "", and crawls/%(name)s of a spider's own settings.
// What a component finds wrong names the setting, its value and where that was given, as what is found before.
func TestWrong(t *testing.T) {
	t.Parallel()
	s := build(t, "REFERRER_POLICY=mine", "HTTPAUTH_PASS=secret")
	cause := errors.New("there is no such thing")
	for name, want := range map[string]string{
		"REFERRER_POLICY": `REFERRER_POLICY="mine" (-s REFERRER_POLICY): there is no such thing`,
		"HTTPAUTH_PASS":   `HTTPAUTH_PASS="***" (-s HTTPAUTH_PASS): there is no such thing`,
	} {
		if err := s.Wrong(name, cause); err.Error() != want || !errors.Is(err, cause) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestJobDir(t *testing.T) {
	t.Parallel()
	for jobDir, want := range map[any]string{
		nil: "", "": "", "None": "", "crawls/x": "crawls/x", "crawls/%(name)s": "crawls/a%%b", "%(name)s/%(name)s": "a%%b/a%%b",
		"100%%": "100%", "%%(name)s": "%(name)s", "%%%(name)s": "%a%%b",
	} {
		s, _, err := New().Spider("a%%b", map[string]any{"JOBDIR": jobDir}).Build()
		if err != nil {
			t.Errorf("%v: %v", jobDir, err)
			continue
		}
		if got := s.JobDir("a%%b"); got != want {
			t.Errorf("JOBDIR=%v is %q, want %q", jobDir, got, want)
		}
	}
	_, _, err := New().Assign("JOBDIR=crawls/%(spider)s").Build()
	if err == nil || !strings.Contains(err.Error(), "JOBDIR") || !strings.Contains(err.Error(), "crawls/%(spider)s") {
		t.Errorf("error %v, want one that names the setting and its value", err)
	}
}
