package extensions

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// FormatStats renders statistics as Scrapy dumps them: a Python dictionary,
// sorted, with one entry a line. Times are written in UTC, durations as seconds.
func FormatStats(stats map[string]any) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, key := range slices.Sorted(maps.Keys(stats)) {
		if i > 0 {
			b.WriteString(",\n ")
		}
		b.WriteString(pyString(key) + ": " + pyValue(stats[key]))
	}
	b.WriteByte('}')
	return b.String()
}

// pyValue renders a value as Python's repr does.
func pyValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		return pyString(v)
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return fmt.Sprint(v)
	case float32:
		return pyFloat(float64(v))
	case float64:
		return pyFloat(v)
	case time.Duration:
		return pyFloat(v.Seconds())
	case time.Time:
		return pyTime(v.UTC())
	case []string:
		return pyList(v)
	case []any:
		return pyList(v)
	}
	return pyString(fmt.Sprint(v))
}

func pyList[T any](list []T) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = pyValue(v)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// pyTime leaves out what Python leaves out: zero microseconds, and then zero
// seconds.
func pyTime(t time.Time) string {
	fields := []int{t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond() / 1000}
	for len(fields) > 5 && fields[len(fields)-1] == 0 {
		fields = fields[:len(fields)-1]
	}
	var b strings.Builder
	b.WriteString("datetime.datetime(")
	for _, f := range fields {
		b.WriteString(strconv.Itoa(f) + ", ")
	}
	b.WriteString("tzinfo=datetime.timezone.utc)")
	return b.String()
}

// pyFloat switches to an exponent where Python does, below 1e-4 and from 1e16.
func pyFloat(f float64) string {
	switch abs := math.Abs(f); {
	case math.IsInf(f, 0) || math.IsNaN(f):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))
	case abs != 0 && abs < 1e-4 || abs >= 1e16:
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// pyString quotes with single quotes unless only those are in the text.
func pyString(s string) string {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	b := []byte{quote}
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		b = appendPyRune(b, r, s[0], size, quote)
		s = s[size:]
	}
	return string(append(b, quote))
}

func appendPyRune(b []byte, r rune, first byte, size int, quote byte) []byte {
	switch {
	case r == '\n':
		return append(b, `\n`...)
	case r == '\r':
		return append(b, `\r`...)
	case r == '\t':
		return append(b, `\t`...)
	case r == '\\' || r == rune(quote):
		return append(b, '\\', byte(r))
	case r == utf8.RuneError && size == 1:
		return fmt.Appendf(b, `\x%02x`, first)
	case unicode.IsPrint(r):
		return utf8.AppendRune(b, r)
	case r < 0x100:
		return fmt.Appendf(b, `\x%02x`, r)
	case r < 0x10000:
		return fmt.Appendf(b, `\u%04x`, r)
	}
	return fmt.Appendf(b, `\U%08x`, r)
}
