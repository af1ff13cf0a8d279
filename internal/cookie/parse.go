package cookie

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"

	"github.com/skeincrawl/skein/internal/weburl"
)

// Session is the expiry of a cookie that has none.
const Session = 1<<63 - 1

// maxSize bounds name and value of a cookie together, in bytes, as in browsers
// (RFC 6265bis §5.7).
const maxSize = 4096

// A Cookie is one cookie as the jar keeps it.
type Cookie struct {
	Name, Value string // any bytes but control characters
	Domain      string // the normal form of a host
	Path        string
	Expires     int64 // Unix seconds, or Session
	HostOnly    bool  // for Domain itself, not for what is below it
	Secure      bool  // for https only
	HTTPOnly    bool
}

// A Page is what matters of a URL that cookies come from or go to. Its port does
// not (RFC 6265 §8.5).
type Page struct {
	Host, Path string
	Secure     bool
}

// PageOf returns the page of a URL, and false for a URL that takes no cookies. It
// does not allocate when the URL is clean.
func PageOf(u string) (Page, bool) {
	scheme := weburl.Scheme(u)
	if scheme != "http" && scheme != "https" {
		return Page{}, false
	}
	path, _, _ := strings.Cut(weburl.Target(u), "?")
	p := Page{Host: weburl.Host(u), Path: path, Secure: scheme == "https"}
	return p, p.Host != ""
}

// folder returns the path of a cookie that names none (RFC 6265 §5.1.4).
func (p Page) folder() string {
	if i := strings.LastIndexByte(p.Path, '/'); i > 0 && p.Path[0] == '/' {
		return p.Path[:i]
	}
	return "/"
}

// Parse reads a Set-Cookie header that came with a page (RFC 6265 §5.2 and
// §5.3). It reports false for what has to be ignored. A cookie to delete has
// expired.
func Parse(header string, from Page, now time.Time) (Cookie, bool) {
	if i := strings.IndexAny(header, "\x00\r\n"); i >= 0 {
		header = header[:i] // it ends there for browsers
	}
	pair, attributes, _ := strings.Cut(header, ";")
	name, value, ok := strings.Cut(pair, "=")
	c := Cookie{Name: trim(name), Value: trim(value), Expires: Session}
	if !ok || !c.usable() {
		return c, false
	}
	domain := c.attributes(attributes, now)
	if !c.limit(domain, from) {
		return c, false
	}
	if c.Path == "" || c.Path[0] != '/' {
		c.Path = from.folder()
	}
	c.detach()
	return c, true
}

func trim(s string) string { return strings.Trim(s, " \t") }

// usable refuses what could not be sent back: a server, or the proxy before it,
// would refuse the whole request.
func (c *Cookie) usable() bool {
	return c.Name != "" && len(c.Name)+len(c.Value) <= maxSize && !hasControl(c.Name) && !hasControl(c.Value)
}

func hasControl(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return true
		}
	}
	return false
}

// attributes reads what stands behind the first semicolon, of equal attributes
// the last, and returns the domain.
func (c *Cookie) attributes(s string, now time.Time) (domain string) {
	age, hasAge := int64(0), false
	for attribute := range strings.SplitSeq(s, ";") {
		name, value, _ := strings.Cut(attribute, "=")
		name, value = trim(name), trim(value)
		switch {
		case strings.EqualFold(name, "Expires"):
			if t, ok := ParseDate(value); ok {
				c.Expires = t.Unix()
			}
		case strings.EqualFold(name, "Max-Age"):
			if n, ok := maxAge(value); ok {
				age, hasAge = n, true
			}
		case strings.EqualFold(name, "Domain"):
			if value != "" {
				domain = value
			}
		case strings.EqualFold(name, "Path"):
			c.Path = value
		case strings.EqualFold(name, "Secure"):
			c.Secure = true
		case strings.EqualFold(name, "HttpOnly"):
			c.HTTPOnly = true
		}
	}
	if hasAge {
		c.Expires = after(now, age)
	}
	return domain
}

// maxAge reads a number of seconds, cut to what an int64 holds.
func maxAge(s string) (int64, bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, _ := strconv.ParseInt(s, 10, 64) // out of range it is the nearest number
	return n, true
}

