package weburl

import "strings"

// fast resolves the common shapes of a reference whose ends are trimmed. It
// answers false for everything that needs the full parser.
func (b *Base) fast(ref string) (string, bool) {
	if n := webPrefix(ref); n > 0 {
		return b.absolute(ref, n)
	}
	if s, ok := opaque(ref); ok {
		return s, true
	}
	if !b.web {
		return "", false
	}
	if ref == "" {
		return b.href, true
	}
	switch ref[0] {
	case '#':
		if !all(ref[1:], inFragment) {
			return "", false
		}
		return b.href + ref, true
	case '?':
		if !cleanQuery(ref[1:]) {
			return "", false
		}
		return b.href[:b.pathEnd] + ref, true
	case '/':
		return b.rooted(ref)
	}
	return b.relative(ref)
}

// absolute answers for an http or https URL; its authority begins at n.
func (b *Base) absolute(ref string, n int) (string, bool) {
	end := b.authorityEnd(ref, n)
	if end < 0 {
		return "", false
	}
	if end == len(ref) {
		return ref + "/", true
	}
	if ref[end] != '/' {
		if _, ok := cleanTail(ref[end:]); !ok {
			return "", false
		}
		return ref[:end] + "/" + ref[end:], true
	}
	dots, ok := cleanTail(ref[end+1:])
	if !ok {
		return "", false
	}
	if dots {
		return mergeDots(ref[:end+1], end, ref[end+1:]), true
	}
	return ref, true
}

// authorityEnd returns where the clean authority of ref, which begins at n,
// ends, or -1. The authority of the base needs no second look.
func (b *Base) authorityEnd(ref string, n int) int {
	if origin := b.href[:b.root]; b.web && strings.HasPrefix(ref, origin) {
		if end := len(origin); delimiter(ref[end:]) == 0 {
			return end
		}
	}
	end := n + delimiter(ref[n:])
	if !cleanAuthority(ref[n:end], ref[:n]) {
		return -1
	}
	return end
}

// rooted answers for "/path" and "//host/path".
func (b *Base) rooted(ref string) (string, bool) {
	if len(ref) > 1 && ref[1] == '/' {
		scheme := b.href[:strings.IndexByte(b.href, ':')+1]
		if len(ref) > 2 && ref[2] == '/' {
			return "", false
		}
		u := scheme + ref
		return b.absolute(u, len(scheme)+2)
	}
	dots, ok := cleanTail(ref[1:])
	switch {
	case !ok:
		return "", false
	case dots:
		return mergeDots(b.href[:b.root+1], b.root, ref[1:]), true
	}
	return b.href[:b.root] + ref, true
}

// relative answers for a reference that begins with a path segment. One with a
// colon in its first segment may be a URL of another scheme.
func (b *Base) relative(ref string) (string, bool) {
	if strings.IndexByte(ref[:delimiter(ref)], ':') >= 0 {
		return "", false
	}
	dots, ok := cleanTail(ref)
	switch {
	case !ok:
		return "", false
	case dots:
		return mergeDots(b.href[:b.dir], b.root, ref), true
	}
	return b.href[:b.dir] + ref, true
}

// opaque answers for a clean URL such as mailto:a@b or tel:+1: a scheme in
// lower case that is not special, and a path that begins with no slash.
func opaque(ref string) (string, bool) {
	n := 0
	for n < len(ref) && isLower(ref[n]) {
		n++
	}
	if n == 0 || n+1 >= len(ref) || ref[n] != ':' || ref[n+1] == '/' || isSpecial(ref[:n]) {
		return "", false
	}
	if !strings.ContainsAny(ref, "?#") {
		return ref, printable(ref)
	}
	return ref, all(ref[n+1:], inFragment) && strings.Count(ref, "#") < 2
}

// printable reports whether s has only printable ASCII, spaces included: what
// an opaque path may have inside.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// cleanTail looks at a path from the start of a segment, with what may follow
// it. It reports whether a segment begins with a dot, and whether all of it
// can be copied.
func cleanTail(s string) (dots, ok bool) {
	start := true
	for i := range len(s) {
		c := s[i]
		if classes[c]&inPath == 0 {
			switch c {
			case '?':
				return dots, cleanQuery(s[i+1:])
			case '#':
				return dots, all(s[i+1:], inFragment)
			}
			return false, false
		}
		switch c {
		case '/':
			start = true
			continue
		case '.':
			dots = dots || start
		case '%':
			if escaped(s, i) == '.' {
				return false, false // %2e counts as a dot in a dot segment
			}
		}
		start = false
	}
	return dots, true
}

// cleanQuery looks at a query with the fragment that may follow it.
func cleanQuery(s string) bool {
	for i := range len(s) {
		if classes[s[i]]&inQuery == 0 {
			return s[i] == '#' && all(s[i+1:], inFragment)
		}
	}
	return true
}

// mergeDots appends the clean relative path rel, and what follows it, to dir,
// which ends with a slash and whose path begins at root, and resolves dot
// segments on the way.
func mergeDots(dir string, root int, rel string) string {
	var stack [256]byte
	buf := append(stack[:0], dir...)
	for rel != "" && rel[0] != '?' && rel[0] != '#' {
		n := delimiter(rel)
		segment, slash := rel[:n], n < len(rel) && rel[n] == '/'
		rel = rel[n:]
		if slash {
			rel = rel[1:]
		}
		switch segment {
		case ".":
		case "..":
			buf = parent(buf, root)
		default:
			buf = append(buf, segment...)
			if slash {
				buf = append(buf, '/')
			}
		}
	}
	return string(append(buf, rel...))
}

// parent cuts the last segment of a path that ends with a slash.
func parent(dir []byte, root int) []byte {
	n := len(dir) - 1
	for n > root && dir[n-1] != '/' {
		n--
	}
	if n <= root {
		return dir[:root+1]
	}
	return dir[:n]
}
