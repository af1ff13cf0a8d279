package middleware

import (
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
	env.Spec.AllowedDomains = []string{"example.com"}
	page := &crawl.Response{Status: 200, Header: header("Content-Type", "text/html", "Date", "today", "Server", "x"), Body: make([]byte, 10240)}
	var f crawl.Fetcher = crawl.FetcherFunc(func(context.Context, *crawl.Request) (*crawl.Response, error) { return page, nil })
	list := env.Settings.Components("DOWNLOADER_MIDDLEWARES")
	for _, c := range slices.Backward(list) {
		f = wrap(b, c.Name, env, f)
	}
	for name, h := range map[string]http.Header{"bare": nil, "referer": header("Referer", "https://www.example.com/")} {
		b.Run(name, func(b *testing.B) {
			r := &crawl.Request{URL: "https://www.example.com/catalogue/page-2.html?x=1", Header: h}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Fetch(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
