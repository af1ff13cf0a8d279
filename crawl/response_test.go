package crawl_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// TestText is RS-06 to RS-09: which encoding a body has, and what is made of
// bytes that are none of its text.
func TestText(t *testing.T) {
	t.Parallel()
	jis := "<meta charset=iso-2022-jp>\x1b$B$\"\x1b(B" // seven bits, so valid UTF-8 as well
	for _, tc := range []struct{ what, contentType, body, want string }{
		{"nothing said, UTF-8", "text/html", "é", "é"},
		{"nothing said, not UTF-8", "text/html", "caf\xe9", "café"},
		{"no type", "", "caf\xe9", "café"},
		{"header", "text/html; charset=iso-8859-2", "\xb1", "ą"},
		{"RS-06 latin1 is windows-1252", "text/html; charset=iso-8859-1", "\x93a\x94", "“a”"},
		{"RS-06 gb2312 is gb18030", "text/html; charset=gb2312", "\x81\x30\x81\x34", "\u0084"},
		{"RS-06 None", "text/html; charset=None", "é", "é"},
		{"RS-08 a byte alone", "text/html", "\x80", "€"},
		{"RS-09 tags around", "text/html; charset=utf-8", "<p>a\xf0<b>b</b>", "<p>a\uFFFD<b>b</b>"},
		{"header, quoted, capitals", `TEXT/HTML; Charset="ISO-8859-2"`, "\xb1", "ą"},
		{"header, malformed", "text/html; charset=iso-8859-2; charset=utf-8", "\xb1", "ą"},
		{"header above meta", "text/html; charset=utf-8", "<meta charset=iso-8859-2>ą", "<meta charset=iso-8859-2>ą"},
		{"unknown header, then meta", "text/html; charset=nonsense", "<meta charset=iso-8859-2>\xb1", "<meta charset=iso-8859-2>ą"},
		{"meta", "text/html", "<meta charset=iso-8859-2>\xb1", "<meta charset=iso-8859-2>ą"},
		{"meta of an encoding of seven bits", "text/html", jis, "<meta charset=iso-2022-jp>あ"},
		{"meta says UTF-16", "text/html", "<meta charset=utf-16>é", "<meta charset=utf-16>é"},
		{"meta in a comment", "text/html", "<!-- <meta charset=iso-8859-2> -->\xb1", "<!-- <meta charset=iso-8859-2> -->±"},
		{"XML", "application/xml", `<?xml version="1.0" encoding="windows-1251"?>` + "\xe9", `<?xml version="1.0" encoding="windows-1251"?>й`},
		{"BOM", "text/html", "\xef\xbb\xbfé", "é"},
		{"RS-07 BOM above header", "text/html; charset=cp1251", "\xef\xbb\xbfé", "é"},
		{"BOM of UTF-16", "text/html", "\xff\xfeh\x00i\x00", "hi"},
		{"BOM of UTF-16, big-endian", "text/html", "\xfe\xff\x00h\x00i", "hi"},
		{"broken UTF-8", "text/html; charset=utf-8", "a\xffb\xe3\xab", "a\uFFFDb\uFFFD"},
		{"broken Shift_JIS", "text/html; charset=shift_jis", "a\x81", "a\uFFFD"},
		{"header, other quotes", "text/html; charset='iso-8859-2'", "\xb1", "±"},
		{"header, words beside quotes", `text/html; charset="iso-8859-2"x`, "\xb1", "±"},
		{"header, charset in quotes", `text/html; a="; charset=iso-8859-5"; charset=iso-8859-2`, "\xb1", "ą"},
		{"header, an empty one first", `text/html; charset=""; charset=iso-8859-2`, "\xb1", "ą"},
		{"header, no semicolon", "text/html charset=iso-8859-2, text/plain", "\xb1", "ą"},
		{"a name with low lines", "text/html; charset=ISO_8859_2", "\xb1", "ą"},
		{"a name of IANA", "text/html; charset=IBM850", "\x82", "é"},
		{"BOM of UTF-32", "text/html", "\xff\xfe\x00\x00h\x00\x00\x00", "h"},
		{"BOM of UTF-32, big-endian", "text/html", "\x00\x00\xfe\xff\x00\x00\x00h", "h"},
		{"meta says UTF-32", "text/html", "<meta charset=utf-32>é", "<meta charset=utf-32>é"},
		{"guessed", "text/html", "<p>\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0!", "<p>Привет, мир!"},
		{"NUL bytes", "text/html; charset=utf-8", "a\x00b", "a\x00b"},
		{"empty", "text/html", "", ""},
	} {
		t.Run(tc.what, func(t *testing.T) {
			t.Parallel()
			r := &crawl.Response{Header: http.Header{"Content-Type": {tc.contentType}}, Body: []byte(tc.body)}
			if got := r.Text(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestContentTypeAndIsHTML is RS-01 and RS-05, which Scrapy tells by the classes
// of responses; TestIsXML is the rest of them.
func TestContentTypeAndIsHTML(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		header, body, want string
		html               bool
	}{
		{"text/html", "", "text/html", true},
		{"Text/HTML; charset=utf-8", "", "text/html", true},
		{"text/html;;; x", "", "text/html", true},
		{"application/xhtml+xml", "", "application/xhtml+xml", true},
		{"application/vnd.wap.xhtml+xml", "", "application/vnd.wap.xhtml+xml", true},
		{"application/octet-stream", "<html>", "application/octet-stream", false},
		{"", "\tplain text\n\x00", "", false},
		{"application/json", "<html>", "application/json", false},
		{"text/plain", "<html>", "text/plain", false},
		{"", "<!DOCTYPE html><p>", "", true},
		{"", "  <html>", "", true},
		{"", "\x89PNG\r\n", "", false},
		{"", "", "", false},
	} {
		r := &crawl.Response{Header: http.Header{"Content-Type": {tc.header}}, Body: []byte(tc.body)}
		if got := r.ContentType(); got != tc.want {
			t.Errorf("ContentType of %q = %q, want %q", tc.header, got, tc.want)
		}
		if got := r.IsHTML(); got != tc.html {
			t.Errorf("IsHTML of %q, %q = %t, want %t", tc.header, tc.body, got, tc.html)
		}
	}
	if (&crawl.Response{}).IsHTML() {
		t.Error("IsHTML of nothing = true, want false")
	}
}

// TestJSON is RS-15: a body that says no encoding need not be UTF-8.
func TestJSON(t *testing.T) {
	t.Parallel()
	r := &crawl.Response{URL: "http://example.com/a", Body: []byte("\xef\xbb\xbf{\"a\":[1,2]}")}
	var v struct{ A []int }
	if err := r.JSON(&v); err != nil || len(v.A) != 2 {
		t.Errorf("JSON: %v, %v, want two numbers", v, err)
	}
	r = &crawl.Response{URL: "http://example.com/a", Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte("{\"b\":\"\x80\"}")}
	var s struct{ B string }
	if err := r.JSON(&s); err != nil || s.B != "€" {
		t.Errorf("JSON of windows-1252: %q, %v, want €", s.B, err)
	}
	r = &crawl.Response{URL: "http://example.com/a", Body: []byte("<html>")}
	if err := r.JSON(&v); err == nil || !strings.Contains(err.Error(), "http://example.com/a") {
		t.Errorf("JSON of a page: %v, want an error with its URL", err)
	}
}

// TestJoin is RS-10, and the white space of RS-11.
func TestJoin(t *testing.T) {
	t.Parallel()
	const page = "http://example.com/dir/page?x#f"
	for _, tc := range []struct{ what, body, ref, want string }{
		{"relative", "", "a", "http://example.com/dir/a"},
		{"parent", "", "../a", "http://example.com/a"},
		{"absolute", "", "https://example.org", "https://example.org/"},
		{"query", "", "?y", "http://example.com/dir/page?y"},
		{"fragment", "", "#g", "http://example.com/dir/page?x#g"},
		{"empty", "", "", "http://example.com/dir/page?x"},
		{"white space", "", " \n a\tb\r\n ", "http://example.com/dir/ab"},
		{"base", "<base href=http://example.org/x/>", "a", "http://example.org/x/a"},
		{"base without href, then one with", "<BASE target=_top><base href=/b/>", "a", "http://example.com/b/a"},
		{"the first base with href", "<base href=/b/><base href=/c/>", "a", "http://example.com/b/a"},
		{"an empty base is a base", "<base href=''><base href=/c/>", "a", "http://example.com/dir/a"},
		{"relative base", "<base href='sub/'>", "a", "http://example.com/dir/sub/a"},
		{"base with white space", "<base href='\n /b/ '>", "a", "http://example.com/b/a"},
		{"base in a comment", "<!-- <base href=/no/> -->", "a", "http://example.com/dir/a"},
		{"base in a script", "<script>'<base href=/no/>'</script>", "a", "http://example.com/dir/a"},
		{"base in noscript", "<noscript><base href=/no/></noscript>", "a", "http://example.com/dir/a"},
		{"unusable base", "<base href='http://[/'>", "a", "http://example.com/dir/a"},
		{"base of another scheme", "<base href='data:,x'>", "a", "http://example.com/dir/a"},
		{"basefont", "<basefont href=/no/>", "a", "http://example.com/dir/a"},
		{"base cut off", "<bas", "a", "http://example.com/dir/a"},
	} {
		t.Run(tc.what, func(t *testing.T) {
			t.Parallel()
			if got, err := htmlPage(page, tc.body).Join(tc.ref); got != tc.want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
	text := &crawl.Response{URL: page, Header: http.Header{"Content-Type": {"text/plain"}}, Body: []byte("<base href=/no/>")}
	if got, err := text.Join("a"); got != "http://example.com/dir/a" || err != nil {
		t.Errorf("base in a text: got %q, %v, want none", got, err)
	}
	if _, err := htmlPage(page, "").Join("http://[/"); err == nil {
		t.Error("an unusable reference: no error")
	}
	if _, err := htmlPage("http://[/", "").Join("a"); err == nil {
		t.Error("an unusable page: no error")
	}
}

// TestJoinInEncoding is RS-13, the URL standard's rule for the query of a reference in a
// page that is not UTF-8.
func TestJoinInEncoding(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://example.com/", "<meta charset=windows-1251><a href='/п?п'>")
	r.Body = []byte("<meta charset=windows-1251><a href='/\xef?\xef'>")
	if got, want := links(r), "http://example.com/%D0%BF?%EF"; len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
	wide := htmlPage("http://example.com/", "\xfe\xff\x00<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00?\x04\x3f\x00>")
	if got, want := links(wide), "http://example.com/?%D0%BF"; len(got) != 1 || got[0] != want {
		t.Errorf("UTF-16: got %q, want %q", got, want)
	}
}

// RS-15: JSON is UTF-8, whatever the charset says; a body that is not is decoded.
func TestJSONCharset(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ charset, body string }{
		{"iso-8859-1", `{"a":"é"}`}, {"utf-8", "\xef\xbb\xbf" + `{"a":"é"}`}, {"iso-8859-1", "{\"a\":\"\xe9\"}"}, {"utf-16le", "{\x00\"\x00a\x00\"\x00:\x00\"\x00\xe9\x00\"\x00}\x00"},
	} {
		r := &crawl.Response{URL: "http://a.test/", Header: http.Header{"Content-Type": {"application/json; charset=" + tc.charset}}, Body: []byte(tc.body)}
		var v struct{ A string }
		if err := r.JSON(&v); err != nil || v.A != "é" {
			t.Errorf("%s %q: %q, %v", tc.charset, tc.body, v.A, err)
		}
	}
}
