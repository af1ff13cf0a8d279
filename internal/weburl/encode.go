package weburl

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// encodesQuery reports whether the query of ref is to be written in the
// encoding of the page: only in special URLs, and not in WebSocket ones. Of
// encodings that contain ASCII only one changes it.
func (b *Base) encodesQuery(ref string) bool {
	if b.enc == nil || isASCII(ref) && b.enc != japanese.ISO2022JP {
		return false
	}
	scheme := Scheme(ref)
	if scheme == "" {
		scheme = Scheme(b.href)
	}
	return inPageEncoding(scheme)
}

// inPageEncoding reports whether queries of the scheme are written in the encoding
// of the page (WHATWG URL §4.4, query state).
func inPageEncoding(scheme string) bool {
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
		n := 1
		if ref[i] < utf8.RuneSelf {
			out = appendControl(out, ref[i], enc)
		} else {
			n = foreignPrefix(ref[i:end])
			out = appendEncoded(out, ref[i:i+n], enc)
		}
		i += n
	}
	return string(append(out, ref[end:]...))
}

// foreignPrefix returns the length of what s begins with that is not ASCII.
func foreignPrefix(s string) int {
	n := 0
	for n < len(s) && s[n] >= utf8.RuneSelf {
		n++
	}
	return n
}

// appendEncoded appends the characters of a query that are not ASCII, together, as
// an encoding with states needs it. What the encoding lacks becomes an escaped
// decimal character reference.
func appendEncoded(dst []byte, s string, enc encoding.Encoding) []byte {
	if enc == japanese.ShiftJIS || enc == japanese.EUCJP || enc == japanese.ISO2022JP {
		s = writable(s, enc != japanese.ISO2022JP)
	}
	if !strings.ContainsRune(s, unpaired) {
		if bytes, err := enc.NewEncoder().String(s); err == nil {
			return appendQuoted(dst, bytes, inQuery)
		}
	}
	for _, r := range s {
		bytes, err := enc.NewEncoder().String(string(r))
		switch roman := inRoman(r); {
		case enc == japanese.ISO2022JP && roman != 0:
			dst = append(append(append(dst, "%1B(J"...), roman), "%1B(B"...)
		case err != nil || r == unpaired && isChinese(enc):
			dst = appendReference(dst, r)
		default:
			dst = appendQuoted(dst, bytes, inQuery)
		}
	}
	return dst
}

// writable replaces characters that a Japanese encoding writes as others: the
// minus, and, if it has no set of characters for them, yen and overline (WHATWG
// Encoding Standard §12).
func writable(s string, oneSet bool) string {
	return strings.Map(func(r rune) rune {
		switch c := inRoman(r); {
		case r == '\u2212':
			return '\uFF0D'
		case oneSet && c != 0:
			return rune(c)
		}
		return r
	}, s)
}

// inRoman returns the byte of JIS X 0201 Roman for what is none of ASCII, or 0.
func inRoman(r rune) byte {
	switch r {
	case '\u00A5':
		return '\\'
	case '\u203E':
		return '~'
	}
	return 0
}

// unpaired is the one character that gb18030 reads and does not write (WHATWG
// Encoding Standard §10.2.2).
const unpaired = '\uE5E5'

func isChinese(enc encoding.Encoding) bool {
	return enc == simplifiedchinese.GB18030 || enc == simplifiedchinese.GBK
}

// appendControl appends an ASCII character of a query. Those that switch between
// the states of ISO-2022-JP must not come from outside (WHATWG Encoding Standard
// §12.2.2).
func appendControl(dst []byte, c byte, enc encoding.Encoding) []byte {
	if enc == japanese.ISO2022JP && (c == 0x0E || c == 0x0F || c == 0x1B) {
		return appendReference(dst, utf8.RuneError)
	}
	return append(dst, c)
}

// appendReference appends an escaped decimal character reference.
func appendReference(dst []byte, r rune) []byte {
	dst = append(dst, "%26%23"...)
	dst = strconv.AppendInt(dst, int64(r), 10)
	return append(dst, "%3B"...)
}
