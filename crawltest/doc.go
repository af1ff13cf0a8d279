// Package crawltest helps to test spiders and crawlers: responses made from
// saved pages, a web site whose every page is known beforehand and that
// misbehaves on demand, and a server full of traps that were met in the wild.
package crawltest

import (
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// Response returns a response of status 200 to a GET of url, as a callback gets
// it: an HTML page in UTF-8. Change its fields before it is used to test other
// kinds. See [crawl.Run] for how to call the callback.
func Response(url string, body []byte) *crawl.Response {
	return &crawl.Response{
		Request: &crawl.Request{URL: url},
		URL:     url,
		Status:  http.StatusOK,
		Header:  http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		Body:    body,
		Proto:   "HTTP/1.1",
	}
}

// ResponseFile returns a response with the content of a file. Its Content-Type
// is that of the file's extension. The test fails if the file cannot be read.
func ResponseFile(tb testing.TB, url, file string) *crawl.Response {
	tb.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		tb.Fatalf("response for %s: %v", url, err)
	}
	r := Response(url, body)
	if t := mime.TypeByExtension(filepath.Ext(file)); t != "" {
		r.Header.Set("Content-Type", t)
	}
	return r
}
