package crawl

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// AppendRequest appends the stored form of a request: one line of JSON without
// spaces. The error wraps [ErrUnserializable] if the callback has no name; any
// other error names the key of Meta or the field that can not be stored.
func (c *Callbacks) AppendRequest(dst []byte, r *Request) ([]byte, error) {
	callback, args, err := c.callbackName(r.Callback)
	if err != nil {
		return dst, err
	}
	errback, err := c.errbackName(r.Errback)
	if err != nil {
		return dst, err
	}
	if args == nil {
		args = r.Args
	}
	dst = append(dst, `{"url":`...)
	dst = appendString(dst, r.URL)
	dst = appendField(dst, `,"method":`, r.Method)
	dst = appendField(dst, `,"callback":`, callback)
	dst = appendField(dst, `,"errback":`, errback)
	dst = appendInt(dst, `,"priority":`, int64(r.Priority))
	if r.DontFilter {
		dst = append(dst, `,"dont_filter":true`...)
	}
	if !r.NotBefore.IsZero() {
		dst = appendInt(dst, `,"not_before":`, r.NotBefore.UnixMilli())
	}
	dst = appendTrail(dst, &r.Trail)
	if dst, err = appendRest(dst, r, args); err != nil {
		return dst, err
	}
	return append(dst, '}'), nil
}

// appendTrail appends the history. The depth stands on its own: most requests
// have nothing else.
func appendTrail(dst []byte, t *Trail) []byte {
	if len(t.Redirects) == 0 {
		dst = appendInt(dst, `,"depth":`, int64(t.Depth))
		dst = appendInt(dst, `,"retries":`, int64(t.Retries))
		if t.Start {
			dst = append(dst, `,"start":true`...)
		}
		if t.Unfiltered {
			dst = append(dst, `,"unfiltered":true`...)
		}
		return dst
	}
	b, _ := json.Marshal(t) // ints, bools and strings: can not fail
	dst = append(dst, `,"trail":`...)
	return append(dst, b...)
}

