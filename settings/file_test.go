package settings

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The same settings in every format; nested keys keep their case and their
// dots, and what a lenient reader turns into zero does not become zero.
func TestFileFormats(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"crawl.yaml": "DOWNLOAD_DELAY: 0.25\nDOWNLOAD_MAXSIZE: 1MiB\nLOG_LEVEL: 10\nRETRY_HTTP_CODES: [500, 503]\n" +
			"DOWNLOAD_TIMEOUT: 90s\nDEFAULT_REQUEST_HEADERS:\n  X.Trace-ID: a.B\nDOWNLOADER_MIDDLEWARES: {my.Own: 5, retry: null}\nRETRY_ENABLED: no\n",
		"crawl.yml": "\ufeffDOWNLOAD_DELAY: '0.25'\nDOWNLOAD_MAXSIZE: 1048576\nLOG_LEVEL: debug\nRETRY_HTTP_CODES: 500,503\n" +
			"DOWNLOAD_TIMEOUT: 90\nDEFAULT_REQUEST_HEADERS: X.Trace-ID=a.B\nDOWNLOADER_MIDDLEWARES: my.Own=5,retry=None\nRETRY_ENABLED: 0\n",
		"crawl.toml": "DOWNLOAD_DELAY = 0.25\nDOWNLOAD_MAXSIZE = 1_048_576\nLOG_LEVEL = 'DEBUG'\nRETRY_HTTP_CODES = [500, 503]\n" +
			"DOWNLOAD_TIMEOUT = '1m30s'\nRETRY_ENABLED = false\n[DEFAULT_REQUEST_HEADERS]\n'X.Trace-ID' = 'a.B'\n[DOWNLOADER_MIDDLEWARES]\n'my.Own' = 5\nretry = 'None'\n",
		"crawl.json": `{"DOWNLOAD_DELAY": 0.25, "DOWNLOAD_MAXSIZE": 1048576, "LOG_LEVEL": "10", "RETRY_HTTP_CODES": [500, 503.0],` +
			`"DOWNLOAD_TIMEOUT": 90.0, "DEFAULT_REQUEST_HEADERS": {"X.Trace-ID": "a.B"}, "DOWNLOADER_MIDDLEWARES": {"my.Own": 5, "retry": null}, "RETRY_ENABLED": "False"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := write(t, t.TempDir(), name, text)
			s, warnings, err := NewRegistry().Builder().File(file).Build()
			if err != nil || len(warnings) > 0 {
				t.Fatal(err, warnings)
			}
			for name, want := range map[string]any{
				"DOWNLOAD_DELAY": 250 * time.Millisecond, "DOWNLOAD_MAXSIZE": int64(1 << 20), "LOG_LEVEL": "DEBUG",
				"RETRY_HTTP_CODES": []int{500, 503}, "DOWNLOAD_TIMEOUT": 90 * time.Second, "RETRY_ENABLED": false,
				"DEFAULT_REQUEST_HEADERS": map[string]any{"X.Trace-ID": "a.B"},
				"DOWNLOADER_MIDDLEWARES":  map[string]int{"my.Own": 5, "retry": Disabled},
			} {
				if got, _ := s.Lookup(name); !reflect.DeepEqual(got.V, want) || got.Source != (Source{FromFile, file}) {
					t.Errorf("%s = %#v, want %#v from %s", name, got, want, file)
				}
			}
		})
	}
}

func TestFileErrors(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"broken.yaml": "A: [1",
		"list.yaml":   "- A\n",
		"twice.yaml":  "JOBDIR: a\nJOBDIR: b\n",
		"broken.toml": "A = ",
		"empty.json":  "",
		"crawl.env":   "JOBDIR=x",
		"noending":    "JOBDIR: x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := write(t, t.TempDir(), name, text)
			s, _, err := NewRegistry().Builder().File(file).Build()
			if s != nil || err == nil || !strings.HasPrefix(err.Error(), file+": ") {
				t.Errorf("Build() = %v, %v; want an error that begins with the file", s, err)
			}
		})
	}
}

func TestEmptyFile(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "crawl.yaml", "# nothing yet\n")
	if _, warnings, err := NewRegistry().Builder().File(file).Build(); err != nil || len(warnings) > 0 {
		t.Errorf("Build: %v, %v", err, warnings)
	}
}

func TestFindFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got, ok := FindFile(dir); ok {
		t.Errorf("FindFile in an empty directory = %q", got)
	}
	if err := os.Mkdir(filepath.Join(dir, "crawl.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"crawl.json", "crawl.toml", "crawl.yml"} { // each beats the one before
		want := write(t, dir, name, "")
		if got, ok := FindFile(dir); !ok || got != want {
			t.Errorf("FindFile = %q, %v; want %q", got, ok, want)
		}
	}
	sub := filepath.Join(dir, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, ok := FindFile(sub); ok {
		t.Errorf("FindFile looked in the parent: %q", got)
	}
}
