package downloader

import "github.com/skeincrawl/skein/crawl"

// A Middleware puts a layer around a [crawl.Fetcher]. What it returns follows
// the contract of a Fetcher; what it does to requests it does on the way to
// next, and to responses on the way back.
type Middleware = func(next crawl.Fetcher) crawl.Fetcher

// Middlewares are the constructors of the downloader middlewares, by the names
// that DOWNLOADER_MIDDLEWARES uses. A constructor that returns nil without an
// error says that its settings turn it off.
var Middlewares = crawl.NewRegistry[func(*crawl.Env) (Middleware, error)]("downloader middleware") //nolint:gochecknoglobals // a registry.
