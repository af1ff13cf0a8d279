package weburl

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/unicode/norm"
)

// SafeURL returns u as Scrapy writes the URL of a request (w3lib's
// safe_url_string): what is not allowed in a URL escaped, the host in A-labels,
// and nothing else changed; no slash is added, no dot segment resolved. Where
// w3lib falls short of the WHATWG standard, which it means to follow, the standard
// counts. The error says what is refused: nothing at all, a bad scheme, port, host
// or bracket.
func SafeURL(u string) (string, error) {
	return SafeURLIn(u, nil)
}

// SafeURLIn is [SafeURL] with the query in the encoding of a page, for the schemes
// for which a browser writes it so. A query with characters that the encoding
// lacks is written in UTF-8. A nil encoding is UTF-8.
func SafeURLIn(u string, enc encoding.Encoding) (string, error) {
	p, err := split(u)
	if err == nil {
		err = p.check()
	}
	if err != nil {
		return "", &Error{URL: clip(u), Reason: err.Error()}
	}
	if isSpecial(p.scheme) && p.scheme != "file" && p.host == "" { // "http:host/path" and "http:///host/path"
		return Resolve("", u)
	}
	p.encode(enc)
	dst := p.appendPrefix(make([]byte, 0, len(u)+len(u)/2), false)
	dst = appendQuoted(dst, p.path, safest)
	if p.hasQuery {
		dst = append(dst, '?')
		dst = appendQuoted(dst, p.query, p.queryClass())
	}
	if p.hasFragment && p.fragment == "" {
		dst = append(dst, '#')
	}
	return string(p.appendFragment(dst)), nil
}

// check says what the WHATWG standard refuses and w3lib does not.
func (p *parts) check() error {
	switch {
	case p.empty:
		return errEmpty
	case p.scheme == "" && badScheme(p.path+"?"+p.query+"#"+p.fragment):
		return errScheme
	case !isSpecial(p.scheme) || !p.hasAuthority || p.host == "" && p.scheme == "file":
		return nil
	case p.host == "" && (p.hasUser || p.port != ""), p.host != "" && !lookupHost(p.host):
		return errName
	}
	return nil
}

// badScheme reports whether "://" stands behind what is no scheme.
func badScheme(u string) bool {
	i := strings.Index(u, "://")
	start := i
	for start > 0 && classes[u[start-1]]&inScheme != 0 {
		start--
	}
	return i >= 0 && (start == i || !isLetter(u[start]))
}

// lookupHost reports whether a host has a form in which it is looked up.
func lookupHost(host string) bool {
	return cleanHost(host) || strings.Contains(host, ":") || Host("http://"+host+"/") != ""
}

// parts are the pieces of a URL as w3lib cuts it, still as they were written.
type parts struct {
	scheme                string // in lower case
	user, pass            string
	hasUser, hasPass      bool
	host, port            string // port without leading zeros; "" if none
	path, query, fragment string

	// What w3lib does not tell from what is empty.
	empty, hasAuthority, hasQuery, hasFragment bool
}

var (
	errBracket = errors.New("invalid IPv6 address")
	errPort    = errors.New("the port is not a number from 0 to 65535")
	errHost    = errors.New("the host has characters that normalise to delimiters")
	errEmpty   = errors.New("the URL is empty")
	errScheme  = errors.New("what stands before :// is no scheme")
	errName    = errors.New("the host is missing, or is no name and no address")
)

// split cuts a URL as w3lib does. Relative URLs are cut, too.
func split(u string) (parts, error) {
	u = stripControls(escapeInvalid(u))
	p := parts{empty: u == ""}
	if n := schemeLength(u); n > 0 {
		p.scheme, u = strings.ToLower(u[:n]), u[n+1:]
	}
	if isSpecial(p.scheme) {
		u = turnSlashes(u)
	}
	var netloc string
	if strings.HasPrefix(u, "//") {
		end := delimiter(u[2:])
		netloc, u = u[2:2+end], u[2+end:]
	}
	p.hasAuthority = netloc != ""
	u, p.fragment, p.hasFragment = strings.Cut(u, "#")
	p.path, p.query, p.hasQuery = strings.Cut(u, "?")
	if p.path == "" && p.query != "" && isSpecial(p.scheme) {
		p.path = "/"
	}
	return p, p.splitAuthority(netloc)
}

