package middleware

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/internal/referrer"
	"github.com/skeincrawl/skein/internal/weburl"
	"github.com/skeincrawl/skein/settings"
)

func init() { downloader.Middlewares.Register("redirect", newRedirect) }

type redirectConfig struct {
	Enabled  bool `setting:"REDIRECT_ENABLED"`
	MaxTimes int  `setting:"REDIRECT_MAX_TIMES"`
	Priority int  `setting:"REDIRECT_PRIORITY_ADJUST"`
}

// newRedirect answers a redirect with the request for its target.
func newRedirect(env *crawl.Env) (downloader.Middleware, error) {
	cfg := settings.Decode[redirectConfig](env.Settings)
	if !cfg.Enabled {
		return nil, nil
	}
	m := &redirect{cfg: cfg, log: env.Logger("redirect")}
	if referrer.Enabled(env) {
		var err error
		if m.referer, err = referrer.New(env); err != nil {
			return nil, err
		}
	} else {
		crawl.On(env.Signals, m.warn)
	}
	return func(next crawl.Fetcher) crawl.Fetcher {
		own := *m
		own.next = next
		return &own
	}, nil
}

type redirect struct {
	next    crawl.Fetcher
	cfg     redirectConfig
	log     zerolog.Logger
	referer *referrer.Resolver // nil if nothing sets a Referer
}

func (m *redirect) warn(context.Context, crawl.EngineStarted) error {
	m.log.Warn().Msg("The referer middleware is off, so that nothing knows what the policies of pages allow: " +
		"requests lose their Referer header when they are redirected")
	return nil
}

// Fetch passes on r, and what came back unless it is a redirect to follow.
func (m *redirect) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	resp, err := m.next.Fetch(ctx, r)
	if err != nil || !isRedirect(resp.Status) || handled(&r.Options, resp.Status) {
		return resp, err
	}
	target := target(r.URL, resp.Header.Get("Location"))
	if target == "" {
		return resp, nil
	}
	if err := m.allow(r); err != nil {
		return nil, err
	}
	to := m.follow(r, resp, target)
	if !to.DontFilter && returns(to) {
		to.DontFilter, to.Trail.Unfiltered = true, true
	}
	m.log.Debug().Msgf("Redirecting (%d) to %v from %v", resp.Status, to, r)
	return nil, crawl.Reschedule(to)
}

// allow returns a [crawl.Ignore] error for a request that has been redirected as
// often as it may.
func (m *redirect) allow(r *crawl.Request) error {
	most := m.cfg.MaxTimes
	if n := r.Options.MaxRedirects; n > 0 {
		most = min(most, n)
	}
	if len(r.Trail.Redirects) < most {
		return nil
	}
	m.log.Debug().Msgf("Discarding %v: max redirections reached", r)
	return crawl.Ignore("max redirections reached")
}

// returns reports whether a redirect leads back to where its request has been: a
// page that sets a cookie first is no duplicate of itself. How often it may do so
// is what REDIRECT_MAX_TIMES bounds.
func returns(to *crawl.Request) bool {
	url, _, _ := strings.Cut(to.URL, "#")
	return slices.ContainsFunc(to.Trail.Redirects, func(h crawl.Hop) bool {
		been, _, _ := strings.Cut(h.URL, "#")
		return been == url
	})
}

func (m *redirect) inner() crawl.Fetcher { return m.next }

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// handled reports whether the callback wants the redirect itself.
func handled(o *crawl.Options, status int) bool {
	return o.NoRedirect || o.AnyStatus || slices.Contains(o.Statuses, status)
}

// target returns the URL that a Location header leads to, with the fragment of
// the URL it was sent for unless it has one (RFC 9110 §10.2.2). It is "" for a
// missing or empty header, for what is no URL, and for schemes other than http
// and https, which a server must not lead to.
func target(from, location string) string {
	location = strings.TrimSpace(location)
	if location == "" {
		return ""
	}
	to, err := weburl.Resolve(from, escapeBytes(location))
	if err != nil {
		return ""
	}
	if s := weburl.Scheme(to); s != "http" && s != "https" {
		return ""
	}
	if _, fragment, ok := strings.Cut(from, "#"); ok && !strings.Contains(to, "#") {
		to += "#" + fragment
	}
	return to
}

// follow makes the request for the target. A request that waits in a slot of
// its user's choice goes on to do so. Its cookies are in the jar by now.
func (m *redirect) follow(r *crawl.Request, resp *crawl.Response, target string) *crawl.Request {
	status := resp.Status
	c := *r
	c.URL, c.NotBefore, c.Cookies = target, time.Time{}, nil
	c.Priority += m.cfg.Priority
	if r.Trail.Unfiltered { // for the URL that it was
		c.DontFilter, c.Trail.Unfiltered = false, false
	}
	c.Trail.Redirects = append(slices.Clip(r.Trail.Redirects), crawl.Hop{URL: r.URL, Status: status})
	drop := leaving(r, target)
	if toGet(r.Verb(), status) {
		c.Method, c.Body = http.MethodGet, nil
		drop = append(drop, "Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location")
	}
	c.Header = m.refer(without(r.Header, drop), resp, &c)
	return &c
}

// refer replaces the Referer of a request, if it has one, by the page that
// redirects it.
func (m *redirect) refer(h http.Header, resp *crawl.Response, to *crawl.Request) http.Header {
	if values, _ := fold(h, "Referer"); len(values) == 0 {
		return h
	}
	if m.referer != nil {
		page := m.referer.Page(resp.URL, resp.Header)
		if value := page.Referer(to.URL, &to.Options); value != "" {
			return with(h, "Referer", []string{value})
		}
	}
	return without(h, []string{"Referer"})
}

// toGet reports whether the target is asked for with GET instead (the Fetch
// standard, HTTP-redirect fetch).
func toGet(method string, status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound:
		return method == http.MethodPost
	case http.StatusSeeOther:
		return method != http.MethodGet && method != http.MethodHead
	}
	return false
}

// leaving returns the headers that must not go on to the target: credentials and
// the name of the host stay with their origin, cookies with their host and encryption. Those for a proxy of
// the request's own go on to it, and to nobody else.
func leaving(r *crawl.Request, to string) []string {
	from := r.URL
	if weburl.Origin(from) == weburl.Origin(to) {
		return nil
	}
	drop := []string{"Authorization", "Host"}
	if r.Options.Proxy == "" {
		drop = append(drop, "Proxy-Authorization")
	}
	downgrade := weburl.Scheme(to) == "http" && weburl.Scheme(from) == "https"
	if downgrade || weburl.Host(from) != weburl.Host(to) {
		drop = append(drop, "Cookie")
	}
	return drop
}

// without returns h without some headers: h itself if it has none of them.
func without(h http.Header, drop []string) http.Header {
	c := make(http.Header, len(h))
	for name, values := range h {
		if !slices.Contains(drop, http.CanonicalHeaderKey(name)) {
			c[name] = values
		}
	}
	if len(c) == len(h) {
		return h
	}
	return c
}
