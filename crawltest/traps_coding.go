package crawltest

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"

	"github.com/skeincrawl/skein/crawl"
)

// codingTraps are bodies that are not in the coding that is said, or too well.
func codingTraps() []Trap {
	z := compress(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }, whole)
	deflated := compress(func(w io.Writer) io.WriteCloser {
		f, _ := flate.NewWriter(w, flate.BestSpeed) // the level is one
		return f
	}, whole)
	coded := func(coding, body string) replies {
		return always(page("200 OK", html+"Content-Encoding: "+coding+"\r\n", body))
	}
	return []Trap{
		{Name: "coding/gzip", Want: got(), replies: coded("gzip", z)},
		{Name: "coding/x-gzip", Want: got(), replies: coded("x-gzip", z)},
		{Name: "coding/plain-length", Want: got(), replies: always(fmt.Sprintf("HTTP/1.1 200 OK\r\n%sContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", html, 2*len(z), z))},
		{Name: "coding/gzip-tail", Want: got(), replies: coded("gzip", z+"junk junk")},
		{Name: "coding/gzip-cut", Want: got("truncated"), replies: coded("gzip", z[:len(z)-4])},
		{Name: "coding/not-gzip", Want: got("notgzip"), replies: coded("gzip", whole)},
		{Name: "coding/bare-deflate", Want: got(), replies: coded("deflate", deflated)},
		{Name: "coding/deflate-tail", Report: "scrapy/scrapy#7841", Want: got(), replies: coded("deflate", deflated+"junk")},
		{Name: "coding/head", Report: "scrapy/scrapy#1899", Method: http.MethodHead, Want: Outcome{Status: 200}, replies: always("HTTP/1.1 200 OK\r\n" + html + "Content-Encoding: gzip\r\nContent-Length: 99\r\n\r\n")},
		{Name: "coding/archive", Report: "scrapy/scrapy#2063", Want: Outcome{Status: 200, Text: "no text, 36 bytes"}, replies: always(page("200 OK", "Content-Type: application/octet-stream\r\n", z))},
		{Name: "coding/missing-archive", Report: "gocolly/colly#745", Options: crawl.Options{Statuses: []int{404}}, Want: Outcome{Status: 404, Text: whole}, replies: always(page("404 Not Found", html, whole)), path: "/sitemap.xml.gz", rest: send(page("404 Not Found", html, whole))},
		{Name: "coding/gzip-bomb", Want: once(crawl.FailTooLarge), Options: small(), replies: bomb("gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })},
		{Name: "coding/brotli-bomb", Report: "scrapy/scrapy#7134", Want: once(crawl.FailTooLarge), Options: small(), replies: bomb("br", func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, brotli.BestSpeed) })},
	}
}

func compress(open func(io.Writer) io.WriteCloser, text string) string {
	var b bytes.Buffer
	w := open(&b)
	_, _ = io.WriteString(w, text) // a buffer takes all
	_ = w.Close()
	return b.String()
}

// bomb returns the replies of a trap whose body is 16 MiB large when it is decoded.
// It is made when somebody asks for it.
func bomb(coding string, open func(io.Writer) io.WriteCloser) replies {
	made := sync.OnceValue(func() string { return compress(open, strings.Repeat("\x00", 16<<20)) })
	return replies{"": func(v *visit) { v.send(page("200 OK", html+"Content-Encoding: "+coding+"\r\n", made())) }}
}
