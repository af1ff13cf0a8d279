package crawl_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// translated holds elements for the selectors of cssselect's translations.
const translated = `<div id=container class=test><p id=id>1<a href=x title=t lang=en>A</a><b>2</b></p><a name=n>B</a></div>
<e id=myid class=warning foo="bar baz" hreflang=en-US lang=fr>foo<e foo=bar>f</e><f></f><e foo=barfoo hreflang=en>x<f>y</f></e></e>
<e></e><f></f><e foo=xbar bar=b></e><g></g><e class="warning other" id=x foo='bar"'>only<h></h></e><f class=warning></f><e lang=en-GB><e><e></e></e></e>`

// TestCSSAgainstXPath selects by CSS, and by what cssselect translates it to: both
// kinds of selectors have to find the same.
func TestCSSAgainstXPath(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://example.com/", translated)
	var count tally
	for _, c := range cases[struct{ ID, CSS, XPath, Error string }](t, "selectors/css_to_xpath.jsonl") {
		if c.Error != "" {
			count.row(t, c.ID, crawl.CompileCSS(c.CSS), c.Error, crawl.CompileCSS(c.CSS) != nil)
			continue
		}
		if !strings.HasPrefix(c.XPath, "descendant-or-self::") {
			c.XPath = "descendant-or-self::" + c.XPath
		}
		byCSS, byXPath := r.CSS(c.CSS).All(), r.XPath(c.XPath).All()
		count.row(t, c.ID, byCSS, byXPath, slices.Equal(byCSS, byXPath) && crawl.CompileXPath(c.XPath) == nil && crawl.CompileCSS(c.CSS) == nil)
		if err := crawl.CompileCSS(c.CSS); err != nil {
			t.Logf("%s: %v", c.ID, err)
		}
	}
	count.floor(t, "css_to_xpath", map[string]string{
		"selectors/css_to_xpath/ebff54ef97e6": "cascadia knows no namespaces",
		"selectors/css_to_xpath/2217298bbe5a": "cascadia knows no namespaces",
		"selectors/css_to_xpath/d0622945656c": "cascadia's :has() takes no combinator first",
		"selectors/css_to_xpath/491467bece5e": "cascadia's :has() takes no combinator first",
	})
}
