package downloader

import (
	"bytes"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// BenchmarkHTTP is one page of 10 KiB from a server in the same process.
func BenchmarkHTTP(b *testing.B) {
	page := bytes.Repeat([]byte("0123456789abcdef"), 640)
	length := serve(b, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10240")
		_, _ = w.Write(page)
	})
	chunked := serve(b, func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush()
		_, _ = w.Write(page)
	})
	for name, url := range map[string]string{"length": length.URL, "chunked": chunked.URL} {
		b.Run(name, func(b *testing.B) {
			h, _ := newHandler(b)
			r := &crawl.Request{URL: url}
			b.ReportAllocs()
			for b.Loop() {
				mustFetch(b, h, r)
			}
		})
		b.Run(name+"/sent", func(b *testing.B) {
			h, _ := newHandler(b)
			r := &crawl.Request{URL: url}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h.Fetch(WithSent(b.Context(), func(time.Time) {}), r); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/bare", func(b *testing.B) { // net/http alone, for comparison
			h, _ := newHandler(b)
			b.ReportAllocs()
			for b.Loop() {
				req, _ := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
				resp, err := h.pools.from(netip.AddrPort{}).direct.RoundTrip(req)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := h.buffers.Read(b.Context(), resp.Body, -1, 0); err != nil {
					b.Fatal(err)
				}
				_ = resp.Body.Close()
			}
		})
	}
}
