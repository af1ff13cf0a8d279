// Package quotes is the spider of the demonstration: it reads the site that
// `crawl demo` serves, and shows how a spider is written.
package quotes

import (
	"context"

	"github.com/skeincrawl/skein/crawl"
)

// Name is the name of the spider.
const Name = "quotes"

// Spec describes the spider. It does not register itself: a spider of the same
// name, which many a first program has, takes its place.
func Spec() crawl.Spec {
	return crawl.Spec{
		Name: Name,
		Doc:  "Reads the quotes and authors of the site that `crawl demo` serves.",
		New:  func() crawl.Spider { return &Spider{Site: "http://127.0.0.1:8000/"} },
	}
}

// Quote is one item of a page of quotes.
type Quote struct {
	Type   string   `json:"type"` // "quote"
	Text   string   `json:"text"`
	Author string   `json:"author"`
	Tags   []string `json:"tags"`
}

// Author is the item of the page of an author.
type Author struct {
	Type  string `json:"type"` // "author"
	Name  string `json:"name"`
	Born  string `json:"born"`
	Place string `json:"place"`
	Bio   string `json:"bio"`
}

// Spider is the spider "quotes".
type Spider struct {
	Site string `arg:"site" doc:"URL of the first page; by default where crawl demo serves"`
}

var _ crawl.Starter = (*Spider)(nil)

// Start asks for the first page.
func (s *Spider) Start(_ context.Context, out crawl.Out) error {
	out.Request(&crawl.Request{URL: s.Site, DontFilter: true})
	return nil
}

// Parse reads a page of quotes. It follows the links to the authors and to the
// next page; an author who is linked from many pages is fetched once.
func (s *Spider) Parse(_ context.Context, r *crawl.Response, out crawl.Out) error {
	for q := range r.CSS("div.quote").Each() {
		out.Item(Quote{
			Type: "quote", Text: q.CSS(".text::text").Get(), Author: q.CSS(".author::text").Get(), Tags: q.CSS(".tag::text").All(),
		})
		out.Follow(q.CSS("a.about::attr(href)").Get(), s.ParseAuthor)
	}
	out.Follow(r.CSS("li.next a::attr(href)").Get(), nil)
	return nil
}

// ParseAuthor reads the page of an author.
func (s *Spider) ParseAuthor(_ context.Context, r *crawl.Response, out crawl.Out) error {
	out.Item(Author{
		Type: "author", Name: r.CSS(".author-title::text").Get(), Born: r.CSS(".author-born-date::text").Get(),
		Place: r.CSS(".author-born-location::text").Get(), Bio: r.CSS(".author-description::text").Get(),
	})
	return nil
}
