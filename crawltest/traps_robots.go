package crawltest

import (
	"strings"

	"github.com/skeincrawl/skein/crawl"
)

// robotsTraps are robots.txt files, and what servers send in their place. The
// name of the crawler is Trapbot.
func robotsTraps() []Trap {
	allowed, refused := got(), Outcome{Failure: crawl.FailIgnored}
	file := func(text string) func(*visit) { return send(page("200 OK", "Content-Type: text/plain\r\n", text)) }
	trap := func(name, report, path string, want Outcome, robots func(*visit)) Trap {
		return Trap{
			Name: "robots/" + name, Report: report, Hosts: []string{name + ".robots.test"}, path: path, Want: want,
			replies: replies{robotsPath: robots}, rest: send(ok(whole)),
		}
	}
	fails := func(kind crawl.FailureKind) Outcome { return Outcome{Failure: kind} }
	large := trap("redirect-to-large", "apache/stormcrawler#2004", "/private", fails(crawl.FailTooLarge), send(to("/large.txt")))
	large.replies["/large.txt"] = flood("HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /private\n", "# "+strings.Repeat("x", 4000)+"\n")
	return []Trap{
		trap("product-token", "nuxt-modules/robots#314", "/", refused, file("User-agent: TRAPBOT\nDisallow: /\n")),
		trap("other-token", "nuxt-modules/robots#314", "/", allowed, file("User-agent: Trap\nDisallow: /\n")),
		trap("odd-agent", "andreburgaud/robotspy#223", "/page", allowed, file("User-agent: *\nDisallow: /internal\nUser-agent: 5emeRue\nDisallow: /\n")),
		trap("wildcard", "rejifald/movar#434", "/a/private/x", refused, file("User-agent: *\nDisallow: /*/private\n")),
		trap("anchor", "rejifald/movar#434", "/x.json", refused, file("User-agent: *\nDisallow: /*.json$\n")),
		trap("anchored", "rejifald/movar#434", "/x.json?y", allowed, file("User-agent: *\nDisallow: /*.json$\n")),
		trap("unavailable", "apify/crawlee-python#2065", "/", fails(crawl.FailOther), send(page("503 Service Unavailable", html, whole))),
		trap("resets", "kreuzberg-dev/kreuzcrawl#44", "/", fails(crawl.FailConnection), reset),
		trap("closes", "kreuzberg-dev/kreuzcrawl#44", "/", fails(crawl.FailConnection), func(*visit) {}),
		large,
		trap("bom", "scrapy/scrapy#6195", "/private", refused, file("\ufeffUser-agent: *\nDisallow: /private\n")),
		trap("latin-1", "scrapy/scrapy#6292", "/private", refused, file("# \xe4\xf6\xfc\nUser-agent: *\nDisallow: /private\n")),
		trap("equals", "scrapy/protego@0.3.1", "/x?s=1", refused, file("User-agent: *\nDisallow: /*?s=\n")),
		trap("rate-of-others", "crawler-commons/crawler-commons#590", "/", allowed, file("User-agent: *\nRequest-rate: 1/10m\nDisallow:\nUser-agent: trapbot\nDisallow: /x\n")),
		trap("sitemap", "scrapy/scrapy#2390", "/", allowed, file("Sitemap: /sm.xml\nUser-agent: *\nDisallow: /x\n")),
		trap("page", "", "/", allowed, send(ok("<html>User-agent"))),
		trap("redirect-loop", "", "/", allowed, send(to(robotsPath))),
	}
}
