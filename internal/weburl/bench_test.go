package weburl

import "testing"

// joins are twenty references as a shop's page has them.
var joins = []string{
	"/", "/about", "/contact.html", "/category/books?page=2", "page-2.html", "../index.html", "../../media/a/b.jpg", "?sort=price&page=3",
	"#reviews", "https://example.com/catalogue/x_1/index.html", "http://example.com/catalogue/y_2/index.html", "https://www.facebook.com/example",
	"https://twitter.com/example", "//cdn.example.com/lib/app.min.js", "/static/css/main.css?v=12", "a-light-in-the-attic_1000/index.html",
	"tipping-the-velvet_999/index.html", "mailto:info@example.com", "javascript:void(0)", "/a/b/c/d/e.html#part-2",
}

func BenchmarkResolve20(b *testing.B) {
	base, err := NewBase(page)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, ref := range joins {
			if _, err := base.Resolve(ref); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkResolveRepair(b *testing.B) {
	base, _ := NewBase(page)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = base.Resolve("/caf\u00e9 menu?x=y")
	}
}

func BenchmarkNewBase(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = NewBase(page)
	}
}

func BenchmarkHost(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Host(page)
	}
}

func BenchmarkCanonicalize(b *testing.B) {
	for _, s := range []struct{ name, url string }{
		{"unchanged", "https://www.example.com/catalogue/category/page.html?page=2&sort=name"},
		{"path", "https://www.example.com/catalogue/a-light-in-the-attic_1000/index.html"},
		{"slash", "https://www.example.com"},
		{"sort", "https://www.example.com/catalogue/page.html?sort=name&page=2&a=b"},
		{"escape", "https://www.example.com/r\u00e9sum\u00e9?q=\u00e9"},
	} {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Canonicalize(s.url, false)
			}
		})
	}
}
