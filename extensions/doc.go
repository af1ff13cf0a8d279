// Package extensions holds what watches a crawl without taking part in it: the
// core statistics, the progress line in the log, the limits that end a crawl,
// memory among them, and the readable copy of the spider's state. Names,
// settings, statistics and log lines are Scrapy's.
package extensions

import (
	"context"

	"github.com/skeincrawl/skein/crawl"
)

// An Extension is an extension that works on its own, beside the signals that
// its constructor connected.
type Extension interface {
	// Run works until ctx is done and then returns nil. The engine calls it
	// once, in a goroutine of its own that it waits for, right after
	// [crawl.SpiderOpened]; it cancels ctx before [crawl.SpiderClosed]. An error
	// is logged and ends nothing.
	Run(ctx context.Context) error
}

// A Constructor builds an extension for one crawl: it reads its settings,
// connects signals and returns what has to run, or nil if that is all. An error
// stops the crawl before its first request.
type Constructor = func(*crawl.Env) (Extension, error)

// Registry holds the extensions by the names that the setting EXTENSIONS uses.
var Registry = crawl.NewRegistry[Constructor]("extension") //nolint:gochecknoglobals // a registry

func init() {
	Registry.Register("corestats", NewCoreStats)
	Registry.Register("logstats", NewLogStats)
	Registry.Register("closespider", NewCloseSpider)
	Registry.Register("memusage", NewMemUsage)
	Registry.Register("spiderstate", NewSpiderState)
}
