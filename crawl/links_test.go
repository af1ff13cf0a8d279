package crawl_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// TestLinks runs every page twice: as a stream of tokens, and parsed.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		what, body string
		want       []string
	}{
		{"order and repetitions", `<a href=/b>1</a><p><a href=/a>2</a><a href=/b>`, []string{"/b", "/a", "/b"}},
		{"area", `<map><area href=/x><area></map><link href=/no>`, []string{"/x"}},
		{"capitals", `<A HREF=/x></A>`, []string{"/x"}},
		{"entities", `<a href="/?a=1&amp;b=2&lt;">`, []string{"/?a=1&b=2%3C"}},
		{"white space", "<a href='\n /a\tb\r\nc '>", []string{"/abc"}},
		{"other schemes", `<a href="javascript:void(0)"><a href=" MailTo:a@b.c"><a href=tel:1><a href=data:,x><a href=ftp://a/>`, nil},
		{"unusable", `<a href="http://[/">`, nil},
		{"without href", `<a name=x><a>`, nil},
		{"empty", `<a href="">`, []string{"/dir/page"}},
		{"fragment", `<a href="#x">`, []string{"/dir/page#x"}},
		{"of two the first", `<a href=/1 href=/2 rel=a rel=nofollow>`, []string{"/1"}},
		{"comment", `<!-- <a href=/no> -->`, nil},
		{"script, style, title, textarea", `<title><a href=/no></title><script>'<a href=/no>'</script><style><a href=/no></style><textarea><a href=/no></textarea>`, nil},
		{"iframe", `<iframe><a href=/no></iframe>`, nil},
		{"noscript", `<body><noscript><a href=/yes></noscript>`, []string{"/yes"}},
		{"noscript in the head", `<head><noscript><a href=/yes></noscript></head>`, []string{"/yes"}},
		{"template", `<template><a href=/yes></template>`, []string{"/yes"}},
		{"SVG", `<svg><a href=/yes></a><a xlink:href=/no></a></svg>`, []string{"/yes"}},
		{"base", `<base href=/b/><a href=x>`, []string{"/b/x"}},
		{"cut off", `<a href=/x>text</a><a href="/y`, []string{"/x"}},
		{"NUL bytes", "<a href=/x\x00y>\x00<a \x00 href=/z>", []string{"/x%EF%BF%BDy", "/z"}},
	} {
		t.Run(tc.what, func(t *testing.T) {
			t.Parallel()
			want := make([]string, len(tc.want))
			for i, path := range tc.want {
				want[i] = "http://example.com" + path
			}
			r := htmlPage("http://example.com/dir/page", tc.body)
			if got := links(r); !slices.Equal(got, want) {
				t.Errorf("tokens: got %q, want %q", got, want)
			}
			r.Doc()
			if got := links(r); !slices.Equal(got, want) {
				t.Errorf("tree: got %q, want %q", got, want)
			}
		})
	}
}

// heritrix3#733: attributes of a megabyte take no more time than their bytes.
func TestLinksLongAttributes(t *testing.T) {
	t.Parallel()
	for _, filler := range []string{"x", " ", "&amp", "%", "../", "//", "<a ", "=", "\n", "é"} {
		long := strings.Repeat(filler, 1<<20/len(filler))
		r := htmlPage("http://example.com/", `<a title="`+long+`" href=/1></a><a href="`+long+`"></a><a href=/2></a>`)
		got := links(r)
		if len(got) < 2 || got[0] != "http://example.com/1" || got[len(got)-1] != "http://example.com/2" {
			t.Errorf("%q: got %d links, want the first and the last", filler, len(got))
		}
		if texts := r.CSS("a::attr(href)").All(); len(texts) != 3 {
			t.Errorf("%q: got %d attributes, want 3", filler, len(texts))
		}
	}
}

