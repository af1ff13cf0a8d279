package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/scheduler"
)

// What comes from the cache waits for no delay, is nothing for AutoThrottle to
// learn from, and obeys robots.txt as it was stored.
func TestCachedCrawl(t *testing.T) {
	var sent atomic.Int32
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sent.Add(1)
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, "User-agent: *\nDisallow: /no")
			return
		}
		fmt.Fprint(w, "page")
	})
	cache := "HTTPCACHE_DIR=" + t.TempDir()
	first := (&probe{}).starts(urls(srv.URL, 10)...)
	first.crawl(t, "HTTPCACHE_ENABLED=True", cache, "ROBOTSTXT_OBEY=True").want(t, "finished", map[string]int64{"httpcache/store": 11})
	asked := sent.Load()

	again := (&probe{}).starts(append(urls(srv.URL, 10), srv.URL+"/no")...)
	again.crawl(t, "HTTPCACHE_ENABLED=True", cache, "ROBOTSTXT_OBEY=True", "DOWNLOAD_DELAY=1h", "AUTOTHROTTLE_ENABLED=True").want(t, "finished", map[string]int64{
		"httpcache/hit": 11, "httpcache/miss": 0, "robotstxt/forbidden": 1, "downloader/response_count": 11,
	})
	if sent.Load() != asked {
		t.Errorf("the second crawl sent %d requests, want none", sent.Load()-asked)
	}
	past := &probe{}
	past.begin = func(_ context.Context, out crawl.Out) error {
		out.Request(&crawl.Request{URL: srv.URL + "/0", Options: crawl.Options{NoCache: true}})
		return nil
	}
	past.crawl(t, "HTTPCACHE_ENABLED=True", cache).want(t, "finished", map[string]int64{"httpcache/hit": 0, "downloader/response_count": 1})
	if sent.Load() != asked+1 {
		t.Errorf("%d requests with NoCache, want one", sent.Load()-asked)
	}
}

// Entries are found by the fingerprinter of the crawl.
func TestCacheKey(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.RawQuery) })
	cache := "HTTPCACHE_DIR=" + t.TempDir()
	for i, counts := range []map[string]int64{{"httpcache/store": 1}, {"httpcache/hit": 1}} {
		p := (&probe{}).starts(fmt.Sprintf("%s/?session=%d", srv.URL, i))
		p.fingerprint = func(r *crawl.Request) (scheduler.Fingerprint, error) {
			page, _, _ := strings.Cut(r.URL, "?")
			return scheduler.FingerprintOf(r.Method, page, r.Body), nil
		}
		p.crawl(t, "HTTPCACHE_ENABLED=True", cache, "REQUEST_FINGERPRINTER_CLASS=probe").want(t, "finished", counts)
	}
}
