package downloader

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// maxBackOff bounds what a server can ask for.
const maxBackOff = time.Hour

// BackOff returns the time before which the server of a response with status
// 429 or 503 wants no further request, by its Retry-After header: a number of
// seconds or a date (RFC 9110 §10.2.3). More than an hour counts as an hour. It
// reports false for other responses, without the header, and for one that is
// negative or makes no sense. A date is measured against the Date header if
// there is one, so that a wrong clock on either side does no harm.
func BackOff(r *crawl.Response) (time.Time, bool) {
	if r.Status != http.StatusTooManyRequests && r.Status != http.StatusServiceUnavailable {
		return time.Time{}, false
	}
	now := time.Now()
	d, ok := retryAfter(r.Header, now)
	if !ok {
		return time.Time{}, false
	}
	return now.Add(min(d, maxBackOff)), true
}

func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if isNumber(value) {
		seconds, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return maxBackOff, true // a number beyond all bounds
		}
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(at.Sub(now), 0), true
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
