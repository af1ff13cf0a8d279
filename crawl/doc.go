// Package crawl is the vocabulary of the module: requests, responses,
// selections, items, spiders and the events of a crawl. Spider authors import
// it; every other package speaks it, and it knows none of them but settings.
//
// A spider is a type with a Parse method, registered under a name:
//
//	type Quotes struct{}
//
//	func (q *Quotes) Parse(ctx context.Context, r *crawl.Response, out crawl.Out) error {
//		for s := range r.CSS("div.quote").Each() {
//			out.Item(Quote{Text: s.CSS(".text::text").Get(), Author: s.CSS(".author::text").Get()})
//		}
//		out.Follow(r.CSS("li.next a::attr(href)").Get(), q.Parse)
//		return nil
//	}
//
//	func init() {
//		crawl.Register(crawl.Spec{Name: "quotes", StartURLs: []string{"https://quotes.toscrape.com/"}, New: func() crawl.Spider { return &Quotes{} }})
//	}
//
// What a callback emits is one crawl step: its requests and items are accepted
// together, or, when the process dies before that, not at all, and then the
// request is fetched again.
package crawl
