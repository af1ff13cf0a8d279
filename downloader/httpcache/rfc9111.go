package httpcache

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/weburl"
	"github.com/skeincrawl/skein/settings"
)

func init() { Policies.Register("rfc9111", newRFC9111) }

// newRFC9111 returns the policy of a private cache by RFC 9111.
func newRFC9111(env *crawl.Env) (Policy, error) {
	p := settings.Decode[rfc9111](env.Settings)
	p.Ignored = slices.Clone(p.Ignored)
	for i, name := range p.Ignored {
		p.Ignored[i] = strings.ToLower(name)
	}
	return &p, nil
}

type rfc9111 struct {
	Schemes []string `setting:"HTTPCACHE_IGNORE_SCHEMES"`
	Always  bool     `setting:"HTTPCACHE_ALWAYS_STORE"`
	Ignored []string `setting:"HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS"`
}

var (
	_ Policy      = (*rfc9111)(nil)
	_ Validator   = (*rfc9111)(nil)
	_ Varier      = (*rfc9111)(nil)
	_ Invalidator = (*rfc9111)(nil)
	_ Ager        = (*rfc9111)(nil)
)

// directives returns those of a response that count.
func (p *rfc9111) directives(h http.Header) directives {
	cc := parseDirectives(h)
	for _, name := range p.Ignored {
		delete(cc, name)
	}
	return cc
}

// Admits lets requests through that have a condition of their own: their answer
// is about a copy that somebody else has.
func (p *rfc9111) Admits(r *crawl.Request) bool {
	if method := r.Verb(); method != http.MethodGet && method != http.MethodHead || slices.Contains(p.Schemes, weburl.Scheme(r.URL)) {
		return false
	}
	for _, name := range []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"} {
		if len(values(r.Header, name)) > 0 {
			return false
		}
	}
	return !parseDirectives(r.Header).has("no-store")
}

// Storable follows RFC 9111 §3, and Scrapy in that a 401 is stored by which the
// server can be asked again.
func (p *rfc9111) Storable(_ *crawl.Request, resp *crawl.Response) bool {
	cc := p.directives(resp.Header)
	if cc.has("no-store") || slices.Contains(list(resp.Header["Vary"]), "*") {
		return false
	}
	if p.Always || cc.has("max-age") || len(resp.Header["Expires"]) > 0 || isPermanent(resp.Status) {
		return true
	}
	return (isGuessable(resp.Status) || resp.Status == http.StatusUnauthorized) && hasValidator(resp.Header)
}

func hasValidator(h http.Header) bool { return h.Get("Etag") != "" || h.Get("Last-Modified") != "" }

// Fresh follows RFC 9111 §4.2 and, for what the request asks, §5.2.1.
func (p *rfc9111) Fresh(r *crawl.Request, s *Stored) bool {
	cc, asked := p.directives(s.Header), parseDirectives(r.Header)
	if cc.has("no-cache") || asked.has("no-cache") {
		return false
	}
	lifetime, age := s.lifetime(cc), s.age(time.Now())
	if most, ok := asked.seconds("max-age"); ok {
		lifetime = min(lifetime, most)
	}
	if margin, ok := asked.seconds("min-fresh"); ok {
		lifetime -= margin
	}
	if age < lifetime {
		return true
	}
	if !asked.has("max-stale") || cc.has("must-revalidate") {
		return false
	}
	over, ok := asked.seconds("max-stale")
	return asked["max-stale"] == "" || ok && age < lifetime+over
}

// Condition asks by all that the stored response has (RFC 9111 §4.3.1).
func (p *rfc9111) Condition(_ *crawl.Request, s *Stored) http.Header {
	h := http.Header{}
	for condition, validator := range map[string]string{"If-None-Match": "Etag", "If-Modified-Since": "Last-Modified"} {
		if v := s.Header.Get(validator); v != "" {
			h[condition] = []string{v}
		}
	}
	return h
}

// Valid takes the stored response for a 304, and after an error of the server, as
// Scrapy does.
func (p *rfc9111) Valid(_ *crawl.Request, s *Stored, resp *crawl.Response) bool {
	if resp.Status == http.StatusNotModified {
		return true
	}
	return resp.Status >= http.StatusInternalServerError && p.mayBeStale(s)
}

// Recover follows RFC 9111 §4.2.4.
func (p *rfc9111) Recover(r *crawl.Request, s *Stored) bool {
	return p.mayBeStale(s) && !p.directives(s.Header).has("no-cache") && !parseDirectives(r.Header).has("no-cache")
}

// mayBeStale reports whether s may be used while its server can not be asked:
// unless it forbids that, for ever or for as long as it says (RFC 5861 §4).
func (p *rfc9111) mayBeStale(s *Stored) bool {
	cc := p.directives(s.Header)
	if cc.has("must-revalidate") {
		return false
	}
	over, bounded := cc.seconds("stale-if-error")
	return !bounded || s.age(time.Now()) <= s.lifetime(cc)+over
}

// Matches follows RFC 9111 §4.1. Also a response that was given to a user who had
// logged in, and does not say that it may be shared, is for that user alone
// (§3.5): one cache serves all logins of a crawl.
func (p *rfc9111) Matches(r *crawl.Request, s *Stored) bool {
	for _, name := range list(s.Header["Vary"]) {
		if s.Varies(r, name) {
			return false
		}
	}
	cc := p.directives(s.Header)
	shared := cc.has("public") || cc.has("must-revalidate") || cc.has("s-maxage")
	return shared || !s.Varies(r, "Authorization")
}

// Invalidates follows RFC 9111 §4.4: the URL of a request that changed something,
// and what its response names on the same host.
func (p *rfc9111) Invalidates(r *crawl.Request, resp *crawl.Response) []string {
	if isSafe(r.Verb()) || resp.Status < 200 || resp.Status >= 400 {
		return nil
	}
	urls := []string{weburl.TrimFragment(r.URL)}
	for _, name := range []string{"Location", "Content-Location"} {
		ref := resp.Header.Get(name)
		if ref == "" {
			continue
		}
		u, err := weburl.Resolve(r.URL, ref)
		if err == nil && weburl.Origin(u) == weburl.Origin(r.URL) {
			urls = append(urls, weburl.TrimFragment(u))
		}
	}
	return urls
}

func (p *rfc9111) Age(s *Stored) time.Duration { return s.age(time.Now()) }

// isSafe reports whether requests of a method change nothing on the server.
func isSafe(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}
