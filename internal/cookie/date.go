package cookie

import (
	"strings"
	"time"
)

// ParseDate reads the date of an Expires attribute by the rules of RFC 6265
// §5.1.1: any order, any delimiters, names of days and zones ignored. It reports
// false for what is no date.
func ParseDate(s string) (time.Time, bool) {
	var d date
	for s != "" {
		n := strings.IndexFunc(s, isDateDelimiter)
		if n < 0 {
			n = len(s)
		}
		if n > 0 {
			d.token(s[:n])
		}
		s = s[min(n+1, len(s)):]
	}
	return d.time()
}

func isDateDelimiter(r rune) bool {
	return r == '\t' || r >= ' ' && r <= '/' || r >= ';' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
}

// date is what the tokens told so far. Each part is taken from the first token
// that fits.
type date struct {
	hour, minute, second   int
	day, month, year       int
	hasTime, hasDay, hasYr bool
}

func (d *date) token(s string) {
	if !d.hasTime && d.clock(s) {
		d.hasTime = true
		return
	}
	if !d.hasDay {
		if n, _, ok := digits(s, 1, 2); ok {
			d.day, d.hasDay = n, true
			return
		}
	}
	if d.month == 0 {
		if d.month = month(s); d.month != 0 {
			return
		}
	}
	if !d.hasYr {
		if n, _, ok := digits(s, 2, 4); ok {
			d.year, d.hasYr = n, true
		}
	}
}

// clock reads hours, minutes and seconds; what follows does not matter.
func (d *date) clock(s string) bool {
	var part [3]int
	for i := range part {
		n, rest, ok := digits(s, 1, 2)
		if !ok {
			return false
		}
		part[i] = n
		if s = rest; i < 2 {
			if s == "" || s[0] != ':' {
				return false
			}
			s = s[1:]
		}
	}
	d.hour, d.minute, d.second = part[0], part[1], part[2]
	return true
}

// digits reads a number of low to high digits that no further digit follows, and
// returns what does.
func digits(s string, low, high int) (n int, rest string, ok bool) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		if i == high {
			return 0, "", false
		}
		n = n*10 + int(s[i]-'0')
		i++
	}
	return n, s[i:], i >= low
}

const months = "janfebmaraprmayjunjulaugsepoctnovdec"

func month(s string) int {
	if len(s) < 3 {
		return 0
	}
	i := strings.Index(months, strings.ToLower(s[:3]))
	if i < 0 || i%3 != 0 {
		return 0
	}
	return i/3 + 1
}

func (d *date) time() (time.Time, bool) {
	year := d.year
	switch {
	case year >= 70 && year <= 99:
		year += 1900
	case year <= 69:
		year += 2000
	}
	if !d.hasTime || !d.hasDay || d.month == 0 || !d.hasYr || year < 1601 || d.hour > 23 || d.minute > 59 || d.second > 59 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(d.month), d.day, d.hour, d.minute, d.second, 0, time.UTC)
	return t, t.Day() == d.day // else there is no such day
}
