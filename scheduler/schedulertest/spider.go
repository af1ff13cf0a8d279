package schedulertest

import (
	"context"

	"github.com/skeincrawl/skein/crawl"
)

// Spider has one callback beside Parse, and an errback.
type Spider struct{ PlainSpider }

// PlainSpider has the callback Parse only.
type PlainSpider struct{}

var (
	_ crawl.Spider = (*Spider)(nil)
	_ crawl.Spider = (*PlainSpider)(nil)
)

// Parse handles nothing.
func (*PlainSpider) Parse(context.Context, *crawl.Response, crawl.Out) error { return nil }

// Page is a callback that [PlainSpider] lacks.
func (*Spider) Page(context.Context, *crawl.Response, crawl.Out) error { return nil }

// Failed is an errback that [PlainSpider] lacks.
func (*Spider) Failed(context.Context, *crawl.Failure, crawl.Out) error { return nil }
