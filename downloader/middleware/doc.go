// Package middleware holds the built-in downloader middlewares. Each registers
// itself in [downloader.Middlewares]; so does the HTTP cache, which has a package
// of its own.
package middleware

import (
	"github.com/skeincrawl/skein/crawl"
	_ "github.com/skeincrawl/skein/downloader/httpcache" // it is in DOWNLOADER_MIDDLEWARES_BASE
)

// wrapper is implemented by fetchers of this package that pass every request on.
type wrapper interface {
	inner() crawl.Fetcher
}
