package cmd

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
)

// A field is a key of an event and its value, both as they stand in the JSON;
// the key without its quotes.
type field struct{ key, value []byte }

// scanEvent splits a JSON object of zerolog into its fields. What it cannot
// read ends the list: zerolog writes valid JSON, and a log must never panic.
func scanEvent(dst []field, event []byte) []field {
	rest := bytes.TrimSpace(event)
	if len(rest) == 0 || rest[0] != '{' {
		return dst
	}
	for rest = rest[1:]; len(rest) > 0 && rest[0] == '"'; {
		n := stringEnd(rest)
		if n < 2 || n >= len(rest) || rest[n] != ':' {
			return dst
		}
		key := rest[1 : n-1]
		rest = rest[n+1:]
		n = valueEnd(rest)
		dst = append(dst, field{key, rest[:n]})
		if rest = rest[n:]; len(rest) > 0 {
			rest = rest[1:] // a comma or the brace
		}
	}
	return dst
}

// stringEnd returns where the JSON string at the beginning of b ends, or the
// length of b if it does not.
func stringEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// valueEnd returns where the JSON value at the beginning of b ends.
func valueEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			i += stringEnd(b[i:]) - 1
		case c == '{' || c == '[':
			depth++
		case depth == 0 && (c == ',' || c == '}' || c == ']'):
			return i
		case c == '}' || c == ']':
			depth--
		}
	}
	return len(b)
}

// appendHead appends ` [component] LEVEL: message`.
func appendHead(line []byte, level, colour string, fields []field) []byte {
	line = append(line, " ["...)
	if v := lookup(fields, crawl.LogComponent); v != nil {
		line = appendText(line, v)
	} else {
		line = append(line, defaultComponent...)
	}
	line = append(append(append(line, "] "...), colour...), level...)
	if colour != "" {
		line = append(line, "\x1b[0m"...)
	}
	line = append(line, ": "...)
	return appendText(line, lookup(fields, zerolog.MessageFieldName))
}

// lookup returns the last value of a key: a logger made from another one has
// the component of both.
func lookup(fields []field, key string) []byte {
	for _, f := range slices.Backward(fields) {
		if string(f.key) == key {
			return f.value
		}
	}
	return nil
}

// appendFields appends ` key=value` for everything that is not in the head.
func appendFields(line []byte, fields []field) []byte {
	for _, f := range fields {
		switch string(f.key) {
		case zerolog.LevelFieldName, zerolog.MessageFieldName, crawl.LogComponent:
			continue
		}
		line = append(append(append(line, ' '), f.key...), '=')
		if string(f.key) != zerolog.ErrorFieldName && isPlain(f.value) {
			line = append(line, f.value[1:len(f.value)-1]...)
		} else {
			line = append(line, f.value...)
		}
	}
	return line
}

// isPlain reports whether a value is a string that is clear without quotes.
func isPlain(v []byte) bool {
	if len(v) < 3 || v[0] != '"' {
		return false
	}
	for _, c := range v[1 : len(v)-1] {
		if c <= ' ' || c == '"' || c == '\\' || c == '=' || c == 0x7f {
			return false
		}
	}
	return true
}

// appendText appends the text of a JSON string, or any other value as it is.
// Line breaks and tabs become what they stand for. Other control characters
// stay escaped: they could make a terminal do what a web page wants.
func appendText(line, v []byte) []byte {
	if len(v) < 2 || v[0] != '"' {
		return append(line, v...)
	}
	for v = v[1 : len(v)-1]; ; {
		i := bytes.IndexByte(v, '\\')
		if i < 0 || i+1 >= len(v) {
			return append(line, v...)
		}
		line = append(line, v[:i]...)
		var n int
		line, n = appendEscape(line, v[i:])
		v = v[i+n:]
	}
}

// appendEscape appends what the escape sequence at the beginning of v stands
// for and returns its length.
func appendEscape(line, v []byte) ([]byte, int) {
	switch v[1] {
	case 'n':
		return append(line, '\n'), 2
	case 't':
		return append(line, '\t'), 2
	case '"', '\\', '/':
		return append(line, v[1]), 2
	case 'u':
		return appendRune(line, v)
	}
	return append(line, v[:2]...), 2
}

func appendRune(line, v []byte) ([]byte, int) {
	r, ok := hexRune(v)
	if !ok {
		return append(line, v[:2]...), 2
	}
	if low, ok := hexRune(v[6:]); ok && utf16.IsSurrogate(r) {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return utf8.AppendRune(line, pair), 12
		}
	}
	if r < ' ' || r >= 0x7f && r < 0xa0 {
		return append(line, v[:6]...), 6
	}
	return utf8.AppendRune(line, r), 6
}

// hexRune reads an escape of JSON: \u and four hexadecimal digits.
func hexRune(v []byte) (rune, bool) {
	if len(v) < 6 || v[0] != '\\' || v[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(v[2:6]), 16, 16)
	return rune(n), err == nil
}
