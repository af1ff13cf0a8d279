package crawl_test

import (
	"fmt"
	"net/url"

	"github.com/skeincrawl/skein/crawl"
)

// XPath and CSS can be mixed: each goes on from what the other found.
func ExampleSelection_XPath() {
	for quote := range quotesPage().CSS("div.quote").Each() {
		fmt.Println(quote.XPath("span[has-class('text')]/text()").Get(), "by", quote.XPath("string(small)").Get())
	}
	fmt.Println(quotesPage().XPath("count(//div[@class='quote'])").Get(), "quotes")
	// Output:
	// To be, or not to be. by Hamlet
	// Out, damned spot! by Lady Macbeth
	// 2 quotes
}

// In XML, names are case-sensitive, and prefixes are those of the document.
func ExampleResponse_XPath() {
	feed := xmlPage("application/rss+xml", `<rss xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>
		<item><title>One</title><pubDate>Mon</pubDate><dc:creator>Ann</dc:creator></item></channel></rss>`)
	for item := range feed.XPath("/rss/channel/item").Each() {
		fmt.Println(item.XPath("title/text()").Get(), item.XPath("pubDate/text()").Get(), item.XPath("dc:creator/text()").Get())
	}
	// Output: One Mon Ann
}

// Re reads parts of texts.
func ExampleSelection_Re() {
	page := htmlPage("https://shop.example/", "<p class=price>EUR 9.50</p><p class=price>EUR 12.00</p>")
	fmt.Println(page.CSS(".price::text").Re(`(\w+) (\d+)`), page.CSS(".price").ReFirst(`\d+\.\d+`))
	// Output: [EUR 9 EUR 12] 9.50
}

// FormFrom fills in a form of the page and sends it as a browser does.
func ExampleFormFrom() {
	page := htmlPage("https://shop.example/login", `<form id=login action=/session method=post>
		<input type=hidden name=token value=t17><input name=user><input name=stay type=checkbox checked><button name=go value=in>Sign in</button></form>`)
	r, err := crawl.FormFrom(page, crawl.Form{ID: "login", Values: url.Values{"user": {"me"}, "stay": nil}})
	fmt.Println(r, string(r.Body), err)
	// Output: <POST https://shop.example/session> token=t17&user=me&go=in <nil>
}

// NewForm sends values without a page.
func ExampleNewForm() {
	r := crawl.NewForm("https://shop.example/search", url.Values{"q": {"red & blue"}})
	fmt.Println(r, string(r.Body))
	// Output: <POST https://shop.example/search> q=red+%26+blue
}

// NewJSON asks an API.
func ExampleNewJSON() {
	r, err := crawl.NewJSON("https://shop.example/api", map[string]any{"query": "lamps", "page": 1})
	fmt.Println(r, string(r.Body), err)
	// Output: <POST https://shop.example/api> {"page":1,"query":"lamps"} <nil>
}
