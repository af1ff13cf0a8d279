package httpcache

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	lifelong   = 365 * 24 * time.Hour // of a permanent redirect, and the most that is guessed
	heuristics = 10                   // the part of its age for which a page is taken as unchanged (RFC 9111 §4.2.2)
)

// isPermanent reports whether a status says that it holds for good.
func isPermanent(status int) bool {
	return status == http.StatusMultipleChoices || status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect
}

// isGuessable reports whether how long a response is good for may be guessed
// (RFC 9110 §15.1).
func isGuessable(status int) bool {
	return isPermanent(status) || slices.Contains([]int{
		http.StatusOK, http.StatusNonAuthoritativeInfo, http.StatusNoContent, http.StatusNotFound,
		http.StatusMethodNotAllowed, http.StatusGone, http.StatusRequestURITooLong, http.StatusNotImplemented,
	}, status)
}

// lifetime returns for how long s is fresh, from when it was made, in a private
// cache (RFC 9111 §4.2.1). What says so and makes no sense says: not at all.
func (s *Stored) lifetime(cc directives) time.Duration {
	if cc.has("max-age") {
		d, _ := cc.seconds("max-age")
		return d
	}
	made, ok := date(s.Header, "Date")
	if !ok {
		made = s.Received
	}
	if _, has := s.Header["Expires"]; has {
		expires, ok := date(s.Header, "Expires")
		if !ok {
			return 0
		}
		return max(expires.Sub(made), 0)
	}
	if changed, ok := date(s.Header, "Last-Modified"); ok && isGuessable(s.Status) {
		return min(max(made.Sub(changed)/heuristics, 0), lifelong)
	}
	if isPermanent(s.Status) {
		return lifelong
	}
	return 0
}

// age returns the time since s was made or confirmed (RFC 9111 §4.2.3). Clocks
// that differ make it older, never younger.
func (s *Stored) age(now time.Time) time.Duration {
	var apparent time.Duration
	if made, ok := date(s.Header, "Date"); ok {
		apparent = max(s.Received.Sub(made), 0).Truncate(time.Second)
	}
	first, _, _ := strings.Cut(s.Header.Get("Age"), ",")
	told, _ := seconds(strings.TrimSpace(first))
	told += max(s.Received.Sub(s.Requested), 0)
	return max(apparent, told) + max(now.Sub(s.Received), 0)
}
