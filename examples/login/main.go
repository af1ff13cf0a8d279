// Command login is a crawler whose spider signs in with the form of a site, and
// then reads pages that the site shows to its users only:
//
//	go run ./examples/login login -a site=https://shop.example -a user=me -a password=… -o orders.jsonl
package main

import (
	"context"
	"net/url"

	"github.com/skeincrawl/skein/cmd"
	"github.com/skeincrawl/skein/crawl"
)

func init() {
	crawl.Register(crawl.Spec{Name: "login", Doc: "Reads the orders of a user.", New: func() crawl.Spider { return &Orders{} }})
}

func main() { cmd.Main() }

// Orders is the spider. The cookie of the session is kept for it.
type Orders struct {
	Site     string `arg:"site" doc:"where the shop is"`
	User     string `arg:"user" doc:"who signs in"`
	Password string `arg:"password,secret" doc:"with what"`
}

// Start asks for the page with the form.
func (o *Orders) Start(_ context.Context, out crawl.Out) error {
	out.Request(&crawl.Request{URL: o.Site + "/login", DontFilter: true})
	return nil
}

// Resume signs in again when a stopped job goes on: sessions end.
func (o *Orders) Resume(ctx context.Context, out crawl.Out) error { return o.Start(ctx, out) }

// Parse sends the form with its hidden fields. The site answers with the orders.
func (o *Orders) Parse(_ context.Context, r *crawl.Response, out crawl.Out) error {
	form, err := crawl.FormFrom(r, crawl.Form{ID: "login", Values: url.Values{"user": {o.User}, "password": {o.Password}}})
	if err == nil {
		form.Callback, form.DontFilter = o.ParseOrders, true
		out.Request(form)
	}
	return err
}

// ParseOrders reads a page of orders and goes on to the next.
func (o *Orders) ParseOrders(_ context.Context, r *crawl.Response, out crawl.Out) error {
	if r.CSS("#login").Len() > 0 {
		return crawl.CloseSpider("login_failed")
	}
	for row := range r.XPath("//table[has-class('orders')]//tr[td]").Each() {
		out.Item(map[string]string{"number": row.XPath("td[1]/text()").Get(), "total": row.XPath("td[2]").ReFirst(`\d+\.\d+`)})
	}
	out.Follow(r.CSS("a[rel=next]::attr(href)").Get(), o.ParseOrders)
	return nil
}