func (p *parts) splitAuthority(netloc string) error {
	if !cleanNormal(netloc) {
		return errHost
	}
	host := netloc
	if i := strings.LastIndexByte(netloc, '@'); i >= 0 {
		p.hasUser, host = true, netloc[i+1:]
		p.user, p.pass, p.hasPass = strings.Cut(netloc[:i], ":")
	}
	var port string
	if strings.ContainsAny(netloc, "[]") {
		address, rest, err := bracketed(host)
		if err != nil {
			return err
		}
		p.host, port = address, rest
	} else {
		p.host, port, _ = strings.Cut(host, ":")
	}
	return p.setPort(port)
}

func (p *parts) setPort(port string) error {
	if port == "" {
		return nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return errPort
	}
	p.port = strconv.FormatUint(n, 10)
	return nil
}

// bracketed cuts "[address]:port". An address is IPv6 or an IPvFuture.
func bracketed(host string) (address, port string, err error) {
	address, rest, ok := strings.Cut(strings.TrimPrefix(host, "["), "]")
	if !ok || host[0] != '[' || rest != "" && rest[0] != ':' {
		return "", "", errBracket
	}
	port = strings.TrimPrefix(rest, ":")
	if isFuture(address) {
		return address, port, nil
	}
	if ip, err := netip.ParseAddr(address); err != nil || ip.Is4() || !isASCII(address) {
		return "", "", errBracket
	}
	return address, port, nil
}

// isFuture reports whether s is an IPvFuture of RFC 3986: "v", hexadecimal
// digits, a dot, and something.
func isFuture(s string) bool {
	version, rest, ok := strings.Cut(s, ".")
	if !ok || rest == "" || len(version) < 2 || version[0]|0x20 != 'v' {
		return false
	}
	for i := 1; i < len(version); i++ {
		if unhex(version[i]) < 0 {
			return false
		}
	}
	return true
}

// cleanNormal reports whether the compatibility form of an authority brings in
// no delimiter that was not there: "℀" would become "a/c".
func cleanNormal(netloc string) bool {
	if isASCII(netloc) {
		return true
	}
	cleaned := withoutDelimiters(netloc)
	normal := norm.NFKC.String(cleaned)
	return normal == cleaned || !strings.ContainsAny(normal, `/?#@:\`)
}

func withoutDelimiters(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("@:#?", r) {
			return -1
		}
		return r
	}, s)
}

// schemeLength returns the length of the scheme that u begins with, or 0. The
// comma is w3lib's.
func schemeLength(u string) int {
	if u == "" || !isLetter(u[0]) {
		return 0
	}
	for i := range len(u) {
		switch c := u[i]; {
		case c == ':':
			return i
		case classes[c]&inScheme == 0 && c != ',':
			return 0
		}
	}
	return 0
}

// turnSlashes makes slashes of the backslashes before query and fragment.
func turnSlashes(u string) string {
	if strings.IndexByte(u, '\\') < 0 {
		return u
	}
	end := strings.IndexAny(u, "?#")
	if end < 0 {
		end = len(u)
	}
	return strings.ReplaceAll(u[:end], `\`, "/") + u[end:]
}

// stripControls strips C0 controls and spaces from the ends and removes tabs
// and line breaks everywhere.
func stripControls(u string) string {
	u = trimEnds(u)
	if !strings.ContainsAny(u, "\t\n\r") {
		return u
	}
	return string(slices.DeleteFunc([]byte(u), func(c byte) bool {
		return c == '\t' || c == '\n' || c == '\r'
	}))
}

// escapeInvalid escapes the bytes of u that are not UTF-8.
func escapeInvalid(u string) string {
	if utf8.ValidString(u) {
		return u
	}
	dst := make([]byte, 0, len(u)+16)
	for i := 0; i < len(u); {
		r, size := utf8.DecodeRuneInString(u[i:])
		if r == utf8.RuneError && size == 1 {
			dst = appendEscape(dst, u[i])
		} else {
			dst = append(dst, u[i:i+size]...)
		}
		i += size
	}
	return string(dst)
}
