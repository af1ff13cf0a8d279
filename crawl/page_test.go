package crawl_test

import (
	"net/http"

	"github.com/skeincrawl/skein/crawl"
)

// htmlPage is a page as a server sends it.
func htmlPage(url, body string) *crawl.Response {
	return &crawl.Response{URL: url, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(body)}
}

// links collects the URLs of a page's links.
func links(r *crawl.Response) []string {
	var all []string
	for l := range r.Links() {
		all = append(all, l.URL)
	}
	return all
}
