package crawl_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/skeincrawl/skein/crawl"
)

// quotesPage stands for what a server sends.
func quotesPage() *crawl.Response {
	return &crawl.Response{
		URL:    "https://quotes.example/page/1/",
		Status: http.StatusOK,
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		Body: []byte(`<html><body>
			<div class="quote"><span class="text">To be, or not to be.</span><small class="author">Hamlet</small></div>
			<div class="quote"><span class="text">Out, damned spot!</span><small class="author">Lady Macbeth</small></div>
			<ul><li class="next"><a href="/page/2/">Next</a></li></ul>
		</body></html>`),
	}
}

// Quotes is a spider: a type with a Parse method.
type Quotes struct {
	Tag string `arg:"tag" doc:"only quotes with this tag"`
}

// Quote is an item: any struct.
type Quote struct {
	Text   string `json:"text"`
	Author string `json:"author"`
}

// Parse emits the items of a page and follows the link to the next one.
func (q *Quotes) Parse(_ context.Context, r *crawl.Response, out crawl.Out) error {
	for s := range r.CSS("div.quote").Each() {
		out.Item(Quote{Text: s.CSS(".text::text").Get(), Author: s.CSS(".author::text").Get()})
	}
	out.Follow(r.CSS("li.next a::attr(href)").Get(), q.Parse)
	return nil
}

// ParseAuthor is a callback with an argument.
func (q *Quotes) ParseAuthor(_ context.Context, r *crawl.Response, out crawl.Out, quote Quote) error {
	out.Item(quote.Author + " is at " + r.URL)
	return nil
}

// Run tests a callback without a crawl: it takes a response and returns what the
// callback emitted.
func ExampleRun() {
	got, err := crawl.Run(context.Background(), (&Quotes{}).Parse, quotesPage())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range got.Items {
		fmt.Printf("%+v\n", item)
	}
	fmt.Println(got.Requests[0])
	// Output:
	// {Text:To be, or not to be. Author:Hamlet}
	// {Text:Out, damned spot! Author:Lady Macbeth}
	// <GET https://quotes.example/page/2/>
}

// A selection is a list of elements, or of their texts or attributes.
func ExampleSelection() {
	r := quotesPage()
	fmt.Println(r.CSS(".author::text").All())
	fmt.Println(r.CSS(".author::text").Get())
	fmt.Println(r.CSS("li.next a").Attr("href"))
	fmt.Println(r.CSS(".price::text").GetOr("no price"))
	fmt.Println(r.CSS(".quote").At(1).CSS("::text").Len())
	// Output:
	// [Hamlet Lady Macbeth]
	// Hamlet
	// /page/2/
	// no price
	// 2
}

// With passes something on to the callback of the next page. It travels with the
// request, into the job directory too.
func ExampleWith() {
	q := &Quotes{}
	r := &crawl.Request{URL: "https://quotes.example/author/Hamlet", Callback: crawl.With(q.ParseAuthor, Quote{Author: "Hamlet"})}

	callbacks := crawl.NewCallbacks(q)
	stored, err := callbacks.AppendRequest(nil, r)
	fmt.Println(string(stored), err)

	r, err = callbacks.DecodeRequest(stored)
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := crawl.Run(context.Background(), r.Callback, &crawl.Response{URL: r.URL})
	fmt.Println(got.Items, err)
	// Output:
	// {"url":"https://quotes.example/author/Hamlet","callback":"ParseAuthor","args":{"text":"","author":"Hamlet"}} <nil>
	// [Hamlet is at https://quotes.example/author/Hamlet] <nil>
}

// ArgsOf reads the arguments where there is no response, in an errback.
func ExampleArgsOf() {
	q := &Quotes{}
	r := &crawl.Request{URL: "https://quotes.example/author/Hamlet", Callback: crawl.With(q.ParseAuthor, Quote{Author: "Hamlet"})}
	quote, err := crawl.ArgsOf[Quote](r)
	fmt.Println(quote.Author, err)
	// Output: Hamlet <nil>
}

// Links yields every link of a page without building its tree.
func ExampleResponse_Links() {
	for link := range quotesPage().Links() {
		fmt.Println(link.URL, link.NoFollow())
	}
	// Output: https://quotes.example/page/2/ false
}

// A spider's arguments are fields with a tag; a wrong one is told by its name.
func ExampleSpec_Build() {
	spec := crawl.Spec{Name: "quotes", New: func() crawl.Spider { return &Quotes{} }}
	_, errs := spec.Build(map[string]string{"tga": "love"})
	fmt.Println(errs[0])
	// Output: spider quotes: argument tga: is not known, did you mean tag? (it takes tag)
}

// Through changes or drops what a callback emits, as a spider middleware does.
func ExampleOut_Through() {
	polite := func(next crawl.Handler) crawl.Handler {
		return func(ctx context.Context, r *crawl.Response, f *crawl.Failure, out crawl.Out) error {
			return next(ctx, r, f, out.Through(func(v any) any {
				if q, ok := v.(Quote); ok && strings.Contains(q.Text, "damned") {
					return nil
				}
				return v
			}))
		}
	}
	handler := polite(func(ctx context.Context, r *crawl.Response, _ *crawl.Failure, out crawl.Out) error {
		return (&Quotes{}).Parse(ctx, r, out)
	})
	got, err := crawl.Run(context.Background(), func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
		return handler(ctx, r, nil, out)
	}, quotesPage())
	fmt.Println(len(got.Items), err)
	// Output: 1 <nil>
}

// On connects a handler with an event of the crawl.
func ExampleOn() {
	var signals crawl.Signals
	crawl.On(&signals, func(_ context.Context, e crawl.ItemScraped) error {
		fmt.Println("scraped", e.Item)
		return nil
	})
	err := crawl.Send(context.Background(), &signals, crawl.ItemScraped{Item: "a quote"})
	fmt.Println(err)
	// Output:
	// scraped a quote
	// <nil>
}
