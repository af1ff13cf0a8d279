package httpcache

import (
	"errors"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// inBubble runs f with an origin behind the policy rfc9111 and a clock that jumps.
func inBubble(t *testing.T, values map[string]any, f func(t *testing.T, o *origin)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		all := map[string]any{"HTTPCACHE_POLICY": "rfc9111"}
		maps.Copy(all, values)
		f(t, newOrigin(t, all))
	})
}

// HC-12: a request with no-store is neither answered nor stored.
func TestRequestNoStore(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, o *origin) {
		o.says(200, "first", "Cache-Control", "max-age=600")
		o.get(t, "Cache-Control", "no-store")
		o.says(200, "second", "Cache-Control", "max-age=600")
		wantBody(t, o.get(t), "second", false)
		o.says(200, "third", "Cache-Control", "max-age=600")
		wantBody(t, o.get(t, "Cache-Control", "no-store"), "third", false)
		wantBody(t, o.get(t), "second", true)
	})
}

// HC-13: a request with no-cache gets a new response, which replaces the stored one.
func TestRequestNoCache(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, o *origin) {
		o.says(200, "first", "Cache-Control", "max-age=600")
		o.get(t)
		o.says(200, "second", "Cache-Control", "max-age=600")
		wantBody(t, o.get(t, "Cache-Control", "no-cache"), "second", false)
		wantBody(t, o.get(t), "second", true)
		o.fails(errLost)
		if _, err := o.cache.Fetch(t.Context(), &crawl.Request{URL: page, Header: header("Cache-Control", "no-cache")}); !errors.Is(err, errLost) {
			t.Errorf("error %v, want that of the network", err)
		}
	})
}

// HC-14, HC-15, HC-16: what is stored, and what is with HTTPCACHE_ALWAYS_STORE.
func TestStorable(t *testing.T) {
	modified := []string{"Last-Modified", "Wed, 01 Jan 2020 00:00:00 GMT"}
	for _, c := range []struct {
		status         int
		header         []string
		stored, always bool
	}{
		{200, nil, false, true},
		{302, nil, false, true},
		{307, nil, false, true},
		{404, nil, false, true},
		{200, []string{"Cache-Control", "no-store"}, false, false},
		{200, []string{"Cache-Control", "no-store, max-age=300"}, false, false},
		{200, []string{"Cache-Control", "no-store", "Expires", "Wed, 01 Jan 2020 00:00:00 GMT"}, false, false},
		{200, []string{"Cache-Control", "No-Store=\"x\""}, false, false},
		{200, []string{"Cache-Control", "max-age=60", "Vary", "Accept, *"}, false, false},
		{200, modified, true, true},
		{203, modified, true, true},
		{300, nil, true, true},
		{301, nil, true, true},
		{308, nil, true, true},
		{401, modified, true, true},
		{404, []string{"Cache-Control", "public, max-age=600"}, true, true},
		{302, []string{"Expires", "Wed, 01 Jan 2020 00:00:00 GMT"}, true, true},
		{200, []string{"Etag", "foo"}, true, true},
		{500, modified, false, true},
	} {
		for always, want := range map[bool]bool{false: c.stored, true: c.always} {
			p := &rfc9111{Always: always}
			if got := p.Storable(&crawl.Request{URL: page}, &crawl.Response{Status: c.status, Header: header(c.header...)}); got != want {
				t.Errorf("%d %v, always %v: storable %v, want %v", c.status, c.header, always, got, want)
			}
		}
	}
}

