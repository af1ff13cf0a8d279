package middleware

import (
	"net/http"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/settings"
)

func init() { downloader.Middlewares.Register("downloadtimeout", newDownloadTimeout) }

// newDownloadTimeout gives requests without a timeout of their own that of
// DOWNLOAD_TIMEOUT, whatever handler downloads them.
func newDownloadTimeout(env *crawl.Env) (downloader.Middleware, error) {
	cfg := settings.Decode[struct {
		Timeout time.Duration `setting:"DOWNLOAD_TIMEOUT"`
	}](env.Settings)
	return func(next crawl.Fetcher) crawl.Fetcher {
		return (&defaults{next: next, all: http.Header{}, timeout: cfg.Timeout}).gather()
	}, nil
}
