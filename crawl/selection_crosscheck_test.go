package crawl_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/conformance"
)

// translated holds elements for the selectors of cssselect's translations.
const translated = `<div id=container class=test><p id=id>1<a href=x title=t lang=en>A</a><b>2</b></p><a name=n>B</a></div>
<e id=myid class=warning foo="bar baz" hreflang=en-US lang=fr>foo<e foo=bar>f</e><f></f><e foo=barfoo hreflang=en>x<f>y</f></e></e>
<e></e><f></f><e foo=xbar bar=b></e><g></g><e class="warning other" id=x foo='bar"'>only<h></h></e><f class=warning></f><e lang=en-GB><e><e></e></e></e>`

// TestTranslationConformance selects by CSS, and by what cssselect translates it
// to: both kinds of selectors have to find the same.
func TestTranslationConformance(t *testing.T) {
	t.Parallel()
	page := htmlPage("http://example.com/", translated)
	conformance.Run(t, "selectors/css_to_xpath", func(r *conformance.Row, c struct{ CSS, XPath, Error string }) {
		err := crawl.CompileCSS(c.CSS)
		if c.Error != "" {
			r.Equal(err != nil, true)
			return
		}
		if !strings.HasPrefix(c.XPath, "descendant-or-self::") {
			c.XPath = "descendant-or-self::" + c.XPath
		}
		if err := errors.Join(err, crawl.CompileXPath(c.XPath)); err != nil {
			r.Fatal(err)
		}
		r.Equal(strings.Join(page.CSS(c.CSS).All(), "\n"), strings.Join(page.XPath(c.XPath).All(), "\n"))
	})
}

// TestCSSErrorsConformance runs cssselect's cases of selectors that are none.
func TestCSSErrorsConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, "selectors/css_errors", func(r *conformance.Row, c struct {
		Selector string
		Error    bool
	},
	) {
		if err := crawl.CompileCSS(c.Selector); (err != nil) != c.Error {
			r.Errorf("%q: error %v, want one = %v", c.Selector, err, c.Error)
		}
	})
}

// TestCSSSeriesConformance runs cssselect's cases of "an+b" on a list of elements.
func TestCSSSeriesConformance(t *testing.T) {
	t.Parallel()
	const n = 12
	page := htmlPage("http://example.com/", "<ul>"+strings.Repeat("<li>", n)+"</ul>")
	conformance.Run(t, "selectors/css_nth_series", func(r *conformance.Row, c struct {
		Text     string `json:"an_plus_b"`
		Expected *[2]int
	},
	) {
		selector := "li:nth-child(" + c.Text + ")"
		if err := crawl.CompileCSS(selector); (err != nil) != (c.Expected == nil) {
			r.Fatalf("%s: error %v, want the series %v", selector, err, c.Expected)
		}
		if c.Expected == nil {
			return
		}
		want := map[int]bool{}
		for i := range 2 * n {
			if at := c.Expected[0]*i + c.Expected[1]; at > 0 && at <= n {
				want[at] = true
			}
		}
		r.Equal(page.CSS(selector).Len(), len(want))
		for i := range want {
			r.Equal(page.CSS("ul > li:nth-child("+strconv.Itoa(i)+")"+strings.TrimPrefix(selector, "li")).Len(), 1)
		}
	})
}
