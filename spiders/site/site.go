// Package site is the spider that crawls any web site without a line of code:
// it starts at some URLs, emits one item for each page and follows the links.
package site

import (
	"context"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
)

func init() {
	crawl.Register(crawl.Spec{
		Name: "site",
		Doc:  "Crawls web sites from their start URLs: one item a page, with fields by CSS selectors.",
		New:  New,
		// Its users need not know the sites, and these not them.
		Settings: map[string]any{"ROBOTSTXT_OBEY": true},
	})
}

// closeReason is that of CLOSESPIDER_PAGECOUNT, which ends a crawl for the same
// cause.
const closeReason = "closespider_pagecount"

// Spider is the spider "site". Its arguments are checked by Validate.
type Spider struct {
	StartURLs string `arg:"start" doc:"where to start: a URL, several separated by commas, @FILE with one a line, or - for standard input"`
	Allow     string `arg:"allow" doc:"regular expression that the URLs of links must match to be followed"`
	Deny      string `arg:"deny" doc:"regular expression of the URLs of links that are not followed"`
	Domains   string `arg:"domains" doc:"domains to stay in, with their subdomains, separated by commas, or * for any; by default the hosts of the start URLs"`
	Fields    string `arg:"fields" doc:"JSON object from the names of the items' fields to CSS selectors, such as {\"title\":\"h1::text\"}"`
	Pages     int    `arg:"pages,run" doc:"number of pages after which this run ends; by default there is no limit"`
	Follow    bool   `arg:"follow" doc:"whether links are followed; by default they are"`

	log     zerolog.Logger
	stats   *crawl.Stats
	source  source
	domains []string
	homes   *hosts // the hosts to stay on, if they are known only as start URLs come
	allow   *regexp.Regexp
	deny    *regexp.Regexp
	fields  []field
	handled atomic.Int64
}

var (
	_ crawl.Opener       = (*Spider)(nil)
	_ crawl.Starter      = (*Spider)(nil)
	_ crawl.Validator    = (*Spider)(nil)
	_ crawl.DomainLister = (*Spider)(nil)
)

// New returns the spider with the defaults of its arguments.
func New() crawl.Spider { return &Spider{Follow: true} }

// AllowedDomains returns the domains to stay in, none for any.
func (s *Spider) AllowedDomains() []string { return s.domains }

// Parse emits the item of a page and follows its links. At the last page of the
// run it asks to close; pages that are in progress then are still handled, as
// with CLOSESPIDER_PAGECOUNT, so that none is fetched for nothing.
func (s *Spider) Parse(_ context.Context, r *crawl.Response, out crawl.Out) error {
	out.Item(s.record(r)) // first: selecting parses the page, whose tree Links then uses
	if s.Follow {
		s.follow(r, out)
	}
	if s.Pages > 0 && s.handled.Add(1) == int64(s.Pages) {
		return crawl.CloseSpider(closeReason)
	}
	return nil
}

// record makes the item of a page. What is not HTML has no fields.
func (s *Spider) record(r *crawl.Response) crawl.Record {
	item := make(crawl.Record, 0, 3+len(s.fields))
	item = append(item,
		crawl.Field{Name: "url", Value: r.URL},
		crawl.Field{Name: "status", Value: r.Status},
		crawl.Field{Name: "depth", Value: r.Request.Trail.Depth},
	)
	if len(s.fields) == 0 || !r.IsHTML() {
		return item
	}
	for _, f := range s.fields {
		item = append(item, crawl.Field{Name: f.name, Value: firstMatch(r.CSS(f.selector))})
	}
	return item
}

// firstMatch returns the text of what was selected first, nil for nothing.
func firstMatch(s crawl.Selection) any {
	switch {
	case s.Len() == 0:
		return nil
	case len(s.Nodes()) > 0:
		return s.At(0).Text()
	}
	return s.Get()
}

// follow emits the links of a page. Those with rel=nofollow are among them: the
// word is about ranking, and what crawlers may fetch is for robots.txt to say.
func (s *Spider) follow(r *crawl.Response, out crawl.Out) {
	for l := range r.Links() {
		if s.wants(l.URL) {
			out.Request(&crawl.Request{URL: l.URL})
		}
	}
}

func (s *Spider) wants(u string) bool {
	return (s.allow == nil || s.allow.MatchString(u)) &&
		(s.deny == nil || !s.deny.MatchString(u)) &&
		(s.homes == nil || s.homes.cover(u))
}

// clip shortens a text for a message.
func clip(s string) string {
	const limit = 100
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