// HC-17, HC-19, HC-24: fresh or stale after a time.
func TestFreshness(t *testing.T) {
	const day = 86400
	for name, c := range map[string]struct {
		status int
		header func() []string
		after  time.Duration
		fresh  bool
	}{
		"max-age":                    {200, func() []string { return []string{"Cache-Control", "max-age=60"} }, 59 * time.Second, true},
		"max-age over":               {200, func() []string { return []string{"Cache-Control", "max-age=60"} }, 60 * time.Second, false},
		"date yesterday":             {200, func() []string { return []string{"Date", ago(day), "Cache-Control", "max-age=86405"} }, 0, true},
		"age":                        {200, func() []string { return []string{"Age", "299", "Cache-Control", "max-age=300"} }, 0, true},
		"age over":                   {200, func() []string { return []string{"Age", "86405", "Cache-Control", "max-age=86400"} }, 0, false},
		"max-age goes before":        {200, func() []string { return []string{"Cache-Control", "max-age=60", "Expires", ago(day)} }, 0, true},
		"expires without date":       {200, func() []string { return []string{"Expires", ago(-day)} }, time.Hour, true},
		"expires with age":           {200, func() []string { return []string{"Expires", ago(-day), "Age", "86405"} }, 0, false},
		"expired":                    {200, func() []string { return []string{"Expires", ago(day), "Etag", "foo"} }, 0, false},
		"expires is no date":         {200, func() []string { return []string{"Expires", "0"} }, 0, false},
		"a tenth of the age":         {200, func() []string { return []string{"Last-Modified", ago(day)} }, 8639 * time.Second, true},
		"more than a tenth":          {200, func() []string { return []string{"Last-Modified", ago(day)} }, 8640 * time.Second, false},
		"at most a year":             {200, func() []string { return []string{"Last-Modified", ago(100 * 365 * day)} }, 366 * 24 * time.Hour, false},
		"permanent":                  {301, func() []string { return nil }, 364 * 24 * time.Hour, true},
		"permanent, but a year":      {308, func() []string { return nil }, 366 * 24 * time.Hour, false},
		"no-cache":                   {200, func() []string { return []string{"Cache-Control", "no-cache, max-age=60", "Etag", "foo"} }, 0, false},
		"date tomorrow":              {200, func() []string { return []string{"Date", ago(-day), "Cache-Control", "max-age=10"} }, 9 * time.Second, true},
		"date tomorrow over":         {200, func() []string { return []string{"Date", ago(-day), "Cache-Control", "max-age=10"} }, 10 * time.Second, false},
		"s-maxage is not for us":     {200, func() []string { return []string{"Cache-Control", "s-maxage=60, max-age=1"} }, 2 * time.Second, false},
		"a guess about a 401 is bad": {401, func() []string { return []string{"Last-Modified", ago(day)} }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, o *origin) {
				o.says(c.status, "first", c.header()...)
				o.get(t)
				<-time.After(c.after)
				o.says(c.status, "second", c.header()...)
				if got := isCached(o.get(t)); got != c.fresh {
					t.Errorf("fresh %v, want %v", got, c.fresh)
				}
			})
		})
	}
}

// HC-18, HC-22, HC-23: what a request asks about age.
func TestRequestDirectives(t *testing.T) {
	for _, c := range []struct {
		response, request string
		after             time.Duration
		cached            bool
	}{
		{"max-age=600", "max-age=0", 0, false},
		{"max-age=600", "max-age=10", 9 * time.Second, true},
		{"max-age=600", "max-age=10", 10 * time.Second, false},
		{"max-age=600", "min-fresh=100", 499 * time.Second, true},
		{"max-age=600", "min-fresh=100", 500 * time.Second, false},
		{"max-age=600", "max-stale", 24 * time.Hour, true},
		{"max-age=600, must-revalidate", "max-stale", 24 * time.Hour, false},
		{"max-age=600, no-cache", "max-stale", 24 * time.Hour, false},
		{"max-age=600", "max-stale=172800", 86400 * time.Second, true},
		{"max-age=600", "max-stale=60", 86400 * time.Second, false},
		{"max-age=600", "max-stale=soon", 86400 * time.Second, false},
	} {
		inBubble(t, nil, func(t *testing.T, o *origin) {
			o.says(200, "first", "Cache-Control", c.response)
			o.get(t)
			<-time.After(c.after)
			o.says(200, "second")
			if got := isCached(o.get(t, "cache-control", c.request)); got != c.cached {
				t.Errorf("%s after %v, request %s: cached %v, want %v", c.response, c.after, c.request, got, c.cached)
			}
		})
	}
}

// A request that wants the cache or nothing is ignored where a 504 would be tried again.
func TestOnlyIfCached(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, o *origin) {
		only := &crawl.Request{URL: page, Header: header("Cache-Control", "only-if-cached")}
		o.wantIgnored(t, only)
		o.says(200, "first", "Cache-Control", "max-age=60")
		o.get(t)
		wantBody(t, o.fetch(t, only), "first", true)
		<-time.After(time.Minute)
		o.wantIgnored(t, only)
	})
}

