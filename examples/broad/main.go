// Command broad follows all links, but takes only so many pages from each host:
//
//	go run ./examples/broad broad -a seeds=https://a.example,https://b.example -a budget=100 -o pages.jsonl
package main

import (
	"context"
	"net/url"
	"strings"
	"sync"

	"github.com/skeincrawl/skein/cmd"
	"github.com/skeincrawl/skein/crawl"
)

func init() {
	spider := func() crawl.Spider { return &Broad{Budget: 100, spent: map[string]int{}, pages: map[string]bool{}} }
	set := map[string]any{"CONCURRENT_REQUESTS": 100, "ROBOTSTXT_OBEY": true}
	crawl.Register(crawl.Spec{Name: "broad", Doc: "Reads a few pages of many hosts.", Settings: set, New: spider})
}

func main() { cmd.Main() }

// Broad is the spider.
type Broad struct {
	Seeds  string `arg:"seeds" doc:"URLs to begin with, separated by commas"`
	Budget int    `arg:"budget" doc:"pages of a host in one run"`
	mu     sync.Mutex
	spent  map[string]int  // by host
	pages  map[string]bool // admitted
}

// Start asks for the first pages.
func (b *Broad) Start(_ context.Context, out crawl.Out) error {
	out.FollowAll(strings.SplitSeq(b.Seeds, ","), b.Parse)
	return nil
}

// Admit refuses what is beyond the budget of its host. No page costs twice.
func (b *Broad) Admit(r *crawl.Request) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	u, err := url.Parse(r.URL)
	if err != nil || b.pages[r.URL] {
		return err
	}
	if b.spent[u.Host]++; b.spent[u.Host] > b.Budget {
		return crawl.Ignore("the budget of " + u.Host + " is spent")
	}
	b.pages[r.URL] = true
	return nil
}

// Parse notes a page and follows its links.
func (b *Broad) Parse(_ context.Context, r *crawl.Response, out crawl.Out) error {
	out.Item(map[string]string{"url": r.URL, "title": r.CSS("title::text").Get()})
	out.FollowAll(r.CSS("a::attr(href)").Values(), b.Parse)
	return nil
}
