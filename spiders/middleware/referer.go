package middleware

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/referrer"
)

func init() { Registry.Register("referer", newReferer) }

// ReferrerPolicies are the policies by the names that REFERRER_POLICY,
// REFERRER_POLICIES, [crawl.Options] and the Referrer-Policy header of responses
// use. Each returns the Referer of a request for the URL to that was found in the
// page from, "" for none, and is safe for concurrent use. Names are in lower case.
var ReferrerPolicies *crawl.Registry[func(from, to string) string] = referrer.Policies //nolint:gochecknoglobals // a registry.

// newReferer tells servers from which page a request comes, as far as the policy
// allows.
func newReferer(env *crawl.Env) (crawl.SpiderMiddleware, error) {
	if !referrer.Enabled(env) {
		return nil, nil
	}
	resolver, err := referrer.New(env)
	if err != nil {
		return nil, err
	}
	return func(next crawl.Handler) crawl.Handler {
		return func(ctx context.Context, r *crawl.Response, f *crawl.Failure, out crawl.Out) error {
			page := r
			if f != nil {
				page = f.Response
			}
			if page != nil {
				from := &refererOf{page: resolver.Page(page.URL, page.Header)}
				out = out.Through(from.set)
			}
			return next(ctx, r, f, out)
		}
	}, nil
}

// refererOf sets the Referer of what one page emits, from any goroutine.
type refererOf struct {
	page referrer.Page
	last atomic.Pointer[http.Header] // a Referer and nothing else, shared by the requests
}

func (p *refererOf) set(v any) any {
	r, ok := v.(*crawl.Request)
	if !ok || hasReferer(r.Header) {
		return v
	}
	value := p.page.Referer(r.URL, &r.Options)
	if value == "" {
		return v
	}
	alone := p.header(value)
	c := *r
	if len(r.Header) == 0 {
		c.Header = alone
		return &c
	}
	c.Header = make(http.Header, len(r.Header)+1)
	maps.Copy(c.Header, r.Header)
	c.Header["Referer"] = alone["Referer"]
	return &c
}

// header returns a header with the value, the last one if it will do: most links
// of a page have the same.
func (p *refererOf) header(value string) http.Header {
	if h := p.last.Load(); h != nil && (*h)["Referer"][0] == value {
		return *h
	}
	h := http.Header{"Referer": {value}}
	p.last.Store(&h)
	return h
}

// hasReferer reports whether a request has the header, be it without a value.
func hasReferer(h http.Header) bool {
	for name := range h {
		if strings.EqualFold(name, "Referer") {
			return true
		}
	}
	return false
}