// appendRest appends the fields that few requests have.
func appendRest(dst []byte, r *Request, args any) ([]byte, error) {
	if r.Header != nil {
		dst = appendHeader(append(dst, `,"header":`...), r.Header)
	}
	if r.Body != nil {
		dst = append(dst, `,"body":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, r.Body)
		dst = append(dst, '"')
	}
	dst = appendCookies(appendField(dst, `,"jar":`, armored(r.Jar)), r.Cookies)
	if args != nil {
		b, err := json.Marshal(args)
		if err != nil {
			return dst, fmt.Errorf("arguments of %v can not be stored: %w", r, err)
		}
		dst = append(append(dst, `,"args":`...), b...)
	}
	if !r.Options.isZero() {
		o := r.Options
		for text := range o.texts() {
			*text = armored(*text)
		}
		b, _ := json.Marshal(&o) // plain values: can not fail
		dst = append(append(dst, `,"options":`...), b...)
	}
	if len(r.Meta) > 0 {
		dst = append(dst, `,"meta":`...)
		return appendMap(dst, "Meta", r.Meta)
	}
	return dst, nil
}

func appendField(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	return appendString(append(dst, key...), value)
}

func appendInt(dst []byte, key string, n int64) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendInt(append(dst, key...), n, 10)
}

// armored returns a text that may hold any bytes as one that JSON can hold: what
// is not UTF-8 is written in base64 behind a NUL, as is what begins with a NUL.
func armored(s string) string {
	if utf8.ValidString(s) && (s == "" || s[0] != 0) {
		return s
	}
	return "\x00" + base64.StdEncoding.EncodeToString([]byte(s))
}

// appendHeader appends a header, its values armored.
func appendHeader(dst []byte, h http.Header) []byte {
	dst = append(dst, '{')
	first := true
	for _, k := range sortedKeys(h) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(appendString(dst, k), ':')
		if h[k] == nil {
			dst = append(dst, "null"...)
			continue
		}
		dst = append(dst, '[')
		for i, v := range h[k] {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendString(dst, armored(v))
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// timeKey is the only key of the object that stands for a time in Meta.
const timeKey = "$time"

func appendMap(dst []byte, at string, m map[string]any) ([]byte, error) {
	dst = append(dst, '{')
	for i, k := range sortedKeys(m) {
		if k == timeKey {
			return dst, fmt.Errorf("%s: the key %q is reserved", at, timeKey)
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, k), ':')
		var err error
		if dst, err = appendValue(dst, at+"["+strconv.Quote(k)+"]", m[k]); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// maxPath bounds the depth of Meta by the length of a key's path.
const maxPath = 4096

// appendValue appends a value of Meta or of [Values]. Only what comes back as it was is taken;
// but in strings, invalid UTF-8 becomes U+FFFD.
func appendValue(dst []byte, at string, v any) ([]byte, error) {
	if len(at) > maxPath {
		return dst, fmt.Errorf("%s… is nested too deeply, or holds itself", at[:60])
	}
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case string:
		return appendString(dst, v), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case int:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case int32:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case float64:
		return appendFloat(dst, at, v)
	case time.Time:
		return appendTime(dst, at, v)
	case map[string]any:
		return appendMap(dst, at, v)
	case []any:
		return appendList(dst, at, len(v), func(i int) any { return v[i] })
	case []string:
		return appendList(dst, at, len(v), func(i int) any { return v[i] })
	case []int:
		return appendList(dst, at, len(v), func(i int) any { return v[i] })
	}
	return dst, fmt.Errorf("%s is a %T: it can hold strings, numbers, booleans, times, lists and maps of them", at, v)
}

// appendTime appends a time with its offset from UTC. RFC 3339 has no seconds of
// an offset, as zones had before 1972: such a time is written in UTC.
func appendTime(dst []byte, at string, t time.Time) ([]byte, error) {
	if _, offset := t.Zone(); offset%60 != 0 {
		t = t.UTC()
	}
	dst = append(dst, `{"`+timeKey+`":"`...)
	dst, err := t.AppendText(dst)
	if err != nil {
		return dst, fmt.Errorf("%s: %w", at, err)
	}
	return append(dst, `"}`...), nil
}

func appendFloat(dst []byte, at string, v float64) ([]byte, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return dst, fmt.Errorf("%s is %v, which JSON can not hold", at, v)
	}
	n := len(dst)
	dst = strconv.AppendFloat(dst, v, 'g', -1, 64)
	if !slices.ContainsFunc(dst[n:], func(c byte) bool { return c == '.' || c == 'e' }) {
		dst = append(dst, '.', '0') // so that it comes back as a float64
	}
	return dst, nil
}

func appendList(dst []byte, at string, n int, value func(int) any) ([]byte, error) {
	dst = append(dst, '[')
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendValue(dst, at+"["+strconv.Itoa(i)+"]", value(i)); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

const hexDigits = "0123456789abcdef"

// AppendJSONString appends s as a JSON string. Invalid UTF-8 becomes U+FFFD;
// what HTML treats as special is not escaped.
func AppendJSONString(dst []byte, s string) []byte { return appendString(dst, s) }

func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			if (r != utf8.RuneError || size > 1) && r != '\u2028' && r != '\u2029' {
				i += size
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, s[i:i+size])
		i += size
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

func appendEscape(dst []byte, s string) []byte {
	switch c := s[0]; {
	case c == '"' || c == '\\':
		return append(dst, '\\', c)
	case c == '\n':
		return append(dst, '\\', 'n')
	case c == '\r':
		return append(dst, '\\', 'r')
	case c == '\t':
		return append(dst, '\\', 't')
	case c < 0x20:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	case s == "\u2028":
		return append(dst, `\u2028`...)
	case s == "\u2029":
		return append(dst, `\u2029`...)
	}
	return append(dst, "\uFFFD"...)
}
