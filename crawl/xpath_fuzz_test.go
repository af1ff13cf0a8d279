package crawl_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/skeincrawl/skein/crawl"
)

// FuzzXPath holds that no expression panics, that what compiles gives the same
// each time, and that nodes come in document order, each once.
func FuzzXPath(f *testing.F) {
	for _, expr := range []string{
		"//div//p", "//a/@href | //p", "(//p)[2] = '2'", "count(//*[has-class('shelf')])", "//a[re:test(@href, 'x', 'i')]/text()",
		"//p[position() > 1][last()]", "//p/preceding::node()", "//*[@id][2]/..", "substring(//a, 1, 2)", "-(1 div 0) mod 3", "set:distinct(//@*)",
		"//node()[self::a or self::comment()]", "re:replace(//p, '(.)', 'g', '$1\\1')", "following-sibling::*[1]", "@*", ".", "/", "lang(name(/*))",
	} {
		f.Add(expr)
	}
	r := htmlPage("http://example.com/", shelfPage)
	places := map[*html.Node]int{}
	for n := range r.Doc().Nodes[0].Descendants() {
		places[n] = len(places)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		if len(expr) > 200 || strings.Count(expr, "/") > 12 {
			return // each step multiplies the work
		}
		if crawl.CompileXPath(expr) != nil {
			return
		}
		first := r.XPath(expr)
		if again := r.XPath(expr); !slices.Equal(first.All(), again.All()) {
			t.Errorf("%q gives %q, then %q", expr, first.All(), again.All())
		}
		nodes := first.Nodes()
		if !slices.IsSortedFunc(nodes, func(a, b *html.Node) int { return places[a] - places[b] }) || len(slices.Compact(slices.Clone(nodes))) != len(nodes) {
			t.Errorf("%q gives nodes out of order or twice: %q", expr, first.All())
		}
	})
}

// FuzzXML holds that a tree can be made of anything, and of its own markup again.
func FuzzXML(f *testing.F) {
	for _, s := range []string{feed, "<a><b>1</a>", "<a>1<<b>2</b>< c><d =>3</d></a>", "<x:a xmlns:x='u'><![CDATA[<]]></x:b>", "<a b=c d>&#0;&lt;</a>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r := xmlPage("text/xml; charset=utf-8", body)
		first := r.XPath("/*").Get()
		if !utf8.ValidString(first) {
			t.Errorf("no text: %q", first)
		}
		if again := xmlPage("text/xml; charset=utf-8", first).XPath("/*").Get(); again != first {
			t.Errorf("got %q, then %q", first, again)
		}
		_ = r.CSS("*, a::text").Len()
	})
}

// FuzzRe holds that any pattern and any text will do.
func FuzzRe(f *testing.F) {
	f.Add(`(?P<extract>\w)|(b)`, "a&amp;&quot;&lt;b")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		s := htmlPage("http://example.com/", "<p>"+text).CSS("p::text")
		all := s.Re(pattern)
		if first := s.ReFirst(pattern); first != strings.Join(all[:min(1, len(all))], "") {
			t.Errorf("first %q of %q", first, all)
		}
	})
}
