package crawl_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

func BenchmarkXPath(b *testing.B) {
	for name, expr := range map[string]string{
		"class":    "//*[has-class('q')]/span[has-class('t')]/text()", // what BenchmarkCSS selects
		"attr":     "//a/@href",
		"position": "//div[@class='q'][position() mod 2 = 1]/a[1]",
		"nested":   "//div//a",
	} {
		b.Run(name, func(b *testing.B) {
			r := page10K()
			b.ReportAllocs()
			for b.Loop() {
				if r.XPath(expr).Len() < 10 {
					b.Fatal("the expression does not match")
				}
			}
		})
	}
}

// BenchmarkXPathChained is the usual loop over the rows of a page.
func BenchmarkXPathChained(b *testing.B) {
	r := page10K()
	b.ReportAllocs()
	for b.Loop() {
		for row := range r.XPath("//div[@class='q']").Each() {
			if row.XPath("./a/@href").Get() == "" {
				b.Fatal("the expression does not match")
			}
		}
	}
}

func BenchmarkParseXML(b *testing.B) {
	body := "<feed>" + strings.Repeat(`<entry id="1"><title>`+strings.Repeat("word ", 80)+`</title><link href="/x"/></entry>`, 20) + "</feed>"
	b.ReportAllocs()
	for b.Loop() {
		xmlPage("text/xml", body).Doc()
	}
}

func BenchmarkRe(b *testing.B) {
	s := page10K().CSS("a")
	b.ReportAllocs()
	for b.Loop() {
		if len(s.Re(`page/(\d+)`)) != 20 {
			b.Fatal("the pattern does not match")
		}
	}
}

func BenchmarkFormFrom(b *testing.B) {
	r := htmlPage("http://a.com/", loginForm)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := crawl.FormFrom(r, crawl.Form{ID: "login", Values: url.Values{"user": {"me"}}}); err != nil {
			b.Fatal(err)
		}
	}
}
