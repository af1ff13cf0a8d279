// Package weburl reads, resolves and normalises URLs as leniently as a browser
// (WHATWG URL Standard) and computes the canonical form that Scrapy
// fingerprints (w3lib's canonicalize_url).
//
// The common shapes, ASCII and already clean, are answered by scanners that
// allocate at most the result. Everything else goes to a full WHATWG parser;
// wherever a scanner answers, the answer equals the parser's.
//
// All functions are safe for concurrent use.
package weburl

import "strings"

// TrimFragment returns u without its fragment and without the "#". It does not
// allocate.
func TrimFragment(u string) string {
	u, _, _ = strings.Cut(u, "#")
	return u
}

// trimEnds strips C0 controls and spaces from both ends: the first step of the
// WHATWG parser and of w3lib alike.
func trimEnds(s string) string {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// delimiter returns the index of the first "/", "?" or "#" of s, or its length.
func delimiter(s string) int {
	for i := range len(s) {
		if c := s[i]; c == '/' || c == '?' || c == '#' {
			return i
		}
	}
	return len(s)
}

// clip shortens a URL for an error message: a data: URL may be megabytes long.
func clip(u string) string {
	const limit = 200
	if len(u) <= limit {
		return u
	}
	return u[:limit] + "…"
}
