package weburl

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	invalid "github.com/nlnwa/whatwg-url/errors"
	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/text/encoding"
	"golang.org/x/text/unicode/norm"
)

// Limits of what goes to the full parser. Browsers take more, but the parser's
// work grows with the square of the length, and faster with the at signs; its
// work on data: URLs is linear.
const (
	maxRepair     = 8 << 10 // bytes
	maxRepairData = 1 << 20 // bytes
	maxRepairAt   = 100     // "@"
)

// strict follows the standard. lax lets hosts pass that have no meaning as
// international names.
var (
	strict = newParser(newerHost)
	lax    = newParser(plainHost, whatwg.WithLaxHostParsing())
)

// newParser returns a parser whose hosts pass through a function first, and
// whose set of characters to escape in paths is newer than the library's.
func newParser(host func(*whatwg.Url, string) string, opts ...whatwg.ParserOption) whatwg.Parser {
	opts = append(opts, whatwg.WithPreParseHostFunc(host),
		whatwg.WithPathPercentEncodeSet(whatwg.PathPercentEncodeSet.Set('^')))
	return whatwg.NewParser(opts...)
}

// plainHost spoils hosts that are not written in plain ASCII: what is wrong with
// those is not to be let pass.
func plainHost(u *whatwg.Url, host string) string {
	if u.IsSpecialScheme() && (strings.Contains(host, "%") || !isASCII(host)) {
		return "%"
	}
	return host
}

// newerHost applies what UTS 46 has added to its mapping since the tables of
// x/net/idna: more capitals have a small form, more format characters are
// ignored.
func newerHost(u *whatwg.Url, host string) string {
	if isASCII(host) || !u.IsSpecialScheme() {
		return host
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x10A0 && r <= 0x10C5, r == 'Ӏ', r == 'Ↄ', r == 'ẞ':
			return unicode.ToLower(r)
		case r == 0x180E, r >= 0x206A && r <= 0x206F:
			return -1
		}
		return r
	}, norm.NFC.String(host))
}

// Error says why a URL cannot be parsed. Reason is mostly in the words of the
// WHATWG standard's validation errors.
type Error struct {
	URL    string // as given, shortened if long
	Base   string // what it was resolved against, or ""
	Reason string
}

func (e *Error) Error() string {
	if e.Base == "" {
		return fmt.Sprintf("parse URL %q: %s", e.URL, e.Reason)
	}
	return fmt.Sprintf("resolve %q against %q: %s", e.URL, e.Base, e.Reason)
}

// parse resolves ref with the full WHATWG parser. An empty base means that ref
// has to be absolute.
func parse(base, ref string) (string, error) {
	u, err := parseURL(base, ref)
	if err != nil {
		return "", err
	}
	return u.Href(false), nil
}

func parseURL(base, ref string) (*whatwg.Url, error) {
	if reason := excess(ref); reason != "" {
		return nil, &Error{URL: clip(ref), Base: clip(base), Reason: reason}
	}
	u, err := strict.ParseRef(base, ref)
	if err != nil && invalid.Type(err) == invalid.DomainToASCII {
		u, err = parseASCII(base, ref, err)
	}
	if err != nil {
		return nil, &Error{URL: clip(ref), Base: clip(base), Reason: reason(err)}
	}
	return u, nil
}

// excess says which limit of the full parser ref is over, or "".
func excess(ref string) string {
	limit := maxRepair
	if strings.HasPrefix(ref, "data:") {
		limit = maxRepairData
	} else if n := strings.Count(ref, "@"); n > maxRepairAt {
		return fmt.Sprintf("%d at signs, more than the %d that a URL in need of repair may have", n, maxRepairAt)
	}
	if len(ref) > limit {
		return fmt.Sprintf("%d bytes long, more than the %d that a URL in need of repair may have", len(ref), limit)
	}
	return ""
}

// parseASCII takes a host that is ASCII in spite of a label "xn--…" that means
// nothing: browsers look it up all the same. It returns the error of the strict
// parser for what is amiss in another way.
func parseASCII(base, ref string, strictErr error) (*whatwg.Url, error) {
	u, err := lax.ParseRef(base, ref)
	if err != nil || u.IsSpecialScheme() && !lookupHost(u.Hostname()) {
		return nil, strictErr
	}
	return u, nil
}

// lookupHost reports whether host is lower-case ASCII without the code points
// that are forbidden in a domain (WHATWG URL §3.2).
func lookupHost(host string) bool {
	for i := range len(host) {
		c := host[i]
		if c <= ' ' || c > '~' || 'A' <= c && c <= 'Z' || strings.IndexByte("#%/:<>?@[\\]^|", c) >= 0 {
			return false
		}
	}
	return host != ""
}

// reason words an error of the parser without the URL, which stands beside it.
func reason(err error) string {
	why := string(invalid.Type(err))
	if detail := invalid.Description(err); detail != "" {
		why += " (" + detail + ")"
	}
	return why
}

// encodesQuery reports whether the query of ref is to be written in the
// encoding of the page: only in special URLs, and not in WebSocket ones.
func (b *Base) encodesQuery(ref string) bool {
	scheme := Scheme(ref)
	if scheme == "" {
		scheme = Scheme(b.href)
	}
	return isSpecial(scheme) && scheme != "ws" && scheme != "wss"
}

// encodeQuery replaces the non-ASCII characters of the query of ref by escapes
// of their bytes in the encoding (WHATWG URL §1.3, percent-encode after
// encoding).
func encodeQuery(ref string, enc encoding.Encoding) string {
	start := strings.IndexAny(ref, "?#")
	if start < 0 || ref[start] == '#' {
		return ref
	}
	end := len(ref)
	if i := strings.IndexByte(ref[start:], '#'); i >= 0 {
		end = start + i
	}
	out := append(make([]byte, 0, 2*len(ref)), ref[:start]...)
	for i := start; i < end; {
		r, size := utf8.DecodeRuneInString(ref[i:end])
		if r < utf8.RuneSelf {
			out = append(out, ref[i])
		} else {
			out = appendEncoded(out, r, enc)
		}
		i += size
	}
	return string(append(out, ref[end:]...))
}

// appendEncoded appends one character of a query. What the encoding lacks
// becomes an escaped decimal character reference.
func appendEncoded(dst []byte, r rune, enc encoding.Encoding) []byte {
	s, err := enc.NewEncoder().String(string(r))
	if err != nil {
		dst = append(dst, "%26%23"...)
		dst = strconv.AppendInt(dst, int64(r), 10)
		return append(dst, "%3B"...)
	}
	return appendQuoted(dst, s, inQuery)
}
