package crawltest

import (
	"strings"

	"github.com/skeincrawl/skein/crawl"
)

// httpTraps are heads and framings that are not as they should be.
func httpTraps() []Trap {
	const head, length = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n", "Content-Length: 12\r\n"
	const chunked, chunks = "Transfer-Encoding: chunked\r\n", "5\r\n<p>wh\r\n7\r\nole</p>\r\n0\r\n\r\n"
	mended, skipped, partial := "header-mended", "header-skipped", "partial"
	return []Trap{
		{Name: "http/plain", Want: got(), replies: always(ok(whole))},
		{Name: "http/no-colon", Report: "golang/go#21290", Want: got(skipped), replies: always(head + "no header\r\n" + length + "\r\n" + whole)},
		{Name: "http/name-not-ascii", Want: got(skipped), replies: always(head + "N\xe4me: x\r\n" + length + "\r\n" + whole)},
		{Name: "http/nul-in-value", Want: got(mended), replies: always(head + "X: a\x00b\r\n" + length + "\r\n" + whole)},
		{Name: "http/folded-first", Want: got(skipped), replies: always("HTTP/1.1 200 OK\r\n folded: x\r\n" + html + length + "\r\n" + whole)},
		{Name: "http/length-list", Want: got(mended), replies: always(head + "Content-Length: 12, 12\r\n\r\n" + whole)},
		{Name: "http/length-plus", Want: got(skipped, partial), replies: always(head + "Content-Length: +12\r\n\r\n" + whole)},
		{Name: "http/length-letters", Want: got(skipped, partial), replies: always(head + "Content-Length: abc\r\n\r\n" + whole)},
		{Name: "http/length-negative", Want: got(skipped, partial), replies: always(head + "Content-Length: -1\r\n\r\n" + whole)},
		{Name: "http/length-twice", Report: "scrapy/scrapy#4774", Want: got(), replies: always(head + length + length + "\r\n" + whole)},
		{Name: "http/lengths-differ", Report: "scrapy/scrapy#4774", Want: failed(crawl.FailProtocol), replies: always(head + length + "Content-Length: 13\r\n\r\n" + whole)},
		{Name: "http/length-too-long", Want: failed(crawl.FailDataLoss), replies: always(head + "Content-Length: 99\r\n\r\n" + whole)},
		{Name: "http/identity", Want: got(mended), replies: always(head + "Transfer-Encoding: identity\r\n" + length + "\r\n" + whole)},
		{Name: "http/chunked-twice", Want: got(mended), replies: always(head + chunked + chunked + "\r\n" + chunks)},
		{Name: "http/chunks-bare-lf", Want: got("chunks-mended"), replies: always(head + chunked + "\r\n" + strings.ReplaceAll(chunks, "\r\n", "\n"))},
		{Name: "http/chunks-cut", Report: "scrapy/scrapy#2413", Want: failed(crawl.FailDataLoss), replies: always(head + chunked + "\r\n5\r\n<p>wh\r\n7\r\nole")},
		{Name: "http/chunks-cut-between", Report: "xroche/httrack#840", Want: failed(crawl.FailDataLoss), replies: always(head + chunked + "\r\n5\r\n<p>wh\r\n")},
		{Name: "http/chunks-without-end", Want: got("chunks-mended"), replies: always(head + chunked + "\r\n" + strings.TrimSuffix(chunks, "\r\n"))},
		{Name: "http/chunk-huge", Report: "xroche/httrack#851", Want: failed(crawl.FailDataLoss), replies: always(head + chunked + "\r\n80000000\r\n" + whole)},
		{Name: "http/chunk-overflow", Report: "xroche/httrack#851", Want: failed(crawl.FailProtocol), replies: always(head + chunked + "\r\n10000000000000000\r\n" + whole)},
		{Name: "http/chunked-binary", Report: "scrapy/scrapy#2162", Want: Outcome{Status: 200, Text: "\x00\x01<p>\xe2\x82\xac"}, replies: always("HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n" + chunked + "\r\n1\r\n\x00\r\n4\r\n\x01<p>\r\n1\r\n\xe2\r\n2\r\n\x82\xac\r\n0\r\n\r\n")},
		{Name: "http/no-head", Want: got("no-head", partial), replies: always(whole)},
		{Name: "http/icy", Want: got(mended, partial), replies: always("ICY 200 OK\r\n" + html + "\r\n" + whole)},
		{Name: "http/blank-before", Want: got(mended), replies: always("\r\n" + ok(whole))},
		{Name: "http/lower-case", Want: got(mended), replies: always("http" + strings.TrimPrefix(ok(whole), "HTTP"))},
		{Name: "http/unauthorized", Report: "internetarchive/heritrix3#719", Options: crawl.Options{Statuses: []int{401}}, Want: Outcome{Status: 401, Text: strings.Repeat("no ", 50_000)}, replies: always(page("401 Unauthorized", html, strings.Repeat("no ", 50_000)))},
		{Name: "http/another-protocol", Want: failed(crawl.FailProtocol), replies: always("SSH-2.0-OpenSSH_9.6\r\n")},
		{Name: "http/garbage", Want: failed(crawl.FailProtocol), replies: always("\x00\x01\x02\r\n\r\n")},
		{Name: "http/closes", Want: Outcome{Failure: crawl.FailConnection}, replies: always("")},
		{Name: "http/resets", Want: Outcome{Failure: crawl.FailConnection}, replies: replies{"": reset}},
		{Name: "http/head-cut", Want: failed(crawl.FailConnection), replies: always(head + "Content-Le")},
		{Name: "http/head-endless", Want: failed(crawl.FailProtocol), replies: replies{"": flood("HTTP/1.1 200 OK\r\n", "X: "+strings.Repeat("x", 4000)+"\r\n")}},
		{Name: "http/head-drips", Want: Outcome{Failure: crawl.FailTimeout}, Options: quick(), replies: replies{"": drip("X")}},
		{Name: "http/endless", Report: "bda-research/node-crawler#371", Want: once(crawl.FailTooLarge), Options: small(), replies: replies{"": flood(head+"\r\n", strings.Repeat("x", 4000))}},
		{Name: "http/too-large", Want: once(crawl.FailTooLarge), Options: small(), replies: always(head + "Content-Length: 1099511627776\r\n\r\n" + whole)},
	}
}
