package crawltest

import (
	"net/http"
	"strings"

	"github.com/skeincrawl/skein/crawl"
)

// path is the outcome of a page that says how it was asked for.
func asked(path string) Outcome { return Outcome{Status: 200, Text: path} }

// link is a page with a link.
func link(href string) string { return ok(`<a href="` + href + `">next</a>`) }

// urlTraps are URLs that parsers do not agree on, in links and as the first one.
func urlTraps() []Trap {
	path := echo(echoPath)
	return []Trap{
		{Name: "url/stray-percent", path: "/%3C%=u%%3E", rest: path, Want: asked("/url/stray-percent/%3C%=u%%3E")},
		{Name: "url/lone-percent", path: "/%", rest: path, Want: asked("/url/lone-percent/%")},
		{Name: "url/white-space", start: " \nhttp://{addr}/url/white-space/a\tb\n", rest: path, Want: asked("/url/white-space/ab")},
		{Name: "url/white-space-in-link", replies: always(link("\n/url/white-space-in-link/a\tb\r\n")), rest: path, Want: asked("/url/white-space-in-link/ab")},
		{Name: "url/backslashes", start: `http:\\{addr}\url\backslashes\x`, rest: path, Want: asked("/url/backslashes/x")},
		{Name: "url/three-slashes", start: "http:///{addr}/url/three-slashes/x", rest: path, Want: asked("/url/three-slashes/x")},
		{Name: "url/no-slashes", start: "http:{addr}/url/no-slashes/x", rest: path, Want: asked("/url/no-slashes/x")},
		{Name: "url/hex-address", start: "http://0x7f.1:{port}/url/hex-address/x", rest: echo(func(v *visit) string { host, _, _ := strings.Cut(v.host, ":"); return host }), Want: asked("127.0.0.1")},
		{Name: "url/unicode-host", Hosts: []string{"xn--bcher-kva.test"}, start: "http://b\u00fccher.test/", rest: echo(func(v *visit) string { return v.host }), Want: asked("xn--bcher-kva.test")},
		{Name: "url/underscore-host", Report: "internetarchive/heritrix3#718", Hosts: []string{"my_host.test"}, path: "/", rest: send(ok(whole)), Want: got()},
		{Name: "url/port-out-of-range", replies: always(ok(`<a href="http://127.0.0.1:99999/">no</a><a href="/url/port-out-of-range/x">next</a>`)), rest: path, Want: asked("/url/port-out-of-range/x")},
		{Name: "url/line-break", Report: "xroche/httrack#1008", replies: always(link("/url/line-break/x%0d%0aX-Evil:1")), rest: path, Want: asked("/url/line-break/x%0d%0aX-Evil:1")},
		{Name: "url/large-attribute", Report: "internetarchive/heritrix3#733", replies: always(ok(`<p title="` + strings.Repeat("x", 4<<20) + `"><a href="/url/large-attribute/x">next</a>`)), rest: path, Want: asked("/url/large-attribute/x")},
	}
}

// redirectTraps are ways from one page to another that lead astray.
func redirectTraps() []Trap {
	path, hosts := echo(echoPath), echo(func(v *visit) string { return v.host + v.path })
	secrets := http.Header{"Cookie": {"secret=1"}, "Authorization": {"Basic c2VjcmV0"}}
	told := func(v *visit) {
		echo(func(v *visit) string {
			return v.host + " is told " + v.header.Get("Cookie") + v.header.Get("Authorization")
		})(v)
	}
	return []Trap{
		{Name: "redirect/three-slashes", Report: "scrapy/scrapy#4032", replies: always(to("///{addr}/redirect/three-slashes/x")), rest: path, Want: asked("/redirect/three-slashes/x")},
		{Name: "redirect/backslashes", replies: always(to(`\\{addr}\redirect\backslashes\x`)), rest: path, Want: asked("/redirect/backslashes/x")},
		{Name: "redirect/raw-utf-8", Report: "scrapy/scrapy#2321", replies: always(to("/redirect/raw-utf-8/\xd8\xa7")), rest: path, Want: asked("/redirect/raw-utf-8/%D8%A7")},
		{Name: "redirect/raw-latin-1", replies: always(to("/redirect/raw-latin-1/\xe4")), rest: path, Want: asked("/redirect/raw-latin-1/%E4")},
		{Name: "redirect/space", replies: always(to("/redirect/space/a b")), rest: path, Want: asked("/redirect/space/a%20b")},
		{Name: "redirect/stray-percent", replies: always(to("/redirect/stray-percent/a%zz")), rest: path, Want: asked("/redirect/stray-percent/a%zz")},
		{Name: "redirect/bad-port", replies: always(to("http://h:80a/")), Want: Outcome{Status: 302, Failure: crawl.FailStatus, Hits: 1}},
		{Name: "redirect/nowhere", replies: always(page("302 Found", html, whole)), Want: Outcome{Status: 302, Text: whole, Failure: crawl.FailStatus, Hits: 1}},
		{Name: "redirect/to-file", replies: always(to("file:///etc/hosts")), Want: Outcome{Status: 302, Failure: crawl.FailStatus, Hits: 1}},
		{Name: "redirect/loop", replies: always(to("/redirect/loop")), Want: Outcome{Failure: crawl.FailIgnored, Hits: 21}},
		{Name: "redirect/refresh-base", Report: "scrapy/scrapy#7042", replies: always(ok(`<base href="/redirect/refresh-base/sub/"><meta http-equiv=refresh content="0;url=p">`)), rest: path, Want: asked("/redirect/refresh-base/sub/p")},
		{Name: "redirect/refresh-order", Report: "scrapy/w3lib#179", replies: always(ok(`<meta content="0; url=/redirect/refresh-order/n" http-equiv="refresh">`)), rest: path, Want: asked("/redirect/refresh-order/n")},
		{Name: "redirect/seen", Report: "gocolly/colly#805", replies: replies{"": send(ok(`<a href="/redirect/seen/a">a</a><a href="/redirect/seen/b">b</a>`)), "/a": send(to("/redirect/seen/b"))}, rest: send(ok(whole)), Want: Outcome{Status: 200, Text: whole, Hits: 3}},
		{Name: "redirect/final-base", Report: "apify/crawlee-python#955, spider-rs/spider#364", Hosts: []string{"www.final.test", "final.test"}, path: "/", replies: replies{"/": send(to("http://final.test/a/")), "/a/": send(link("x"))}, rest: hosts, Want: asked("final.test/a/x")},
		{Name: "redirect/secrets", Report: "gocolly/colly#916", Header: secrets, Hosts: []string{"secrets.test", "thief.test"}, path: "/", replies: replies{"/": send(to("http://thief.test/x"))}, rest: told, Want: asked("thief.test is told ")},
		{Name: "redirect/secrets-port", Report: "gocolly/colly#916", Header: secrets, Hosts: []string{"door.test", "door.test:81"}, path: "/", replies: replies{"/": send(to("http://door.test:81/x"))}, rest: told, Want: asked("door.test:81 is told secret=1")},
		{Name: "redirect/secrets-kept", Header: secrets, Hosts: []string{"home.test"}, path: "/", replies: replies{"/": send(to("/x"))}, rest: told, Want: asked("home.test is told secret=1Basic c2VjcmV0")},
	}
}
