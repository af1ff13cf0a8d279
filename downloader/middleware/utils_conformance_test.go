package middleware

import (
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/conformance"
	"github.com/skeincrawl/skein/internal/referrer"
	"github.com/skeincrawl/skein/internal/weburl"
)

// utilsVector is a case of one of Scrapy's functions for URLs.
type utilsVector struct {
	Fn, URL  string
	Domains  []string
	Expected any
	Options  struct {
		Credentials *bool `json:"strip_credentials"`
		Port        *bool `json:"strip_default_port"`
		Fragment    *bool `json:"strip_fragment"`
		Origin      bool  `json:"origin_only"`
	}
}

// Each of the functions is part of something here: of what a seed means, of the
// offsite middleware, of the Referer.
func TestConformanceURLUtils(t *testing.T) {
	conformance.Run(t, "url/scrapy_utils_url", func(r *conformance.Row, c utilsVector) {
		switch c.Fn {
		case "add_http_if_no_scheme":
			c.checkSeed(r)
		case "guess_scheme_prefix":
			seed, err := weburl.Clean(c.URL)
			if err != nil { // says that file:// has to stand before a path
				seed = "file://"
			}
			r.Equal(strings.HasPrefix(seed, c.Expected.(string)), true)
		case "is_filesystem_path":
			_, err := weburl.Clean(c.URL)
			r.Equal(err != nil, c.Expected)
		case "url_is_from_any_domain":
			env, _ := newEnv(r, nil)
			env.Spec.AllowedDomains = c.Domains
			r.Equal(NewOffsite(env).Check(&crawl.Request{URL: c.URL}) == nil, c.Expected)
		case "strip_url":
			c.checkStripped(r)
		default:
			r.Skipf("function %s", c.Fn)
		}
	})
}

// checkSeed compares with what a seed means, which is in the WHATWG form.
func (c *utilsVector) checkSeed(r *conformance.Row) {
	r.Helper()
	got, err := weburl.Clean(c.URL)
	if err != nil {
		got = ""
	}
	want, err := weburl.Resolve("", c.Expected.(string))
	if err != nil {
		want = ""
	}
	r.Equal(got, strings.TrimSpace(want))
}

// checkStripped compares with what a Referer tells of a URL.
func (c *utilsVector) checkStripped(r *conformance.Row) {
	r.Helper()
	policy := "unsafe-url"
	if c.Options.Origin {
		policy = "origin"
	}
	for _, strips := range []*bool{c.Options.Credentials, c.Options.Port, c.Options.Fragment} {
		if strips != nil && !*strips {
			r.Skip("a Referer never has credentials, a default port or a fragment")
		}
	}
	strip, err := referrer.Policies.Lookup(policy)
	if err != nil {
		r.Fatal(err)
	}
	r.Equal(strip(c.URL, ""), c.Expected)
}
