package downloader

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// fileURL writes a file and returns its URL.
func fileURL(t *testing.T, name, content string) string {
	t.Helper()
	full := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + strings.ReplaceAll("/"+strings.TrimPrefix(filepath.ToSlash(full), "/"), " ", "%20")
}

var fromStart = crawl.Trail{Start: true}

func TestFile(t *testing.T) {
	t.Parallel()
	router := Router{"file": NewFile(FileConfig{MaxSize: 100}), "data": Data{}}
	for name, want := range map[string]string{
		"a page.HTML": "text/html", "x.xml": "application/xml", "x.xhtml": "application/xhtml+xml", "x.json": "application/json",
		"x.txt": "text/plain", "x": "", "x.bin": "",
	} {
		u := fileURL(t, name, "<p>"+name)
		resp, err := router.Fetch(t.Context(), &crawl.Request{URL: u + "?x=1#top", Trail: fromStart})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if string(resp.Body) != "<p>"+name || resp.Status != http.StatusOK || resp.Header.Get("Content-Type") != want || resp.URL != u+"?x=1" {
			t.Errorf("%s: %v, %v with %q", name, resp, resp.Header, resp.Body)
		}
	}
	if resp, err := router.Fetch(t.Context(), &crawl.Request{URL: fileURL(t, "empty", ""), Trail: fromStart}); err != nil || len(resp.Body) != 0 {
		t.Errorf("an empty file: %v, %v", resp, err)
	}
}

// A page must not make the crawl read what lies on its machine.
func TestFileOnlyFromStart(t *testing.T) {
	t.Parallel()
	u := fileURL(t, "secret", "x")
	for name, trail := range map[string]crawl.Trail{
		"a link":              {Depth: 1},
		"a copy of its start": {Start: true, Depth: 1},
		"no depth":            {},
		"a redirect":          {Start: true, Redirects: []crawl.Hop{{URL: "http://a.test/", Status: 302}}},
	} {
		_, err := NewFile(FileConfig{}).Fetch(t.Context(), &crawl.Request{URL: u, Trail: trail})
		if crawl.KindOf(err) != crawl.FailUnsupported || !strings.Contains(err.Error(), "start requests only") {
			t.Errorf("%s: error = %v, want unsupported", name, err)
		}
	}
}

func TestFileErrors(t *testing.T) {
	t.Parallel()
	h := NewFile(FileConfig{MaxSize: 10})
	big := fileURL(t, "big", strings.Repeat("x", 11))
	for u, want := range map[string]struct {
		kind crawl.FailureKind
		name string
	}{
		big:                  {crawl.FailTooLarge, "DownloadCancelledError"},
		big + "-not":         {crawl.FailOther, "FileNotFoundError"},
		"file:///":           {crawl.FailOther, "OSError"},
		"file://host.test/x": {crawl.FailUnsupported, "UnsupportedURLSchemeError"},
		"file:///etc%00/x":   {crawl.FailUnsupported, "UnsupportedURLSchemeError"},
	} {
		_, err := h.Fetch(t.Context(), &crawl.Request{URL: u, Trail: fromStart})
		if crawl.KindOf(err) != want.kind || ErrorName(err) != want.name {
			t.Errorf("%s: %v, %s %s, want %+v", u, err, crawl.KindOf(err), ErrorName(err), want)
		}
	}
	own := &crawl.Request{URL: big, Trail: fromStart, Options: crawl.Options{MaxSize: -1}}
	if _, err := h.Fetch(t.Context(), own); err != nil {
		t.Errorf("without a limit: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(crawl.ErrStopped)
	if _, err := h.Fetch(ctx, own); !errors.Is(err, crawl.ErrStopped) {
		t.Errorf("after the stop: %v", err)
	}
}

func TestFilePath(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		url     string
		windows bool
		want    string
	}{
		{"file:///path/to/test.txt", false, "/path/to/test.txt"},
		{"file:///path/to/test%20file.txt?bar=baz#x", false, "/path/to/test file.txt"},
		{"file://localhost/a%3Fb", false, "/a?b"},
		{"file:/a", false, "/a"},
		{"file:////foo/bar", false, "//foo/bar"},
		{"file:///C:/x%20y.html", true, "C:/x y.html"},
		{"file:///C:/x", false, "/C:/x"},
	} {
		if got, err := filePath(tt.url, tt.windows); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.url, got, err, tt.want)
		}
	}
}
