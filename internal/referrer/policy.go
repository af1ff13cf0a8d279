// Package referrer decides which Referer a request gets (W3C Referrer Policy).
// Both who follows links and who follows redirects has to.
package referrer

import (
	"strings"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/weburl"
)

// A Policy returns the Referer of a request for the URL to that was found in the
// page from, "" for none. It is safe for concurrent use.
type Policy = func(from, to string) string

// Policies are the policies by the names that the Referrer-Policy header and the
// settings use, in lower case.
var Policies = crawl.NewRegistry[Policy]("referrer policy") //nolint:gochecknoglobals // a registry.

// whenDowngrade is the name of the policy that an empty name stands for.
const whenDowngrade = "no-referrer-when-downgrade"

func init() {
	for name, p := range map[string]struct {
		class  string
		policy Policy
	}{
		"scrapy-default":                  {"DefaultReferrer", noReferrerWhenDowngrade},
		"no-referrer":                     {"NoReferrer", noReferrer},
		whenDowngrade:                     {"NoReferrerWhenDowngrade", noReferrerWhenDowngrade},
		"same-origin":                     {"SameOrigin", sameOrigin},
		"origin":                          {"Origin", originOnly},
		"strict-origin":                   {"StrictOrigin", strictOrigin},
		"origin-when-cross-origin":        {"OriginWhenCrossOrigin", originWhenCrossOrigin},
		"strict-origin-when-cross-origin": {"StrictOriginWhenCrossOrigin", strictOriginWhenCrossOrigin},
		"unsafe-url":                      {"UnsafeUrl", unsafeURL},
	} {
		Policies.Register(name, p.policy)
		Policies.Alias("scrapy.spidermiddlewares.referer."+p.class+"Policy", name)
	}
}

func noReferrer(_, _ string) string { return "" }

func noReferrerWhenDowngrade(from, to string) string {
	if downgrade(from, to) {
		return ""
	}
	return strip(from)
}

func sameOrigin(from, to string) string {
	if origin(from) != origin(to) {
		return ""
	}
	return strip(from)
}

func originOnly(from, _ string) string {
	if o := origin(from); o != "" {
		return o + "/"
	}
	return ""
}

func strictOrigin(from, to string) string {
	if downgrade(from, to) {
		return ""
	}
	return originOnly(from, to)
}

func originWhenCrossOrigin(from, to string) string {
	if origin(from) == origin(to) {
		return strip(from)
	}
	return originOnly(from, to)
}

func strictOriginWhenCrossOrigin(from, to string) string {
	if origin(from) == origin(to) {
		return strip(from)
	}
	return strictOrigin(from, to)
}

func unsafeURL(from, _ string) string { return strip(from) }

// downgrade reports whether a request leaves a protected page for the open.
func downgrade(from, to string) bool { return protected(from) && !protected(to) }

func protected(u string) bool {
	s := weburl.Scheme(u)
	return s == "https" || s == "ftps"
}

// strip returns a URL without what is nobody's business: user, password and
// fragment; and without a default port. It is "" for a URL that may not be told at
// all: the names of files and of buckets, data, and whatever is not of the web. It
// does not allocate if there is nothing to remove.
func strip(u string) string {
	u = weburl.TrimFragment(u)
	scheme := weburl.Scheme(u)
	port, ok := defaultPorts[scheme]
	if !ok {
		return ""
	}
	rest, found := strings.CutPrefix(u[strings.IndexByte(u, ':'):], "://")
	if !found {
		return ""
	}
	end := strings.IndexAny(rest, "/?\\")
	if end < 0 {
		end = len(rest)
	}
	host := rest[strings.LastIndexByte(rest[:end], '@')+1 : end]
	host = strings.TrimSuffix(host, port)
	if host == "" || strings.HasSuffix(host, port) { // no host that there is
		return ""
	}
	if len(host) == end {
		return u
	}
	return scheme + "://" + host + rest[end:]
}

// defaultPorts are the ports that are not told, by the schemes of which a URL may
// be told. It is never changed.
var defaultPorts = map[string]string{"http": ":80", "https": ":443", "ftp": ":21", "ftps": ":990"} //nolint:gochecknoglobals // a table.

// origin returns scheme, host and port of a URL, "" for one that may not be told.
func origin(u string) string {
	switch scheme := weburl.Scheme(u); scheme {
	case "http", "https", "ftp":
		return strings.TrimSuffix(weburl.Origin(u), "null")
	case "ftps": // no scheme of the web: nothing puts its URL in order
		host, _, _ := strings.Cut(strings.TrimPrefix(strip(u), "ftps://"), "/")
		return "ftps://" + host
	}
	return ""
}
