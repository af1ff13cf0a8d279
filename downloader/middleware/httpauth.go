package middleware

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/internal/weburl"
	"github.com/skeincrawl/skein/settings"
)

func init() { downloader.Middlewares.Register("httpauth", newHTTPAuth) }

// newHTTPAuth sends Basic authentication (RFC 7617): with the user and password of
// a request, else with those of HTTPAUTH_USER and HTTPAUTH_PASS to the hosts of
// HTTPAUTH_DOMAIN. An Authorization header of the request stands above both.
func newHTTPAuth(env *crawl.Env) (downloader.Middleware, error) {
	cfg := settings.Decode[struct {
		User   string `setting:"HTTPAUTH_USER"`
		Pass   string `setting:"HTTPAUTH_PASS"`
		Domain string `setting:"HTTPAUTH_DOMAIN"`
	}](env.Settings)
	m := &httpAuth{}
	if cfg.User != "" || cfg.Pass != "" {
		if v, _ := env.Settings.Lookup("HTTPAUTH_DOMAIN"); v.Source.Origin == settings.FromDefault {
			return nil, errors.New("HTTPAUTH_DOMAIN is not set: with HTTPAUTH_USER or HTTPAUTH_PASS it has to be the domain " +
				"that they are for, such as example.com, or None to send them everywhere")
		}
		if m.domain = domain(cfg.Domain); m.domain == "" && cfg.Domain != "" {
			return nil, errors.New("HTTPAUTH_DOMAIN=" + cfg.Domain + ": want a domain such as example.com, without scheme, port and path")
		}
		m.value = []string{basic(cfg.User, cfg.Pass)}
	}
	return func(next crawl.Fetcher) crawl.Fetcher {
		own := *m
		own.next = next
		return &own
	}, nil
}

type httpAuth struct {
	next   crawl.Fetcher
	domain string   // "" is everywhere
	value  []string // of the header, nil if the settings have none
}

func (m *httpAuth) inner() crawl.Fetcher { return m.next }

// Fetch passes on r or a copy with credentials.
func (m *httpAuth) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	value := m.credentials(r)
	if _, has := fold(r.Header, "Authorization"); has || value == nil {
		return m.next.Fetch(ctx, r)
	}
	c := *r
	c.Header = with(r.Header, "Authorization", value)
	resp, err := m.next.Fetch(ctx, &c)
	if err == nil && resp.Request == &c {
		resp.Request = r
	}
	return resp, err
}

// credentials returns the value of the header for a request, nil for none. Those
// of a request do not follow a redirect to another host, nor from https to http.
func (m *httpAuth) credentials(r *crawl.Request) []string {
	o := &r.Options
	if o.HTTPUser == "" && o.HTTPPass == "" {
		if m.value != nil && within(weburl.Host(r.URL), m.domain) {
			return m.value
		}
		return nil
	}
	first := r.URL
	if hops := r.Trail.Redirects; len(hops) > 0 {
		first = hops[0].URL
	}
	if weburl.Scheme(first) == "https" && weburl.Scheme(r.URL) == "http" {
		return nil
	}
	limit := domain(o.HTTPDomain)
	if o.HTTPDomain == "" {
		limit = weburl.Host(first)
	}
	if limit == "" || !within(weburl.Host(r.URL), limit) {
		return nil
	}
	return []string{basic(o.HTTPUser, o.HTTPPass)}
}

// within reports whether a host is a domain or part of it. Every host is within "".
func within(host, domain string) bool {
	return domain == "" || host == domain || strings.HasSuffix(host, domain) && strings.HasSuffix(host[:len(host)-len(domain)], ".")
}

func basic(user, pass string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+pass))
}
