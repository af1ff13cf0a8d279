// Package builtin names every component that the stock binary has. Importing it
// registers them.
package builtin

import (
	// Components register themselves.
	_ "github.com/skeincrawl/skein/downloader/middleware"
	_ "github.com/skeincrawl/skein/extensions"
	_ "github.com/skeincrawl/skein/feeds"
	_ "github.com/skeincrawl/skein/scheduler"
	_ "github.com/skeincrawl/skein/spiders/middleware"
	_ "github.com/skeincrawl/skein/spiders/site"
)
