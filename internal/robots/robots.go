// Package robots reads robots.txt files and tells what they allow, by RFC 9309
// (the Robots Exclusion Protocol) and with the leniency of Google's parser.
package robots

import (
	"slices"
	"strings"
	"time"
)

// MaxSize is how much of a file counts, in bytes (RFC 9309 §2.5).
const MaxSize = 500 << 10

// A File is a parsed robots.txt. The zero value allows everything. It is
// immutable and safe for concurrent use.
type File struct {
	agents map[string][]*group      // by product token in lower case, anyAgent for all others
	delays map[string]time.Duration // that the file asks for, by the same tokens; they are in agents too
	size   int
}

// anyAgent is the token of the group for crawlers that have none of their own.
const anyAgent = "*"

// A group is the rules that follow one or more user-agent lines, the longest
// pattern first and of equally long ones those that allow.
type group struct {
	rules []rule
}

// Rules are the rules of a file for one crawler. The zero value has none, and
// allows everything.
type Rules struct {
	groups []*group
	delay  time.Duration
}

// Delay returns the least time that the file wants between two requests of the
// crawler: the longest of its Crawl-delay and Request-rate records, 0 if there is
// none. The hours of a rate that has some are not looked at: it counts all day.
// RFC 9309 does not have these records; §2.2.4 lets a crawler read them.
func (r Rules) Delay() time.Duration { return r.delay }

// For returns the rules for a crawler with these product tokens: those of all
// groups that name the longest of its tokens which the file knows, else those
// for any crawler (RFC 9309 §2.2.1). A crawler "example-news2" obeys the group for
// "example-news", and without one that for "example", as Google's crawlers do.
// Letter case does not matter.
func (f *File) For(tokens ...string) Rules {
	best := anyAgent
	for _, t := range tokens {
		for t = strings.ToLower(t); t != ""; t = family(t) {
			if _, ok := f.agents[t]; ok && (best == anyAgent || len(t) > len(best)) {
				best = t
			}
		}
	}
	return Rules{groups: f.agents[best], delay: f.delays[best]}
}

// family returns the name of which a token is a kind: without the digits behind
// it, else without its last part.
func family(token string) string {
	if t := strings.TrimRight(token, "0123456789"); t != token {
		return t
	}
	return token[:max(strings.LastIndexByte(token, '-'), 0)]
}

// Allowed reports whether a page may be fetched. The path is that of its URL
// with the query, beginning with a slash, as it goes on the wire. The longest
// pattern that matches decides, of equally long ones one that allows
// (RFC 9309 §2.2.2). /robots.txt itself always may be.
func (r Rules) Allowed(path string) bool {
	if path == "/robots.txt" {
		return true
	}
	path = canonicalPath(path)
	allowed, longest := true, -1
	for _, g := range r.groups {
		i := slices.IndexFunc(g.rules, func(r rule) bool { return r.matches(path) })
		if i < 0 {
			continue
		}
		if n := g.rules[i].length(); n > longest || n == longest && g.rules[i].allow {
			allowed, longest = g.rules[i].allow, n
		}
	}
	return allowed
}

// Tokens returns the product tokens in a User-Agent header, "Skein" and "MyBot"
// of "Skein/1.0 (compatible; MyBot; +https://example.com/bot)": a site may
// address a crawler by any of them. Addresses are passed over.
func Tokens(userAgent string) []string {
	var all []string
	for word := range strings.FieldsFuncSeq(userAgent, func(c rune) bool { return strings.ContainsRune(" \t();,", c) }) {
		if strings.Contains(word, "://") || strings.Contains(word, "@") {
			continue
		}
		if t := token(strings.TrimLeft(word, "+")); t != "" && !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}

// token returns the product token that s begins with. RFC 9309 has letters, "_"
// and "-" in it; digits and what is not ASCII are there in practice.
func token(s string) string {
	for i := range len(s) {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' && c < 0x80 {
			return s[:i]
		}
	}
	return s
}
