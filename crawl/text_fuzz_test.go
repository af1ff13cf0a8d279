package crawl_test

import (
	"net/http"
	"testing"
	"unicode/utf8"

	"github.com/skeincrawl/skein/crawl"
)

// FuzzText: whatever a page is in, and says that it is in, its text is UTF-8, and
// what is found in it too.
func FuzzText(f *testing.F) {
	f.Add("text/html; charset=gb2312", []byte("<meta charset=koi8-r><a href='/\xe4?q=\xe4'>\xc4\xe3"))
	f.Add("text/html", []byte("\xff\xfe<\x00p\x00>\x00"))
	f.Add("text/xml", []byte("<?xml version='1.0' encoding='euc-jp'?><a href='x'/>"))
	f.Add("", []byte("\x1b$B\x1b(B\x8e\xff"))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		r := &crawl.Response{
			Request: &crawl.Request{URL: "http://a.test/"}, URL: "http://a.test/", Status: 200, Body: body,
			Header: http.Header{"Content-Type": {contentType}},
		}
		if text := r.Text(); !utf8.ValidString(text) {
			t.Errorf("%q of %q has the text %q", body, contentType, text)
		}
		for l := range r.Links() {
			if !utf8.ValidString(l.URL) {
				t.Errorf("%q of %q has the link %q", body, contentType, l)
			}
		}
	})
}
