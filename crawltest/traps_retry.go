package crawltest

import "github.com/skeincrawl/skein/crawl"

// first answers with a text the first time, and then with a whole page.
func first(text string) replies {
	return replies{"": func(v *visit) {
		if v.hit == 1 {
			v.send(text)
		} else {
			v.send(ok(whole))
		}
	}}
}

// retryTraps are errors that another try may cure, or not.
func retryTraps() []Trap {
	const part = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n<p>"
	late := func(after string) string { return page("429 Too Many Requests", "Retry-After: "+after+"\r\n", "") }
	cured := Outcome{Status: 200, Text: whole, Hits: 2}
	return []Trap{
		{Name: "retry/after", Report: "scrapy/scrapy#3849", Want: cured, replies: first(late("1"))},
		{Name: "retry/after-zero", Report: "apify/crawlee-python#1995", Want: cured, replies: first(late("0"))},
		{Name: "retry/after-negative", Report: "apify/crawlee-python#1995", Want: cured, replies: first(late("-5"))},
		{Name: "retry/after-garbage", Want: cured, replies: first(late("soon"))},
		{Name: "retry/cut-once", Want: cured, replies: first(part)},
		{Name: "retry/unavailable-once", Want: cured, replies: first(page("503 Service Unavailable", "", ""))},
		{Name: "retry/always-500", Report: "apify/crawlee-python#1326", Options: crawl.Options{MaxRetries: 3}, Want: Outcome{Status: 500, Failure: crawl.FailStatus, Hits: 4}, replies: always(page("500 Internal Server Error", "", ""))},
		{Name: "retry/never", Options: crawl.Options{NoRetry: true}, Want: Outcome{Status: 500, Failure: crawl.FailStatus, Hits: 1}, replies: always(page("500 Internal Server Error", "", ""))},
		{Name: "retry/stalls", Report: "squirrelscan/squirrelscan#187", Options: quick(), Want: Outcome{Failure: crawl.FailTimeout}, replies: replies{"": stall(part)}},
		{Name: "retry/silent", Options: quick(), Want: Outcome{Failure: crawl.FailTimeout}, replies: replies{"": stall("")}},
	}
}
