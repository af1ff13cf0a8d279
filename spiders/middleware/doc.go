// Package middleware holds the built-in spider middlewares. Each registers
// itself in [Registry].
package middleware

import "github.com/skeincrawl/skein/crawl"

// Registry has the constructors of the spider middlewares, by the names that
// SPIDER_MIDDLEWARES uses. A constructor that returns nil without an error says
// that its settings turn it off.
var Registry = crawl.NewRegistry[func(*crawl.Env) (crawl.SpiderMiddleware, error)]("spider middleware") //nolint:gochecknoglobals // a registry.
