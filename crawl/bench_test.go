package crawl_test

import (
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// typical is what most requests of a crawl are.
func typical(s *shop) *crawl.Request {
	return &crawl.Request{URL: "https://www.example.com/catalogue/page-17.html?sort=price", Callback: s.Parse, Trail: crawl.Trail{Depth: 3}}
}

func BenchmarkAppendRequest(b *testing.B) {
	s := newShop(1)
	c, r := crawl.NewCallbacks(s), typical(s)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = c.AppendRequest(buf[:0], r)
	}
}

func BenchmarkDecodeRequest(b *testing.B) {
	s := newShop(1)
	c := crawl.NewCallbacks(s)
	buf, err := c.AppendRequest(nil, typical(s))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.DecodeRequest(buf); err != nil {
			b.Fatal(err)
		}
	}
}

// page10K is a page of the size and the kind that DOM costs are compared on.
func page10K() *crawl.Response {
	row := `<div class="q"><span class="t">` + strings.Repeat("word ", 80) + `</span><a href="/page/17?x=1" rel="nofollow">next</a></div>`
	return htmlPage("http://example.com/", "<!doctype html><title>t</title><body>"+strings.Repeat(row, 20))
}

func BenchmarkLinksOfTokens(b *testing.B) { benchmarkLinks(b, false) }
func BenchmarkLinksOfTree(b *testing.B)   { benchmarkLinks(b, true) }

func benchmarkLinks(b *testing.B, parsed bool) {
	r := page10K()
	if parsed {
		r.Doc()
	}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for range r.Links() {
			n++
		}
		if n != 20 {
			b.Fatalf("got %d links, want 20", n)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		page10K().Doc()
	}
}

func BenchmarkCSS(b *testing.B) {
	r := page10K()
	b.ReportAllocs()
	for b.Loop() {
		if r.CSS(".q .t::text").Len() != 20 {
			b.Fatal("the selector does not match")
		}
	}
}
