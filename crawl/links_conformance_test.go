package crawl_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/conformance"
)

func TestBaseURLConformance(t *testing.T) {
	t.Parallel()
	var count tally
	for _, c := range cases[struct {
		ID          string `json:"id"`
		Body        string `json:"body"`
		BodyB64     []byte `json:"body_b64"`
		DocumentURL string `json:"document_url"`
		Encoding    string `json:"encoding"`
		Expected    string `json:"expected"`
	}](t, "links/base_url.jsonl") {
		if c.Expected == "" {
			continue // a page without a URL and without a base
		}
		r := htmlPage(c.DocumentURL, c.Body+string(c.BodyB64))
		got, err := r.Join("")
		if err != nil {
			got = err.Error()
		}
		want, err := htmlPage(c.Expected, "").Join("")
		if err != nil {
			t.Fatal(err)
		}
		count.row(t, c.ID, got, want, got == want)
	}
	count.floor(t, "base_url", nil)
}

func TestJoinConformance(t *testing.T) {
	t.Parallel()
	var count tally
	for _, c := range cases[struct {
		ID, Fn, Body, Href, Expected string
		URL                          string `json:"response_url"`
	}](t, "links/urljoin_follow.jsonl") {
		if c.Fn != "urljoin" {
			continue
		}
		got, err := htmlPage(c.URL, c.Body).Join(c.Href)
		count.row(t, c.ID, got, c.Expected, err == nil && got == c.Expected)
	}
	count.floor(t, "urljoin_follow", nil)
}

// TestLinksOfRealPages compares the two ways in which links are found. They
// differ where the parser repairs a page: it closes and reopens elements, so that
// the tree holds a link once more, and drops some, in a select for example.
func TestLinksOfRealPages(t *testing.T) {
	t.Parallel()
	var count tally
	for _, c := range cases[struct {
		ID   string `json:"id"`
		File string `json:"file"`
		URL  string `json:"document_url"`
	}](t, "pages/pages.jsonl") {
		body := conformance.File(t, "pages/"+c.File)
		page := func() *crawl.Response {
			return &crawl.Response{URL: "http://example.com/dir/page", Header: http.Header{"Content-Type": {"text/html"}}, Body: body}
		}
		tokens := links(page())
		parsed := page()
		parsed.Doc()
		tree := links(parsed)
		count.row(t, c.ID, tree, tokens, slices.Equal(tokens, tree))
		if !slices.Equal(tokens, tree) {
			t.Logf("%s: %d of tokens, %d of the tree", c.File, len(tokens), len(tree))
		}
	}
	count.floor(t, "pages", nil)
}
