// Command api reads a paginated JSON API, retries pages and notes those it lost:
//
//	go run ./examples/api api -a base=https://api.example -o products.jsonl
package main

import (
	"context"
	"fmt"

	"github.com/skeincrawl/skein/cmd"
	"github.com/skeincrawl/skein/crawl"
)

func init() {
	crawl.Register(crawl.Spec{Name: "api", Doc: "Reads the products of an API.", New: func() crawl.Spider { return &Products{} }})
}

func main() { cmd.Main() }

// Products is the spider.
type Products struct {
	Base string `arg:"base" doc:"where the API is"`
}

// Start asks for the first page.
func (p *Products) Start(_ context.Context, out crawl.Out) error {
	out.Request(p.page(1))
	return nil
}

func (p *Products) page(n int) *crawl.Request {
	return &crawl.Request{URL: fmt.Sprintf("%s/products?page=%d", p.Base, n), Args: n, Errback: p.Lost, Options: crawl.Options{MaxRetries: 3}}
}

// Parse emits the products of a page. The first tells how many there are.
func (p *Products) Parse(_ context.Context, r *crawl.Response, out crawl.Out) error {
	var page struct {
		Products []map[string]any
		Pages    int
	}
	if err := r.JSON(&page); err != nil {
		return crawl.Retry(r.Request, "no JSON") // an answer cut short, or an error page
	}
	for _, product := range page.Products {
		out.Item(product)
	}
	n, err := crawl.ArgsOf[int](r.Request)
	for next := 2; n == 1 && next <= page.Pages; next++ {
		out.Request(p.page(next))
	}
	return err
}

// Lost notes a page that failed each time.
func (p *Products) Lost(_ context.Context, f *crawl.Failure, out crawl.Out) error {
	n, err := crawl.ArgsOf[int](f.Request)
	out.Item(map[string]any{"lost_page": n, "why": f.Error()})
	return err
}
