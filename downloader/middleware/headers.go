package middleware

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/settings"
)

func init() {
	downloader.Middlewares.Register("defaultheaders", newDefaultHeaders)
	downloader.Middlewares.Register("useragent", newUserAgent)
}

// newDefaultHeaders sets the headers of DEFAULT_REQUEST_HEADERS where a request
// does not set them.
func newDefaultHeaders(env *crawl.Env) (downloader.Middleware, error) {
	h := http.Header{}
	for name, value := range env.Settings.Map("DEFAULT_REQUEST_HEADERS") {
		if values := headerValues(value); len(values) > 0 {
			h[http.CanonicalHeaderKey(name)] = values
		}
	}
	if len(h) == 0 {
		return nil, nil
	}
	return func(next crawl.Fetcher) crawl.Fetcher { return setHeaders(h, next) }, nil
}

// headerValues reads the value of a header from a setting, which checked it: a
// text, a list of texts, or nil for none.
func headerValues(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, e := range v {
			all = append(all, headerValues(e)...)
		}
		return all
	}
	return nil
}

// newUserAgent sets the User-Agent where a request does not set it.
func newUserAgent(env *crawl.Env) (downloader.Middleware, error) {
	cfg := settings.Decode[struct {
		Agent string `setting:"USER_AGENT"`
	}](env.Settings)
	if cfg.Agent == "" {
		return nil, nil
	}
	h := http.Header{"User-Agent": {cfg.Agent}}
	return func(next crawl.Fetcher) crawl.Fetcher { return setHeaders(h, next) }, nil
}

// defaults is a Fetcher that adds headers, and a timeout, to requests that lack
// them. A request that has a header, be it with an empty list of values, keeps it.
type defaults struct {
	next crawl.Fetcher

	// all are the headers of this layer and of those that it found behind it:
	// so one copy of a request's header does for all of them. A request without
	// any header gets this very map, which nobody may change.
	all http.Header

	timeout time.Duration // likewise; 0 for none
}

// setHeaders returns a Fetcher that adds the headers h to requests. Between
// layers of this package that do the same, the outer one wins.
func setHeaders(h http.Header, next crawl.Fetcher) crawl.Fetcher {
	return (&defaults{next: next, all: maps.Clone(h)}).gather()
}

// gather takes over what the layers behind d add.
func (d *defaults) gather() *defaults {
	for next := d.next; ; {
		if behind, ok := next.(*defaults); ok {
			for name, values := range behind.all {
				if _, has := d.all[name]; !has {
					d.all[name] = values
				}
			}
			d.timeout = cmp.Or(d.timeout, behind.timeout)
			return d
		}
		w, ok := next.(wrapper)
		if !ok {
			return d
		}
		next = w.inner()
	}
}

// Fetch passes on r or, if something is missing, a copy of it.
func (d *defaults) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	lacksTimeout := d.timeout != 0 && r.Options.Timeout == 0
	lacksHeader := d.lacks(r.Header)
	if !lacksTimeout && !lacksHeader {
		return d.next.Fetch(ctx, r)
	}
	c := *r
	if lacksTimeout {
		c.Options.Timeout = d.timeout
	}
	switch {
	case len(r.Header) == 0:
		c.Header = d.all
	case lacksHeader:
		c.Header = d.filled(r.Header)
	}
	return d.next.Fetch(ctx, &c)
}

func (d *defaults) lacks(h http.Header) bool {
	for name := range d.all {
		if _, has := h[name]; !has {
			return true
		}
	}
	return false
}

func (d *defaults) filled(h http.Header) http.Header {
	c := make(http.Header, len(h)+len(d.all))
	maps.Copy(c, d.all)
	for name, values := range h { // its user may have written a name in another case
		c[http.CanonicalHeaderKey(name)] = values
	}
	return c
}

func (d *defaults) inner() crawl.Fetcher { return d.next }
