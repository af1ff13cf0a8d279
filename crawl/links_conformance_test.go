package crawl_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/conformance"
)

func TestBaseURLConformance(t *testing.T) {
	conformance.Run(t, "links/base_url", func(r *conformance.Row, c struct {
		Body        string
		BodyB64     []byte `json:"body_b64"`
		DocumentURL string `json:"document_url"`
		Expected    string
	},
	) {
		got, err := htmlPage(c.DocumentURL, c.Body+string(c.BodyB64)).Join("")
		if c.Expected == "" { // a page without a URL and without a base
			r.Equal(err != nil, true)
			return
		}
		sameURL(r, got, err, c.Expected)
	})
}

// sameURL compares a URL with the one that is wanted, in the form of this program.
func sameURL(r *conformance.Row, got string, err error, expected string) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
	want, err := htmlPage(expected, "").Join("")
	if err != nil {
		r.Fatal(err)
	}
	r.Equal(got, want)
}

func TestJoinConformance(t *testing.T) {
	conformance.Run(t, "links/urljoin_follow", func(r *conformance.Row, c struct {
		Body, Href, Expected string
		URL                  string `json:"response_url"`
	},
	) {
		got, err := htmlPage(c.URL, c.Body).Join(c.Href)
		sameURL(r, got, err, c.Expected)
	})
}

// TestRealPagesConformance compares the two ways in which links are found. They
// differ where the parser repairs a page: it closes and reopens elements, so that
// the tree holds a link once more, and drops some, in a select for example.
func TestRealPagesConformance(t *testing.T) {
	conformance.Run(t, "pages/pages", func(r *conformance.Row, c struct{ File string }) {
		body := r.File("pages/" + c.File)
		page := func() *crawl.Response {
			return &crawl.Response{URL: "http://example.com/dir/page", Header: http.Header{"Content-Type": {"text/html"}}, Body: body}
		}
		tokens := links(page())
		parsed := page()
		parsed.Doc()
		tree := links(parsed)
		if !slices.Equal(tokens, tree) {
			r.Errorf("%s: %d links of tokens, %d of the tree", c.File, len(tokens), len(tree))
		}
	})
}
