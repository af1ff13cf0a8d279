package robots

import (
	"strconv"
	"strings"
	"time"
)

// maxDelay bounds what a file can ask for: some thirty years.
const maxDelay = 1e9 // seconds

// delay takes what a record asks of the user-agent lines right before it. It ends
// no group: the rules that follow are for all names before them.
func (p *parser) delay(seconds float64, ok bool) {
	p.inRow = false
	if ok && seconds > 0 {
		p.rowDelay = max(p.rowDelay, time.Duration(min(seconds, maxDelay)*float64(time.Second)))
	}
}

// endRow files the delay of a row under its names, once for all records of it: a
// file may have as many names as records.
func (p *parser) endRow() {
	if p.rowDelay > 0 {
		for name := range p.row {
			p.file.delays[name] = max(p.file.delays[name], p.rowDelay)
		}
	}
	p.row, p.rowDelay = map[string]bool{}, 0
}

// period reads a time in seconds such as 10, 0.5 or 10s, or in another unit such
// as 15m, 1h or 1d. What follows a blank or markup does not count.
func period(text string) (seconds float64, ok bool) {
	if i := strings.IndexAny(text, " \t<;"); i >= 0 {
		text = text[:i]
	}
	digits := strings.TrimRight(text, "smhdSMHD")
	unit := unitOf(strings.ToLower(text[len(digits):]))
	if unit == 0 || strings.Trim(digits, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(digits, 64)
	return n * unit, err == nil
}

// unitOf returns a unit in seconds, 0 for none.
func unitOf(name string) float64 {
	switch name {
	case "", "s":
		return 1
	case "m":
		return 60
	case "h":
		return 3600
	case "d":
		return 86400
	}
	return 0
}

// rate reads a number of requests for a time, such as 1/10s or 100/15m, and
// returns the time for one.
func rate(text string) (seconds float64, ok bool) {
	count, per, _ := strings.Cut(text, "/")
	n, err := strconv.ParseUint(strings.TrimSpace(count), 10, 32)
	if err != nil || n == 0 {
		return 0, false
	}
	seconds, ok = period(strings.TrimSpace(per))
	return seconds / float64(n), ok
}
