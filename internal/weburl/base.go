package weburl

import (
	"strings"

	"golang.org/x/text/encoding"
)

// Resolve returns the absolute URL that ref means in a page at base, by the
// WHATWG URL Standard, fragment included (see [TrimFragment]). An empty base
// means that ref has to be absolute. The error says what cannot be parsed. To
// resolve many references of one page, use [NewBase].
func Resolve(base, ref string) (string, error) {
	b, err := NewBase(base)
	if err != nil {
		return "", err
	}
	return b.Resolve(ref)
}

// Base is the URL of a page, parsed once so that many references can be
// resolved against it. The zero value resolves absolute references only. It is
// immutable and safe for concurrent use.
type Base struct {
	href string // serialised, without fragment
	web  bool   // an http or https URL: the offsets below hold
	// Offsets into href: the path begins at root, its last segment at dir, and
	// it ends at pathEnd.
	root, dir, pathEnd int
	enc                encoding.Encoding // nil: UTF-8
}

// NewBase parses the absolute URL of a page. It does not allocate when the URL
// is clean already.
func NewBase(u string) (Base, error) {
	if u = trimEnds(u); u == "" {
		return Base{}, nil
	}
	var none Base
	href, ok := none.fast(u)
	if !ok {
		var err error
		if href, err = parse("", u); err != nil {
			return Base{}, err
		}
	}
	b := Base{href: TrimFragment(href)}
	b.index()
	return b, nil
}

// InEncoding returns the same base for a page in another encoding than UTF-8:
// a browser encodes the query of a reference in the encoding of its page, and
// writes what that encoding lacks as a character reference.
func (b Base) InEncoding(enc encoding.Encoding) Base {
	b.enc = enc
	return b
}

// Resolve returns the absolute URL that ref means in the page, fragment
// included. A clean reference costs at most the allocation of the result.
func (b *Base) Resolve(ref string) (string, error) {
	ref = trimEnds(ref)
	if s, ok := b.fast(ref); ok {
		return s, nil
	}
	if b.encodesQuery(ref) {
		ref = encodeQuery(ref, b.enc)
	}
	return parse(b.href, ref)
}

// index sets the offsets of an http or https URL in its serialised form.
func (b *Base) index() {
	n := webPrefix(b.href)
	if n == 0 {
		return
	}
	b.web = true
	b.root = n + strings.IndexByte(b.href[n:], '/')
	b.pathEnd = len(b.href)
	if i := strings.IndexByte(b.href, '?'); i >= 0 {
		b.pathEnd = i
	}
	b.dir = strings.LastIndexByte(b.href[:b.pathEnd], '/') + 1
}

// webPrefix returns the length of a lower-case "http://" or "https://" that u
// begins with, or 0.
func webPrefix(u string) int {
	switch {
	case strings.HasPrefix(u, "http://"):
		return len("http://")
	case strings.HasPrefix(u, "https://"):
		return len("https://")
	}
	return 0
}