func TestLinksNoFollow(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://example.com/", `<a href=/1 rel="x NoFollow"><a href=/2 rel="nofollower"><a href=/3><a rel=nofollow href=/4>`)
	var got []bool
	for l := range r.Links() {
		got = append(got, l.NoFollow())
	}
	if want := []bool{true, false, false, true}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLinksStopEarly(t *testing.T) {
	t.Parallel()
	for _, parsed := range []bool{false, true} {
		r := htmlPage("http://example.com/", `<a href=/1><a href=/2>`)
		if parsed {
			r.Doc()
		}
		n := 0
		for range r.Links() {
			n++
			break
		}
		if n != 1 {
			t.Errorf("got %d links, want 1", n)
		}
	}
}

func TestLinksOfOtherThanHTML(t *testing.T) {
	t.Parallel()
	for _, ct := range []string{"text/plain", "application/json", "image/png", "application/xml"} {
		r := &crawl.Response{URL: "http://example.com/", Header: http.Header{"Content-Type": {ct}}, Body: []byte("<a href=/no>")}
		if got := links(r); got != nil {
			t.Errorf("%s: got %q, want none", ct, got)
		}
	}
	if got := links(htmlPage("no URL", "<a href=/no>")); got != nil {
		t.Errorf("page without a usable URL: got %q, want none", got)
	}
}

// TestDocOfOtherThanText is RS-16, but has nothing to search, and is no error.
func TestDocOfOtherThanText(t *testing.T) {
	t.Parallel()
	r := &crawl.Response{URL: "u", Header: http.Header{"Content-Type": {"image/png"}}, Body: []byte("<p>x</p>")}
	if n := r.Doc().Find("*").Length() + r.CSS("p").Len(); n != 0 || r.SelectorErr() != nil {
		t.Errorf("got %d elements, %v, want none", n, r.SelectorErr())
	}
	xml := &crawl.Response{URL: "u", Header: http.Header{"Content-Type": {"application/rss+xml"}}, Body: []byte("<item><guid>x</guid></item>")}
	if got := xml.CSS("guid::text").Get(); got != "x" {
		t.Errorf("got %q, want x", got)
	}
}

func TestNoscriptIsPartOfThePage(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://example.com/", `<body><img src=lazy><noscript><img src=real></noscript>`)
	if got := r.CSS("noscript img::attr(src)").Get(); got != "real" {
		t.Errorf("got %q, want real", got)
	}
}

// TestDeepPages has pages that the parser refuses as they are.
func TestDeepPages(t *testing.T) {
	t.Parallel()
	const n = 10_000
	for what, body := range map[string]string{
		"div":               strings.Repeat("<div>", n) + "<a href=/x>text</a>" + strings.Repeat("</div>", n) + "<p id=after>after",
		"div, not ended":    strings.Repeat("<div>", n) + "<a href=/x>text</a><p id=after>after",
		"div, self-closing": strings.Repeat("<div/>", n) + "<a href=/x>text</a><p id=after>after",
		"font in p":         strings.Repeat("<p><font size=1>", n) + "<a href=/x>text</a><p id=after>after",
		"distinct fonts":    distinctFonts(n) + "<a href=/x>text</a><p id=after>after",
		"table":             strings.Repeat("<table><tr><td>", n) + "<a href=/x>text</a>" + strings.Repeat("</table>", n) + "<p id=after>after",
		"ul":                strings.Repeat("<ul><li>", n) + "<a href=/x>text</a>" + strings.Repeat("</li></ul>", n) + "<p id=after>after",
		"svg":               "<svg>" + strings.Repeat("<g>", n) + "</svg><a href=/x>text</a><p id=after>after",
		"noscript":          strings.Repeat("<div>", n) + "<noscript><a href=/x>text</a></noscript><p id=after>after",
		"span in a":         strings.Repeat("<a href=/x><span>", n) + "text<p id=after>after",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := htmlPage("http://example.com/", body)
			if got := links(r); !slices.Contains(got, "http://example.com/x") {
				t.Errorf("tokens: got %d links, want /x among them", len(got))
			}
			if got := r.CSS("#after").Text(); got != "after" {
				t.Errorf("got %q behind the deep part, want after", got)
			}
			if got := links(r); !slices.Contains(got, "http://example.com/x") {
				t.Errorf("tree: got %d links, want /x among them", len(got))
			}
			if err := r.SelectorErr(); err != nil {
				t.Errorf("SelectorErr: %v", err)
			}
		})
	}
}

func distinctFonts(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("<p><font size=" + strconv.Itoa(i) + ">")
	}
	return b.String()
}

// TestManyAttributes is linear in their number.
func TestManyAttributes(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://example.com/", "<a "+strings.Repeat("x y=1 ", 50_000)+"href=/x>")
	if got := links(r); len(got) != 1 {
		t.Errorf("tokens: got %q, want one", got)
	}
	r.Doc()
	if got := links(r); len(got) != 1 {
		t.Errorf("tree: got %q, want one", got)
	}
}

func FuzzLinks(f *testing.F) {
	f.Add([]byte(`<base href=/b><a href=x rel=nofollow>t</a><noscript><a href=y>`), "text/html")
	f.Add([]byte("<?xml encoding='utf-16'?>\xff\xfe<table><a href=\x00>"), "text/html; charset=x")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		r := &crawl.Response{URL: "http://example.com/", Header: http.Header{"Content-Type": {contentType}}, Body: body}
		for _, u := range links(r) {
			if !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") {
				t.Errorf("got %q, want http or https", u)
			}
		}
		r.CSS("a, area").All()
		links(r)
		if err := r.SelectorErr(); err != nil {
			t.Logf("not parsed: %v", err)
		}
	})
}