// after returns the expiry of a cookie that lives for some seconds.
func after(now time.Time, seconds int64) int64 {
	if seconds <= 0 {
		return 0
	}
	const years = 1000 * 366 * 24 * 3600 // more would overflow, and outlives the crawl anyway
	return now.Unix() + min(seconds, years)
}

// limit decides where the cookie belongs. A page speaks for its own host and for
// the domains above it that are no public suffix.
func (c *Cookie) limit(domain string, from Page) bool {
	c.Domain, c.HostOnly = from.Host, true
	if domain == "" {
		return true
	}
	domain = hostOf(domain)
	switch {
	case domain == from.Host:
		c.HostOnly = isAddress(domain) || isPublic(domain)
		return true
	case domain == "" || !below(from.Host, domain) || len(domain) <= len(suffixOf(from.Host)):
		return false
	}
	c.Domain, c.HostOnly = domain, false
	return true
}

// hostOf returns the normal form of the value of a Domain attribute, "" if it is
// no host.
func hostOf(domain string) string {
	domain = strings.TrimPrefix(domain, ".")
	if domain == "" || strings.ContainsAny(domain, "/\\@?#:") && !strings.HasPrefix(domain, "[") {
		return ""
	}
	return weburl.Host("http://" + domain + "/")
}

// below reports whether a host is part of a domain other than itself. Addresses
// match only whole (RFC 6265 §5.1.3).
func below(host, domain string) bool {
	n := len(host) - len(domain)
	return n > 1 && host[n-1] == '.' && host[n:] == domain && !isAddress(host)
}

// isAddress reports whether a host in its normal form is an IP address.
func isAddress(host string) bool {
	if host == "" {
		return false
	}
	if host[0] == '[' {
		return true
	}
	last := host[len(host)-1]
	if last < '0' || last > '9' {
		return false
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// isPublic reports whether a domain is a public suffix, under which anyone can
// have a name.
func isPublic(domain string) bool { return suffixOf(domain) == domain }

func suffixOf(host string) string {
	suffix, _ := publicsuffix.PublicSuffix(host)
	return suffix
}

// detach copies the texts, which else would keep the whole header alive.
func (c *Cookie) detach() {
	all := c.Name + c.Value + c.Path
	n, v := len(c.Name), len(c.Name)+len(c.Value)
	c.Name, c.Value, c.Path, c.Domain = all[:n], all[n:v], all[v:], strings.Clone(c.Domain)
}

// FromUser reads a cookie that the user sets with the request for a page. Its
// domain may be any but a public suffix. It reports false for what no jar can
// keep.
func FromUser(u *http.Cookie, to Page, now time.Time) (Cookie, bool) {
	c := Cookie{
		Name: utf8Text(u.Name), Value: utf8Text(u.Value), Path: u.Path, Expires: Session,
		HTTPOnly: u.HttpOnly, Secure: u.Secure || to.Secure && !insecure(u),
	}
	if !c.usable() || strings.ContainsAny(c.Name, "=;") || strings.Contains(c.Value, ";") {
		return c, false
	}
	switch {
	case u.MaxAge != 0:
		c.Expires = after(now, int64(u.MaxAge))
	case !u.Expires.IsZero():
		c.Expires = u.Expires.Unix()
	}
	domain := u.Domain
	if strings.EqualFold(strings.TrimPrefix(domain, "."), to.Host+".local") && !strings.Contains(to.Host, ".") {
		domain = "" // as Python names a host without a dot
	}
	if !c.limit(domain, to) {
		host := hostOf(domain)
		if host == "" || isPublic(host) {
			return c, false
		}
		c.Domain, c.HostOnly = host, isAddress(host)
	}
	if c.Path == "" || c.Path[0] != '/' {
		c.Path = "/"
	}
	c.detach()
	return c, true
}

// insecure reports whether the user wants a cookie to be sent in the clear too.
func insecure(u *http.Cookie) bool {
	for _, a := range u.Unparsed {
		if strings.EqualFold(strings.ReplaceAll(a, " ", ""), "secure=false") {
			return true
		}
	}
	return false
}

// utf8Text returns a text as UTF-8. What is not is taken for Latin-1, as Scrapy
// does.
func utf8Text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}
