package httpcache

import (
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// directives are those of a Cache-Control header: values by names in lower case.
// Of several of a name the first counts (RFC 9111 §4.2.1).
type directives map[string]string

// parseDirectives reads the Cache-Control of a header. A name with white space
// behind it is another name, since the grammar has none there.
func parseDirectives(h http.Header) directives {
	d := directives{}
	for _, line := range values(h, "Cache-Control") {
		for element := range elements(line) {
			name, value, _ := strings.Cut(element, "=")
			name = strings.ToLower(name)
			if _, has := d[name]; !has && name != "" {
				d[name] = unquote(value)
			}
		}
	}
	return d
}

// elements yields what stands between the commas of a list, but for those in
// quotes.
func elements(line string) iter.Seq[string] {
	return func(yield func(string) bool) {
		quoted, start := false, 0
		for i := 0; i < len(line); i++ {
			switch c := line[i]; {
			case c == '\\' && quoted:
				i++
			case c == '"':
				quoted = !quoted
			case c == ',' && !quoted:
				if !yield(strings.TrimSpace(line[start:i])) {
					return
				}
				start = i + 1
			}
		}
		yield(strings.TrimSpace(line[start:]))
	}
}

// unquote removes the quotes of a value. None that matters has an escape in it.
func unquote(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}

func (d directives) has(name string) bool {
	_, ok := d[name]
	return ok
}

// seconds returns the value of a directive, and whether it is there and a number.
func (d directives) seconds(name string) (time.Duration, bool) { return seconds(d[name]) }

// mostSeconds is what a larger number counts as (RFC 9111 §1.2.2).
const mostSeconds = 1 << 31

// seconds reads a number of seconds: digits and nothing else.
func seconds(s string) (time.Duration, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		n = mostSeconds
	}
	return time.Duration(min(n, mostSeconds)) * time.Second, true
}

// date reads the first line of a field that is a date. The forms are those of
// RFC 9110 §5.6.7, to the letter but for the case of letters: what else a field
// says is no date, and most often means the past.
func date(h http.Header, name string) (time.Time, bool) {
	s := strings.TrimSpace(h.Get(name))
	zoneless, isGMT := strings.CutSuffix(strings.ToUpper(s), " GMT")
	var t time.Time
	var err error
	switch {
	case isGMT && len(s) == len(http.TimeFormat):
		t, err = time.Parse("Mon, 02 Jan 2006 15:04:05", zoneless)
	case isGMT:
		t, err = time.Parse("Monday, 02-Jan-06 15:04:05", zoneless)
	case len(s) == len(time.ANSIC):
		t, err = time.Parse(time.ANSIC, s)
	default:
		return t, false
	}
	return t, err == nil
}
