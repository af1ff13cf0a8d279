package middleware

import (
	"context"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

func TestDownloadTimeout(t *testing.T) {
	env, _ := newEnv(t, map[string]any{"DOWNLOAD_TIMEOUT": 20.1})
	r := &crawl.Request{URL: "http://a.test/"}
	if got := passedOn(t, "downloadtimeout", env, r).Options.Timeout; got != 20100*time.Millisecond || r.Options.Timeout != 0 {
		t.Errorf("timeout %v, of the request itself %v", got, r.Options.Timeout)
	}
	own := &crawl.Request{URL: "http://a.test/", Options: crawl.Options{Timeout: time.Second}}
	if got := passedOn(t, "downloadtimeout", env, own); got.Options.Timeout != time.Second {
		t.Errorf("timeout %v, want that of the request", got.Options.Timeout)
	}
}

// The layers that fill in what a request lacks make one copy of it together.
func TestDownloadTimeoutSharesTheCopy(t *testing.T) {
	env, _ := newEnv(t, nil)
	var f crawl.Fetcher = crawl.FetcherFunc(func(context.Context, *crawl.Request) (*crawl.Response, error) { return nil, nil })
	for _, name := range []string{"useragent", "defaultheaders", "downloadtimeout"} {
		f = wrap(t, name, env, f)
	}
	r := &crawl.Request{URL: "http://a.test/"}
	if n := testing.AllocsPerRun(100, func() { _, _ = f.Fetch(t.Context(), r) }); n != 1 {
		t.Errorf("%g allocations, want 1", n)
	}
}
