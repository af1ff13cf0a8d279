// Package middleware holds the built-in downloader middlewares. Each registers
// itself in [downloader.Middlewares].
package middleware

import "github.com/skeincrawl/skein/crawl"

// wrapper is implemented by fetchers of this package that pass every request on.
type wrapper interface {
	inner() crawl.Fetcher
}
