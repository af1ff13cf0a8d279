package downloader

import (
	"context"
	"errors"
	"fmt"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/weburl"
)

// A Router hands each request to the handler of its URL's scheme. It must not
// be changed while it is in use.
type Router map[string]crawl.Fetcher

var _ crawl.Fetcher = Router(nil)

// NewRouter returns the router for the schemes that are built in: web is the
// handler of http and https, files are read by [File], data URLs by [FetchData].
func NewRouter(web crawl.Fetcher, cfg FileConfig) Router {
	return Router{"http": web, "https": web, "file": NewFile(cfg), "data": crawl.FetcherFunc(FetchData)}
}

// Fetch passes r to the handler of its scheme. Without one the error is a
// [crawl.DownloadError] of kind [crawl.FailUnsupported].
func (t Router) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	scheme := weburl.Scheme(r.URL)
	if h, ok := t[scheme]; ok {
		return h.Fetch(ctx, r)
	}
	text := fmt.Sprintf("Unsupported URL scheme '%s': no handler available for that scheme", scheme)
	return nil, unsupported(errors.New(text))
}
