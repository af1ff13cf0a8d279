package weburl

import (
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// Scheme returns the scheme of u in lower case and without the colon, or "" if
// u has none. It does not allocate when the scheme is in lower case.
func Scheme(u string) string {
	u = trimEnds(u)
	for i := range len(u) {
		c := u[i]
		if c == ':' && i > 0 {
			return strings.ToLower(u[:i])
		}
		if classes[c]&inScheme == 0 || i == 0 && !isLetter(c) {
			break
		}
	}
	return ""
}

// Host returns the host of the absolute URL u in lower case, international
// names as A-labels, IPv4 addresses in their usual form and IPv6 addresses in
// brackets, without user name and port; "" if there is none or it is not
// valid. A-labels in lower case are taken as they are. It does not allocate
// when the host is clean already.
func Host(u string) string {
	if authority, _, ok := splitAuthority(u); ok && !strings.HasPrefix(u, "file:") {
		host, port, _ := strings.Cut(authority[strings.LastIndexByte(authority, '@')+1:], ":")
		if cleanHost(host) && validPort(port) {
			return host
		}
	}
	if parsed := repaired(u); parsed != nil {
		return parsed.Hostname()
	}
	return ""
}

// Origin returns the serialised origin of the absolute URL u, such as
// "https://example.com:8443": scheme, host and a port that is not the default
// one (WHATWG URL §4.7). It is "null" for URLs without such an origin, file
// URLs among them, and for what cannot be parsed. It does not allocate when the
// URL is clean already.
func Origin(u string) string {
	if authority, n, ok := splitAuthority(u); ok && webPrefix(u) == n {
		if cleanAuthority(authority, u[:n]) {
			return u[:n+len(authority)]
		}
	}
	parsed := repaired(u)
	if parsed == nil || defaultPort(parsed.Scheme()) == "" {
		return "null"
	}
	return parsed.Scheme() + "://" + parsed.Host()
}

// Target returns what an HTTP request asks for: path and query of a URL as
// [Resolve] returns it, "/" for an empty path. It does not allocate unless a
// slash has to be put before a query.
func Target(u string) string {
	u = TrimFragment(u)
	authority, n, ok := splitAuthority(u)
	if !ok {
		return "/"
	}
	target := u[n+len(authority):]
	if target != "" && target[0] == '?' || target == "" {
		return "/" + target
	}
	return target
}

// splitAuthority returns the authority of "scheme://authority…" and where it
// begins. It does not repair anything: false means that the full parser is
// needed to say more.
func splitAuthority(u string) (authority string, start int, ok bool) {
	scheme, rest, found := strings.Cut(u, "://")
	if !found || scheme == "" || !isLower(scheme[0]) || !all(scheme, inScheme) {
		return "", 0, false
	}
	authority = rest[:delimiter(rest)]
	for i := range len(authority) {
		if c := authority[i]; c <= ' ' || c == '\\' {
			return "", 0, false
		}
	}
	return authority, len(scheme) + 3, true
}

// repaired parses a URL that is not clean, or returns nil.
func repaired(u string) *whatwg.Url {
	parsed, err := parseURL("", u)
	if err != nil {
		return nil
	}
	return parsed
}
