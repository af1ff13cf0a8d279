package crawl_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

const shelfPage = `<!DOCTYPE html><div id=a class="shelf big"><p>1</p><div id=b class=shelf><p>2</p></div><p>3</p>` +
	`<a href=/x>X</a> and <a href=/y.HTML rel=next>Y</a><!--note--></div>`

func TestXPath(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, expr string
		want       []string
	}{
		{"attributes", "//a/@href", []string{"/x", "/y.HTML"}},
		{"texts", "//p/text()", []string{"1", "2", "3"}},
		{"elements", "//a[@rel='next']", []string{`<a href="/y.HTML" rel="next">Y</a>`}},
		{"nodes", "//div[@id='a']/a[2]/preceding-sibling::a/following-sibling::node()", []string{" and ", `<a href="/y.HTML" rel="next">Y</a>`, "<!--note-->"}},
		{"comments", "//comment()", []string{"<!--note-->"}},
		{"from the root element", "body/div/@id", []string{"a"}},
		{"the root element itself", "name(.)", []string{"html"}},
		{"in document order", "//div/p", []string{"<p>1</p>", "<p>2</p>", "<p>3</p>"}},
		{"each once", "//div//p/text()", []string{"1", "2", "3"}},
		{"a union in order", "//a/@href | //p/text()", []string{"1", "2", "3", "/x", "/y.HTML"}},
		{"a union of attributes", "//a/@rel | //a/@href", []string{"/x", "/y.HTML", "next"}},
		{"upwards", "//p[.='2']/ancestor::div/@id", []string{"a", "b"}},
		{"position", "(//p)[2]", []string{"<p>2</p>"}},
		{"last", "//div[@id='a']/p[last()]/text()", []string{"3"}},
		{"a string", "string(//a)", []string{"X"}},
		{"a number", "count(//p)", []string{"3"}},
		{"a fraction", "1 div 4", []string{"0.25"}},
		{"true", "boolean(//p)", []string{"1"}},
		{"false", "//p = 'none'", []string{"0"}},
		{"nothing", "//table", nil},
		{"has-class", "//*[has-class('shelf')]/@id", []string{"a", "b"}},
		{"has-class of several", `//*[has-class("shelf", 'big')]/@id`, []string{"a"}},
		{"has-class of a part", "//*[has-class('shel')]/@id", nil},
		{"re:test", `//a[re:test(@href, "\.html$")]/text()`, nil},
		{"re:test with flags", `//a[re:test(@href, "\.html$", "gi")]/text()`, []string{"Y"}},
		{"re:test of a call", `//a[re:test(concat(@href, ','), '^/x,$')]/text()`, []string{"X"}},
		{"no document type", "/node()/@id | /html/body/div/@id", []string{"a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := htmlPage("http://example.com/", shelfPage)
			if got := r.XPath(tt.expr).All(); !slices.Equal(got, tt.want) || r.SelectorErr() != nil {
				t.Errorf("XPath(%q) = %q, %v, want %q", tt.expr, got, r.SelectorErr(), tt.want)
			}
		})
	}
}

func TestXPathChained(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://example.com/", shelfPage)
	for _, tt := range []struct {
		name string
		got  crawl.Selection
		want []string
	}{
		{"CSS, then XPath", r.CSS("div").XPath("./p/text()"), []string{"1", "2", "3"}},
		{"XPath, then CSS", r.XPath("//div[@id='b']").CSS("p::text"), []string{"2"}},
		{"CSS, XPath, CSS", r.CSS("#b").XPath("..").CSS("a::attr(href)"), []string{"/x", "/y.HTML"}},
		{"from texts", r.CSS("p::text").XPath("../following-sibling::a/@href"), []string{"/x", "/y.HTML"}},
		{"the parent of several comes once", r.XPath("//a").XPath("../@id"), []string{"a"}},
		{"a value for each", r.XPath("//div").XPath("count(p)"), []string{"2", "1"}},
		{"the whole document", r.XPath("//div[@id='b']").XPath("//a/text()"), []string{"X", "Y"}},
		{"from attributes", r.XPath("//a/@href").XPath(".."), nil},
		{"of nothing", r.XPath("//table").XPath("count(//p)"), nil},
		{"of no response", crawl.Selection{}.XPath("//p"), nil},
	} {
		if got := tt.got.All(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestXPathNodes(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://example.com/", shelfPage)
	s := r.XPath("//div[@id='a']/a[1]/following-sibling::node()")
	if s.Len() != 3 || len(s.Nodes()) != 1 || s.Nodes()[0].Data != "a" {
		t.Errorf("got %d nodes, of them the elements %v, want 3 and one link", s.Len(), s.Nodes())
	}
	if got := r.XPath("//a").At(1).Attr("rel"); got != "next" {
		t.Errorf("Attr = %q, want next", got)
	}
}

func TestInvalidXPath(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ expr, want string }{
		{" ", "it is empty"},
		{"//a[", "it is incomplete"},
		{"//a]", `unexpected "]"`},
		{"//", "it is incomplete"},
		{"//a foo", `operator missing before "foo"`},
		{"//a['x]", "a string is not closed"},
		{"//a[@x=$y]", "no variables"},
		{"//a!", "unexpected '!'"},
		{"p:", `name is missing after "p:"`},
		{"starts-with('a')", "starts-with() has too few arguments"},
		{"true(1)", "true() has too many arguments"},
		{"count('a')", "count() takes nodes"},
		{"'a' | //b", "only nodes can be united"},
		{"'a'[1]", "only nodes have predicates"},
		{"foo(//a)", "no function foo()"},
		{"count(re:match(//a, 'x'))", "no function re:match()"},
		{"//a/namespace::*", "no axis namespace"},
		{"//a/()", `unexpected "("`},
		{"has-class(@x)", "has-class() takes strings"},
		{"re:test(@a)", "too few"},
		{"re:test(@a, @b)", "pattern and flags that are strings"},
		{"re:test(@a, 'b', 'x')", "flags g and i"},
		{"re:test(@a, '(')", "invalid regular expression"},
		{"//a\x00", "unexpected"},
		{strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200), "nested deeper than 100"},
	} {
		r := htmlPage("http://example.com/", shelfPage)
		if n := r.XPath(tt.expr).Len(); n != 0 {
			t.Errorf("%.20q selects %d", tt.expr, n)
		}
		err := r.SelectorErr()
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "invalid XPath expression") {
			t.Errorf("%.20q: got %v, want %q", tt.expr, err, tt.want)
		}
		if again := crawl.CompileXPath(tt.expr); again == nil || again.Error() != err.Error() {
			t.Errorf("%.20q: CompileXPath gives %v, want %v", tt.expr, again, err)
		}
	}
}

func TestXPathConcurrently(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://example.com/", shelfPage)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				for expr, want := range map[string]string{
					"//div//p[2]/text()": "3", "(//p)[2] = '2'": "1", "concat(//p, sum(//p))": "16", "count(//a[re:test(., 'X')])": "1",
				} {
					if got := r.XPath(expr).Get(); got != want {
						t.Errorf("%s: got %q, want %q", expr, got, want)
					}
				}
			}
		})
	}
	wg.Wait()
}
