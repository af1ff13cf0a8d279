package crawltest

import "strings"

// cookie returns the head lines that set cookies.
func cookie(lines ...string) string {
	return html + "Set-Cookie: " + strings.Join(lines, "\r\nSet-Cookie: ") + "\r\n"
}

// jar is a trap with a page that sets cookies and leads to one that tells which
// the client sends: on the last host.
func jar(name, report, want string, hosts []string, lines ...string) Trap {
	last := hosts[len(hosts)-1]
	return Trap{
		Name: "cookies/" + name, Report: report, Hosts: hosts, path: "/", rest: echo(echoCookie), Want: asked(want),
		replies: replies{"/": send(page("200 OK", cookie(lines...), `<a href="http://`+last+`/sent">next</a>`))},
	}
}

// cookieTraps are cookies that are odd, or for others.
func cookieTraps() []Trap {
	here := func(name string) []string { return []string{name + ".test"} }
	direct := func(name, host, line string) Trap {
		return Trap{
			Name: "cookies/" + name, start: "http://" + host + ":{port}/cookies/" + name + "/", rest: echo(echoCookie), Want: asked("here=1"),
			replies: replies{"/": send(page("200 OK", cookie(line), `<a href="sent">next</a>`))},
		}
	}
	localhost, address := direct("localhost", "localhost", "here=1; Domain=localhost"), direct("address", "127.0.0.1", "here=1; Domain=127.0.0.1")
	localhost.Report, address.Report = "scrapy/scrapy#6410", "golang/go#12610"
	return []Trap{
		jar("no-equals", "apache/stormcrawler#2075", "a=1", here("no-equals"), "foo", "a=1"),
		jar("odd-names", "", "a[b]=1; c d=2", here("odd-names"), "a[b]=1", "c d=2"),
		jar("json", "", `t={"a":1}`, here("json"), `t={"a":1}`),
		jar("space", "", "g=a b", here("space"), "g=a b"),
		jar("8-bit", "", "n=M\u00fcller", here("8-bit"), "n=M\u00fcller"),
		jar("dates", "crwlrsoft/crawler#33", "a=1; b=2", here("dates"), "a=1; Expires=Tue, 05 Jul 2033 10:00:00 GMT", "b=2; Expires=Tue, 05-Jul-33 10:00:00 GMT"),
		jar("asctime", "", "b=1", here("asctime"), "a=1", "b=1", "a=; Expires=Thu Jan  1 00:00:00 1970"),
		jar("leading-dot", "internetarchive/heritrix3#691", "a=1", []string{"www.dot.test", "sub.dot.test"}, "a=1; Domain=.dot.test"),
		jar("other-host", "apache/stormcrawler#2075", "", []string{"one.test", "two.test"}, "a=1"),
		jar("top-level", "apache/stormcrawler#2075", "", []string{"evil.com", "good.com"}, "a=1; Domain=com"),
		jar("public-suffix", "scrapy/scrapy GHSA-mfjm-vh54-3f96", "", []string{"evil.co.uk", "good.co.uk"}, "s=x; Domain=co.uk"),
		jar("port", "scrapy/scrapy#351, golang/go#19240", "a=1", []string{"port.test:4443", "port.test"}, "a=1"),
		localhost, address,
	}
}
