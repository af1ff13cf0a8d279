package charset

import (
	"bytes"
	"math"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

const (
	// sampled is how much of a text is looked at, in bytes of words that are not
	// all ASCII.
	sampled = 2048

	// before is how many letters of ASCII in front of another one are looked at.
	// Words are not longer, but texts without any space are.
	before = 64

	// least is how many of these bytes it takes for a guess.
	least = 6

	// margin is by how many bits another encoding has to be better than
	// windows-1252, which is what most texts are that say nothing.
	margin = 10
)

// Guess returns the encoding that a text is in most likely, and nil if it does not
// show: then it is ASCII, UTF-8 or, by the HTML standard, windows-1252. A text of
// UTF-16 or UTF-32 needs no mark as long as most of it is ASCII.
func Guess(text []byte) encoding.Encoding {
	if enc := wide(text); enc != nil {
		return enc
	}
	if hasEscapes(text) {
		return japanese.ISO2022JP
	}
	if utf8.Valid(text) {
		return nil
	}
	high := highBytes(text)
	if len(high) < least {
		return nil
	}
	if nearlyUTF8(high) {
		return unicode.UTF8
	}
	best, bits := encoding.Encoding(charmap.Windows1252), western(high)+margin
	for _, m := range singleByteModels() {
		if b := m.bits(high); b > bits {
			best, bits = m.enc, b
		}
	}
	for _, m := range multiByteModels() {
		if b := m.bits(high); b > bits {
			best, bits = m.enc, b
		}
	}
	if best == charmap.Windows1252 {
		return nil
	}
	return best
}

// western is how likely a text is in windows-1252.
func western(text []byte) float64 {
	best := math.Inf(-1)
	for _, m := range westernModels() {
		best = max(best, m.bits(text))
	}
	return best
}

// wide tells UTF-16 and UTF-32 by the zero bytes that are half or three quarters
// of text in ASCII.
func wide(text []byte) encoding.Encoding {
	text = text[:min(len(text), sampled)&^3]
	if len(text) < 2*least {
		return nil
	}
	var zeros [4]int
	for i, c := range text {
		if c == 0 {
			zeros[i&3]++
		}
	}
	shape := [4]byte{}
	for i, n := range zeros {
		switch {
		case n > len(text)/8:
			shape[i] = '0'
		case n <= len(text)/64:
			shape[i] = 'a'
		}
	}
	switch string(shape[:]) {
	case "000a":
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	case "a000":
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case "0a0a":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case "a0a0":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	}
	return nil
}

// hasEscapes reports whether a text of seven bits switches to Japanese as
// ISO-2022-JP does.
func hasEscapes(text []byte) bool {
	if !bytes.Contains(text, []byte("\x1b$B")) && !bytes.Contains(text, []byte("\x1b$@")) {
		return false
	}
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// nearlyUTF8 reports whether a text is UTF-8 but for a few bytes.
func nearlyUTF8(text []byte) bool {
	good, bad := 0, 0
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			bad++
		case size > 1:
			good++
		}
		text = text[size:]
	}
	return good > least && good > 10*bad
}

// highBytes returns the words of a text that are not all ASCII, a space between
// them, until there is enough of them.
func highBytes(text []byte) []byte {
	out := make([]byte, 0, sampled)
	for len(text) > 0 && len(out) < sampled {
		n := bytes.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
		if n < 0 {
			break
		}
		start := n
		for start > 0 && n-start < before && isLetter(text[start-1]) {
			start--
		}
		end := n
		for end < len(text) && !isSpace(text[end]) && end-start < sampled {
			end++
		}
		out = append(append(out, text[start:end]...), ' ')
		text = text[end:]
	}
	return out
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isSpace(c byte) bool { return c <= ' ' }
