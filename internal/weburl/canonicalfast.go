package weburl

import (
	"cmp"
	"strings"
)

// canonicalPrefix reports whether the canonical form of u is u[:end], with a
// slash behind it if slash is set. It answers for clean http and https URLs.
func canonicalPrefix(u string, keepFragments bool) (end int, slash, ok bool) {
	n := webPrefix(u)
	if n == 0 || len(u) > n && u[n] == '/' {
		return 0, false, false
	}
	end = len(u)
	if i := strings.IndexByte(u, '#'); i >= 0 {
		if keepFragments {
			return 0, false, false
		}
		end = i
	} else if u[end-1] <= ' ' {
		return 0, false, false // to be trimmed; before a fragment it is escaped
	}
	rest := u[n:end]
	root := strings.IndexByte(rest, '/')
	if root < 0 {
		root = len(rest)
	}
	if !canonicalAuthority(rest[:root]) {
		return 0, false, false
	}
	path, query, has := strings.Cut(rest[root:], "?")
	if !canonicalPath(path) || has && !canonicalQuery(query) {
		return 0, false, false
	}
	return end, path == "", true
}

// canonicalAuthority takes names in lower-case ASCII; the canonical form knows
// no default ports and no IPv4 addresses.
func canonicalAuthority(authority string) bool {
	host, port, has := strings.Cut(authority, ":")
	if host == "" || !all(host, inHost) {
		return false
	}
	return !has || port != "" && port[0] != '0' && validPort(port)
}

// canonicalPath takes escapes that stay as they are, and no ";", behind which
// other rules hold.
func canonicalPath(path string) bool {
	for i := 0; i < len(path); i++ {
		c := path[i]
		if classes[c]&pathSafe == 0 || c == ';' {
			return false
		}
		if c == '%' {
			v := escaped(path, i)
			if v < 0 || !upperEscape(path, i) || classes[v]&pathSafe != 0 && v != '/' && v != '?' {
				return false
			}
			i += 2
		}
	}
	return true
}

// upperEscape reports whether the escape at s[i:] is in upper case.
func upperEscape(s string, i int) bool { return s[i+1] < 'a' && s[i+2] < 'a' }

// canonicalQuery takes fields "key=value" in their final spelling and order. An
// empty query is no query.
func canonicalQuery(query string) bool {
	last := ""
	for {
		field, rest, more := strings.Cut(query, "&")
		if !canonicalField(field) || last != "" && compareFields(last, field) > 0 {
			return false
		}
		if !more {
			return true
		}
		last, query = field, rest
	}
}

func canonicalField(field string) bool {
	equals := 0
	for i := 0; i < len(field); i++ {
		switch c := field[i]; {
		case classes[c]&unreserved != 0 || c == '+':
		case c == '=':
			equals++
		case c == '%':
			v := escaped(field, i)
			if v < 0 || v == ' ' || !upperEscape(field, i) || classes[v]&unreserved != 0 {
				return false
			}
			i += 2
		default:
			return false
		}
	}
	return equals == 1
}

// compareFields orders two canonical fields by their decoded keys and values.
func compareFields(a, b string) int {
	keyA, valueA, _ := strings.Cut(a, "=")
	keyB, valueB, _ := strings.Cut(b, "=")
	return cmp.Or(compareDecoded(keyA, keyB), compareDecoded(valueA, valueB))
}

func compareDecoded(a, b string) int {
	for a != "" && b != "" {
		ca, na := formByte(a)
		cb, nb := formByte(b)
		if ca != cb {
			return cmp.Compare(ca, cb)
		}
		a, b = a[na:], b[nb:]
	}
	return cmp.Compare(len(a), len(b))
}

// formByte returns the first decoded byte of a form field and how many bytes
// it takes.
func formByte(s string) (byte, int) {
	if s[0] == '+' {
		return ' ', 1
	}
	if v := escaped(s, 0); v >= 0 {
		return byte(v), 3
	}
	return s[0], 1
}
