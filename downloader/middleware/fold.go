package middleware

import (
	"maps"
	"net/http"
	"strings"
)

// fold returns the values of a header in whatever letter case its user wrote the
// name, and whether it is there at all. name is in the usual form.
func fold(h http.Header, name string) ([]string, bool) {
	if values, ok := h[name]; ok {
		return values, true
	}
	for k, values := range h {
		if len(k) == len(name) && strings.EqualFold(k, name) {
			return values, true
		}
	}
	return nil, false
}

// with returns a copy of h with one header in place of what was there.
func with(h http.Header, name string, values []string) http.Header {
	c := make(http.Header, len(h)+1)
	maps.Copy(c, h)
	deleteFold(c, name)
	c[name] = values
	return c
}

// deleteFold removes a header in any letter case.
func deleteFold(h http.Header, name string) {
	for k := range h {
		if len(k) == len(name) && strings.EqualFold(k, name) {
			delete(h, k)
		}
	}
}
