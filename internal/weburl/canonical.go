package weburl

import (
	"bytes"
	"slices"
	"strings"
)

// Canonicalize returns the form of a URL in which Scrapy compares URLs
// (w3lib's canonicalize_url with its defaults): the query sorted and in one
// spelling, the path in one spelling, the host in lower case and A-labels, and
// no fragment unless keepFragments is set. Default ports and dot segments stay;
// a few outcomes are odd ("%25" in a path becomes "%"). It is for comparing,
// not for fetching.
//
// It does not allocate for a URL that has its canonical form already, apart
// from a fragment to drop. What w3lib refuses (a bad port, brackets that do not
// match) is returned with its ends trimmed.
func Canonicalize(u string, keepFragments bool) string {
	if end, slash, ok := canonicalPrefix(u, keepFragments); ok {
		if slash {
			return u[:end] + "/"
		}
		return u[:end]
	}
	return string(appendCanonical(make([]byte, 0, len(u)+len(u)/2), u, keepFragments))
}

// AppendCanonical appends what [Canonicalize] returns to dst.
func AppendCanonical(dst []byte, u string, keepFragments bool) []byte {
	if end, slash, ok := canonicalPrefix(u, keepFragments); ok {
		dst = append(dst, u[:end]...)
		if slash {
			dst = append(dst, '/')
		}
		return dst
	}
	return appendCanonical(dst, u, keepFragments)
}

// appendCanonical follows the rules for every URL.
func appendCanonical(dst []byte, u string, keepFragments bool) []byte {
	p, err := split(u)
	if err != nil {
		return append(dst, trimEnds(u)...)
	}
	path, params := p.path, ""
	if hasParams(p.scheme) {
		last := strings.LastIndexByte(path, '/') + 1
		if i := strings.IndexByte(path[last:], ';'); i >= 0 {
			path, params = path[:last+i], path[last+i+1:]
		}
	}
	if path == "" {
		path = "/"
	}
	p.path = path
	dst = p.appendPrefix(dst, true)
	dst = appendPath(dst, path)
	if params != "" {
		dst = appendQuoted(append(dst, ';'), params, safest)
	}
	dst = appendQuery(dst, p.query)
	if keepFragments {
		dst = p.appendFragment(dst)
	}
	return dst
}

// appendPath decodes all escapes of a path but those of "/" and "?", and
// escapes what has to be.
func appendPath(dst []byte, path string) []byte {
	for i := 0; i < len(path); i++ {
		c := path[i]
		class := uint16(pathSafe)
		if v := escaped(path, i); v >= 0 {
			c = byte(v)
			i += 2
			if c == '/' || c == '?' {
				class = 0
			}
		}
		if classes[c]&class != 0 {
			dst = append(dst, c)
		} else {
			dst = appendEscape(dst, c)
		}
	}
	return dst
}

// pair is one decoded field of a query.
type pair struct{ key, value []byte }

// appendQuery appends a query with its fields sorted by key and value, each
// with an equals sign and in one spelling; nothing if there are no fields.
func appendQuery(dst []byte, query string) []byte {
	if query == "" {
		return dst
	}
	var some [16]pair
	var scratch [256]byte
	buf := scratch[:0]
	if len(query) > cap(buf) {
		buf = make([]byte, 0, len(query))
	}
	pairs := parseQuery(some[:0], buf, query)
	slices.SortFunc(pairs, comparePairs)
	separator := byte('?')
	for _, f := range pairs {
		dst = append(dst, separator)
		dst = appendForm(dst, f.key)
		dst = append(dst, '=')
		dst = appendForm(dst, f.value)
		separator = '&'
	}
	return dst
}

// parseQuery decodes the fields of a query into buf, which must have room for
// len(query) bytes so that earlier fields stay where they are.
func parseQuery(pairs []pair, buf []byte, query string) []pair {
	for query != "" {
		var field string
		field, query, _ = strings.Cut(query, "&")
		if field == "" {
			continue
		}
		key, value, _ := strings.Cut(field, "=")
		start := len(buf)
		buf = appendUnform(buf, key)
		middle := len(buf)
		buf = appendUnform(buf, value)
		pairs = append(pairs, pair{buf[start:middle:middle], buf[middle:len(buf):len(buf)]})
	}
	return pairs
}

func comparePairs(a, b pair) int {
	if c := bytes.Compare(a.key, b.key); c != 0 {
		return c
	}
	return bytes.Compare(a.value, b.value)
}

// appendUnform decodes a form field: escapes, and "+" for a space.
func appendUnform(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '+' {
			c = ' '
		} else if v := escaped(s, i); v >= 0 {
			c = byte(v)
			i += 2
		}
		dst = append(dst, c)
	}
	return dst
}

// appendForm encodes a form field.
func appendForm(dst, s []byte) []byte {
	for _, c := range s {
		switch {
		case classes[c]&unreserved != 0:
			dst = append(dst, c)
		case c == ' ':
			dst = append(dst, '+')
		default:
			dst = appendEscape(dst, c)
		}
	}
	return dst
}