// HC-15, HC-18, HC-20: a stale response is asked about by its validators, and a 304 makes it fresh again with a new
// header. The request of the crawl stays as it is.
func TestRevalidation(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, o *origin) {
		changed := ago(1000)
		o.says(200, "first", "Cache-Control", "max-age=60", "Etag", `"one"`, "Last-Modified", changed, "X", "1", "Content-Encoding", "gzip", "Age", "50")
		o.get(t)
		<-time.After(time.Minute)
		o.says(304, "", "Cache-Control", "max-age=100", "X", "2", "Set-Cookie", "a=b", "Content-Encoding", "br", "Content-Length", "0")
		r := &crawl.Request{URL: page}
		resp := o.fetch(t, r)
		wantBody(t, resp, "first", true)
		want := map[string]string{"X": "2", "Set-Cookie": "a=b", "Content-Encoding": "gzip", "Age": "0", "Date": ago(0), "Content-Length": ""}
		for name, v := range want {
			if got := resp.Header.Get(name); got != v {
				t.Errorf("after the 304 %s is %q, want %q", name, got, v)
			}
		}
		asked := o.asked[1].Header
		if asked.Get("If-None-Match") != `"one"` || asked.Get("If-Modified-Since") != changed || r.Header != nil {
			t.Errorf("asked with %v, request %v, want both validators, and the request untouched", asked, r.Header)
		}
		o.fails(errLost)
		<-time.After(99 * time.Second)
		resp = o.get(t)
		wantBody(t, resp, "first", true)
		if got := resp.Header.Get("Age"); got != "99" {
			t.Errorf("Age = %s, want 99", got)
		}
		o.wantStats(t, map[string]int64{"revalidate": 1, "hit": 1, "miss": 1, "store": 1, "invalidate": 0})
	})
}

// HC-19: a new response replaces the stale one.
func TestReplaced(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, o *origin) {
		o.says(200, "first", "Cache-Control", "max-age=60", "Etag", `"one"`)
		o.get(t)
		<-time.After(time.Minute)
		o.says(200, "second", "Cache-Control", "max-age=60", "Etag", `"two"`)
		wantBody(t, o.get(t), "second", false)
		wantBody(t, o.get(t), "second", true)
		o.wantStats(t, map[string]int64{"invalidate": 1, "store": 2, "firsthand": 1})
	})
}

// HC-21, HC-25: after an error of the server or of the network a stale response is used, unless it forbids that.
func TestStaleOnError(t *testing.T) {
	timeout := &crawl.DownloadError{Kind: crawl.FailTimeout, Name: "DownloadTimeoutError", Err: errors.New("it took too long")}
	large := &crawl.DownloadError{Kind: crawl.FailTooLarge, Name: "DownloadCancelledError", Err: errors.New("too large")}
	certificate := &crawl.DownloadError{Kind: crawl.FailTLS, Name: "DownloadFailedError", Err: errors.New("not trusted")}
	for _, c := range []struct {
		control string
		status  int
		err     error
		cached  bool
	}{
		{"max-age=60", 500, nil, true},
		{"max-age=60", 503, nil, true},
		{"max-age=60", 404, nil, false},
		{"max-age=60, must-revalidate", 500, nil, false},
		{"max-age=60, stale-if-error=10", 500, nil, false},
		{"max-age=60, stale-if-error=100", 500, nil, true},
		{"no-cache", 500, nil, true},
		{"max-age=60", 0, errLost, true},
		{"max-age=60", 0, timeout, true},
		{"max-age=60", 0, large, false},
		{"max-age=60", 0, certificate, false},
		{"max-age=60", 0, crawl.ErrStopped, false},
		{"max-age=60", 0, errors.New("a bug"), false},
		{"max-age=60, must-revalidate", 0, errLost, false},
		{"no-cache", 0, errLost, false},
	} {
		inBubble(t, nil, func(t *testing.T, o *origin) {
			o.says(200, "first", "Cache-Control", c.control, "Etag", `"one"`)
			o.get(t)
			<-time.After(2 * time.Minute)
			o.says(c.status, "error")
			if c.err != nil {
				o.fails(c.err)
			}
			resp, err := o.cache.Fetch(t.Context(), &crawl.Request{URL: page})
			if got := resp != nil && isCached(resp); got != c.cached || !c.cached && c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("%s, then %d %v: %v, %v, want cached %v", c.control, c.status, c.err, resp, err, c.cached)
			}
			recovered := int64(0)
			if c.cached && c.err != nil {
				recovered = 1
			}
			o.wantStats(t, map[string]int64{"errorrecovery": recovered})
		})
	}
}

// HC-26: directives that are disregarded.
func TestIgnoredDirectives(t *testing.T) {
	inBubble(t, map[string]any{"HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS": "No-Cache,no-store"}, func(t *testing.T, o *origin) {
		o.says(200, "first", "Cache-Control", "no-cache, no-store, max-age=60")
		o.get(t)
		o.says(200, "second")
		wantBody(t, o.get(t), "first", true)
	})
}
