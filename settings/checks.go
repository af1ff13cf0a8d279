package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/http/httpguts"
)

// atLeast checks an int. what completes "want …, at least N".
func atLeast(low int, what string) func(any) error {
	return func(v any) error {
		if v.(int) < low {
			return want(fmt.Sprintf("%s, at least %d", what, low))
		}
		return nil
	}
}

func count(v any) error { return atLeast(0, "a count")(v) }

func aboveZero(v any) error {
	if v.(time.Duration) <= 0 {
		return want(wantDuration + ", above zero")
	}
	return nil
}

func statuses(v any) error {
	for _, code := range v.([]int) {
		if code < 100 || code > 999 {
			return want("HTTP status codes of three digits")
		}
	}
	return nil
}

// plainText refuses what would break a header or a log line in two.
func plainText(v any) error {
	if strings.ContainsFunc(v.(string), unicode.IsControl) {
		return want("text without control characters")
	}
	return nil
}

func notEmpty(v any) error {
	if v.(string) == "" {
		return want("a name")
	}
	return plainText(v)
}

func jobDir(v any) error {
	rest := strings.NewReplacer("%%", "", "%(name)s", "").Replace(v.(string))
	if strings.ContainsAny(rest, "\x00%") {
		return want("the path of a directory, in which %(name)s is the name of the spider and %% a percent sign")
	}
	return nil
}

// headers checks names and values against RFC 9110. It is also what finds a
// value with a comma that was given as name=value and fell apart.
func headers(v any) error {
	const right = `want header names and texts as a JSON object, such as {"Accept-Language": "en"}; null sends no such header`
	given, seen := v.(map[string]any), map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		folded := strings.ToLower(name)
		switch {
		case seen[folded]:
			return fmt.Errorf("the header %s is there twice", folded)
		case !httpguts.ValidHeaderFieldName(name):
			return fmt.Errorf("%q is no name of a header: %s", name, right)
		case !headerValue(given[name]):
			return fmt.Errorf("the value of %s is none of a header: %s", name, right)
		}
		seen[folded] = true
	}
	return nil
}

func headerValue(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return httpguts.ValidHeaderFieldValue(v)
	case []any:
		for _, e := range v {
			if _, ok := e.(string); !ok || !headerValue(e) {
				return false
			}
		}
		return true
	}
	return false
}
