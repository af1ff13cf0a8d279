package crawl_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

func xmlPage(contentType, body string) *crawl.Response {
	r := htmlPage("http://example.com/feed", body)
	r.Header.Set("Content-Type", contentType)
	return r
}

const feed = "<?xml version='1.1' encoding='latin1'?>\n<!DOCTYPE feed [<!ENTITY big 'x'>]>" +
	`<feed xmlns="http://www.w3.org/2005/Atom" xmlns:m="http://media"><link href="/a?x=1&amp;y=2"/>` +
	`<entry m:Kind="k"><pubDate>T1</pubDate><m:Title>a <![CDATA[<b>]]>&nbsp;&big;</m:Title><!-- c --></entry>` +
	`<entry><pubDate>T2</pubDate><link>L</link></entry></feed>`

func TestXML(t *testing.T) {
	t.Parallel()
	r := xmlPage("application/atom+xml", feed)
	for _, tt := range []struct {
		name string
		got  crawl.Selection
		want []string
	}{
		{"the default namespace", r.XPath("/feed/entry/pubDate/text()"), []string{"T1", "T2"}},
		{"a prefix", r.XPath("//m:Title"), []string{"<m:Title>a &lt;b&gt;\u00a0&amp;big;</m:Title>"}},
		{"one text node", r.XPath("//m:Title/text()"), []string{"a <b>\u00a0&big;"}},
		{"case", r.XPath("//pubdate"), nil},
		{"a prefix that is none", r.XPath("//x:Title"), nil},
		{"an attribute with prefix", r.XPath("//entry/@m:Kind"), []string{"k"}},
		{"no declarations", r.XPath("/feed/@*"), nil},
		{"namespace-uri", r.XPath("namespace-uri(//m:Title)"), []string{"http://media"}},
		{"the default one", r.XPath("namespace-uri(/*)"), []string{"http://www.w3.org/2005/Atom"}},
		{"name", r.XPath("name(//*[local-name()='Title'])"), []string{"m:Title"}},
		{"no void elements", r.XPath("//entry/link/text()"), []string{"L"}},
		{"empty elements", r.XPath("/feed/link"), []string{`<link href="/a?x=1&amp;y=2"/>`}},
		{"comments", r.XPath("//comment()"), []string{"<!-- c -->"}},
		{"CSS", r.CSS("feed > entry > pubDate::text"), []string{"T1", "T2"}},
		{"CSS of an attribute", r.CSS("link::attr(href)"), []string{"/a?x=1&y=2"}},
		{"CSS of an attribute with prefix", r.CSS("entry::attr(m:Kind)"), []string{"k"}},
		{"CSS passes over prefixes", r.CSS("Title::text"), []string{"a <b>\u00a0&big;"}},
		{"CSS, then XPath", r.CSS("entry").XPath("pubDate/text()"), []string{"T1", "T2"}},
	} {
		if got := tt.got.All(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	if err := r.SelectorErr(); err != nil {
		t.Error(err)
	}
}

func TestMalformedXML(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, body, want string }{
		{"end tags missing", "<a><b>1<c>2", "<a><b>1<c>2</c></b></a>"},
		{"an inner one missing", "<a><b>1</a>", "<a><b>1</b></a>"},
		{"one too many", "<a>1</b>2</a>", "<a>12</a>"},
		{"the wrong prefix", "<a><x:b>1</b><c/></a>", "<a><x:b>1</x:b><c/></a>"},
		{"errors of syntax", "<a>1<<b>2</b>< c><e =><d>3</d></a>", "<a>1<b>2</b><d>3</d></a>"},
		{"characters that are none", "<a>1\x00\x0b2\ufffe</a>", "<a>12</a>"},
		{"attributes without quotes", "<a b=c d>1</a>", `<a b="c" d="d">1</a>`},
		{"text around", " x <a>1</a> y ", "<a>1</a>"},
		{"entities", "<a b='&lt;&quot;&#65;&x;'>&amp;&unknown; & </a>", `<a b="&lt;&quot;A&amp;x;">&amp;&amp;unknown; &amp; </a>`},
		{"nothing", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := xmlPage("text/xml", tt.body).XPath("/*").Get(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestDeepXML holds that no page can use up the stack.
func TestDeepXML(t *testing.T) {
	t.Parallel()
	const n = 100_000
	r := xmlPage("text/xml", strings.Repeat("<a>", n)+"text"+strings.Repeat("</a>", n))
	if got := r.XPath("string(/)").Get(); got != "text" {
		t.Errorf("text %.20q", got)
	}
	if got := r.XPath("count(//a)").Get(); got != "512" {
		t.Errorf("%s elements, want 512", got)
	}
}

// TestIsXML is RS-01 and RS-05 for XML.
func TestIsXML(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		contentType, body string
		want              bool
	}{
		{"text/xml; charset=utf-8", "<A/>", true},
		{"application/rss+xml", "<A/>", true},
		{"application/xhtml+xml", "<A/>", false},
		{"text/html", "<?xml version='1.0'?><A/>", false},
		{"", "<?xml version='1.0'?><A/>", true},
		{"", "<A/>", false},
	} {
		if got := xmlPage(tt.contentType, tt.body).XPath("/A").Len() == 1; got != tt.want {
			t.Errorf("%q %q: XML %v, want %v", tt.contentType, tt.body, got, tt.want)
		}
	}
}
