package middleware

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
)

// BenchmarkChain is one page through all middlewares, as a crawl builds them,
// around a handler that does nothing.
func BenchmarkChain(b *testing.B) {
	env, _ := newEnv(b, nil)
	env.Log = zerolog.Nop()
	env.Spec.AllowedDomains = []string{"example.com", "cookies.example"}
	page := &crawl.Response{Status: 200, Header: header("Content-Type", "text/html", "Date", "today", "Server", "x"), Body: bytes.Repeat([]byte("<p>some quite long words of a page</p>\n"), 262)}
	var f crawl.Fetcher = crawl.FetcherFunc(func(context.Context, *crawl.Request) (*crawl.Response, error) { return page, nil })
	list := env.Settings.Components("DOWNLOADER_MIDDLEWARES")
	for _, c := range slices.Backward(list) {
		f = wrap(b, c.Name, env, f)
	}
	set := &crawl.Request{URL: "https://www.cookies.example/", Cookies: []*http.Cookie{{Name: "session", Value: "0123456789abcdef"}}}
	if _, err := f.Fetch(b.Context(), set); err != nil {
		b.Fatal(err)
	}
	for name, r := range map[string]*crawl.Request{
		"bare":    {URL: "https://www.example.com/catalogue/page-2.html?x=1"},
		"referer": {URL: "https://www.example.com/catalogue/page-2.html?x=1", Header: header("Referer", "https://www.example.com/")},
		"cookie":  {URL: "https://www.cookies.example/catalogue/page-2.html?x=1"},
		"proxy":   {URL: "https://www.example.com/catalogue/page-2.html?x=1", Options: crawl.Options{Proxy: "http://u:p@proxy.example:3128"}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Fetch(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
