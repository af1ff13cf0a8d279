package crawltest

// charsetTraps are pages whose encoding is hard to tell.
func charsetTraps() []Trap {
	trap := func(name, report, contentType, body, text string) Trap {
		return Trap{
			Name: "charset/" + name, Report: report, Want: asked(text),
			replies: always(page("200 OK", "Content-Type: "+contentType+"\r\n", body)),
		}
	}
	return []Trap{
		trap("meta-gb2312", "gocolly/colly#155", "text/html", "<meta charset=gb2312><p>\xc4\xe3\xba\xc3", "<meta charset=gb2312><p>\u4f60\u597d"),
		trap("meta-windows-1251", "gocolly/colly#777", "text/html", "<meta http-equiv=content-type content='text/html; charset=windows-1251'>\xcf\xf0", "<meta http-equiv=content-type content='text/html; charset=windows-1251'>\u041f\u0440"),
		trap("label-with-hyphens", "gocolly/colly#421", "text/html; charset=GB-18030", "<p>\xc4\xe3", "<p>\u4f60"),
		trap("in-a-script", "bda-research/node-crawler#203", "text/html", "<script>location.href='x?charset=gbk&bbc=1'</script><p>\u00e4\u00f6\u00fc\u20ac", "<script>location.href='x?charset=gbk&bbc=1'</script><p>\u00e4\u00f6\u00fc\u20ac"),
		trap("in-a-comment", "scrapy/w3lib#305", "text/html", "<!-- <meta charset=koi8-r> --><meta charset=utf-8>\u00e4", "<!-- <meta charset=koi8-r> --><meta charset=utf-8>\u00e4"),
		trap("bom-first", "scrapy/scrapy#5601", "text/html; charset=iso-8859-1", "\ufeff<p>\u00e4", "<p>\u00e4"),
		trap("json", "scrapy/scrapy#6456", "application/json; charset=iso-8859-1", "{\"a\":\"\xe9\"}", "{\"a\":\"\u00e9\"}"),
		{
			Name: "charset/query", Report: "scrapy/scrapy#998", Want: asked("/charset/query/%D0%BF?q=%EF"), rest: echo(echoPath),
			replies: always(page("200 OK", "Content-Type: text/html; charset=windows-1251\r\n", "<a href='/charset/query/\xef?q=\xef'>next</a>")),
		},
	}
}
