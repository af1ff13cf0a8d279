package robots

import "strings"

// A rule allows or disallows the paths that match its pattern.
type rule struct {
	pattern string // canonical; "*" stands for any characters
	end     bool   // it has to match to the end of the path
	allow   bool
}

// newRule returns the rule of a line. It reports false for one without a path,
// which matches nothing. A whole URL is a path below the root, as on the sites of
// proxies and archives.
func newRule(pattern string, allow bool) (rule, bool) {
	if pattern == "" {
		return rule{}, false
	}
	if strings.HasPrefix(pattern, "http://") || strings.HasPrefix(pattern, "https://") {
		pattern = "/" + pattern
	}
	pattern, end := strings.CutSuffix(pattern, "$")
	return rule{pattern: canonicalPattern(pattern), end: end, allow: allow}, true
}

// length is what decides between rules that match: the octets of the pattern.
func (r *rule) length() int {
	if r.end {
		return len(r.pattern) + 1
	}
	return len(r.pattern)
}

// matches reports whether a canonical path matches. Each step takes the first
// place where a part of the pattern fits, so that the time is linear.
func (r *rule) matches(path string) bool {
	part, rest, star := strings.Cut(r.pattern, "*")
	if !strings.HasPrefix(path, part) {
		return false
	}
	path = path[len(part):]
	for star {
		part, rest, star = strings.Cut(rest, "*")
		if !star && r.end {
			return strings.HasSuffix(path, part)
		}
		i := strings.Index(path, part)
		if i < 0 {
			return false
		}
		path = path[i+len(part):]
	}
	return !r.end || path == ""
}

// canonicalPath returns the path in the form that patterns are in. It is ASCII
// already. The characters that are special in a pattern are none in a path.
func canonicalPath(path string) string {
	if strings.ContainsAny(path, "%*$"+unwise) {
		return canonical(path, "*$"+unwise)
	}
	return path
}

// canonicalPattern does the same for a pattern. A "$" within it is none that
// ends it.
func canonicalPattern(pattern string) string { return canonical(pattern, nonASCII+"$"+unwise) }

const (
	// unwise are the characters of which some have to be escaped in the path of a
	// URL and others in its query (WHATWG URL §1.3).
	unwise = "\"'<>^`{|}\t "

	nonASCII = "\x80"
)

// canonical returns s with one spelling for each octet (RFC 9309 §2.2.2):
// unreserved characters as themselves, escapes in capital letters, and escapes
// for the characters in special.
func canonical(s, special string) string {
	b := make([]byte, 0, len(s)+8)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if octet, ok := escaped(s[i:]); ok {
			i += 2
			if unreserved(octet) {
				b = append(b, octet)
			} else {
				b = escape(b, octet)
			}
			continue
		}
		if strings.IndexByte(special, min(c, 0x80)) >= 0 {
			b = escape(b, c)
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

func escape(b []byte, c byte) []byte {
	const hex = "0123456789ABCDEF"
	return append(b, '%', hex[c>>4], hex[c&15])
}

// escaped returns the octet of the percent-escape that s begins with.
func escaped(s string) (byte, bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	high, ok1 := hexDigit(s[1])
	low, ok2 := hexDigit(s[2])
	return high<<4 | low, ok1 && ok2
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// unreserved reports whether a character means the same escaped or not
// (RFC 3986 §2.3).
func unreserved(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
