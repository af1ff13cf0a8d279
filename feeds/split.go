package feeds

import (
	"bytes"
	"encoding/json"
	"errors"
)

// A pair is a key of an object, without quotes and escapes, and its value as it
// stands there.
type pair struct{ key, value []byte }

var errTorn = errors.New("it is no whole JSON object")

// splitObject appends the pairs of an object to dst. What it returns shares the
// bytes of obj. It looks no deeper into the values than it must to find their
// ends.
func splitObject(obj []byte, dst []pair) ([]pair, error) {
	obj = trimSpace(obj)
	if len(obj) < 2 || obj[0] != '{' {
		return dst, errTorn
	}
	rest := trimSpace(obj[1:])
	if len(rest) == 1 && rest[0] == '}' {
		return dst, nil
	}
	for {
		key, tail, err := cutString(rest)
		if err != nil {
			return dst, err
		}
		if tail = trimSpace(tail); len(tail) == 0 || tail[0] != ':' {
			return dst, errTorn
		}
		tail = trimSpace(tail[1:])
		n := valueLen(tail)
		if n == 0 || n == len(tail) {
			return dst, errTorn
		}
		dst = append(dst, pair{key, trimSpace(tail[:n])})
		rest = trimSpace(tail[n+1:])
		switch {
		case tail[n] == ',':
		case tail[n] == '}' && len(rest) == 0:
			return dst, nil
		default:
			return dst, errTorn
		}
	}
}

// splitList appends the elements of a list to dst, as splitObject does with
// pairs.
func splitList(list []byte, dst [][]byte) ([][]byte, error) {
	if len(list) < 2 || list[0] != '[' {
		return dst, errTorn
	}
	rest := trimSpace(list[1:])
	if len(rest) == 1 && rest[0] == ']' {
		return dst, nil
	}
	for {
		n := valueLen(rest)
		if n == 0 || n == len(rest) {
			return dst, errTorn
		}
		dst = append(dst, trimSpace(rest[:n]))
		end := rest[n]
		rest = trimSpace(rest[n+1:])
		switch {
		case end == ',':
		case end == ']' && len(rest) == 0:
			return dst, nil
		default:
			return dst, errTorn
		}
	}
}

// valueLen returns how many bytes come before the comma or bracket that ends
// the value at the beginning of b, or len(b) if there is none.
func valueLen(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := stringLen(b[i:])
			if n == 0 {
				return len(b)
			}
			i += n - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(b)
}

// stringLen returns the length of the string at the beginning of b with its
// quotes, or 0 if it has no end.
func stringLen(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

func cutString(b []byte) (text, rest []byte, err error) {
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, errTorn
	}
	n := stringLen(b)
	if n == 0 {
		return nil, nil, errTorn
	}
	text, err = unquote(b[:n])
	return text, b[n:], err
}

// unquote returns what a JSON string means.
func unquote(quoted []byte) ([]byte, error) {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner, nil
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return nil, err
	}
	return []byte(s), nil
}

func trimSpace(b []byte) []byte { return bytes.Trim(b, " \t\r\n") }

func find(pairs []pair, key string) (value []byte, ok bool) {
	for _, p := range pairs {
		if string(p.key) == key {
			return p.value, true
		}
	}
	return nil, false
}
