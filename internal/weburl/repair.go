package weburl

import (
	"fmt"
	"strings"

	invalid "github.com/nlnwa/whatwg-url/errors"
	whatwg "github.com/nlnwa/whatwg-url/url"
)

// Limits of what goes to the full parser. Browsers take more, but the parser's
// work grows with the square of the length, and faster with the at signs; its
// work on data: URLs is linear.
const (
	maxRepair     = 8 << 10 // bytes
	maxRepairData = 1 << 20 // bytes
	maxRepairAt   = 100     // "@"
)

// parser follows the standard, with a newer set of characters to escape in paths
// than the library's.
var parser = whatwg.NewParser(whatwg.WithPreParseHostFunc(disguise), whatwg.WithPostParseHostFunc(undisguise),
	whatwg.WithPathPercentEncodeSet(whatwg.PathPercentEncodeSet.Set('^')))

// Error says why a URL cannot be parsed. Reason is mostly in the words of the
// WHATWG standard's validation errors.
type Error struct {
	URL    string // as given, shortened if long
	Base   string // what it was resolved against, or ""
	Reason string
}

func (e *Error) Error() string {
	if e.Base == "" {
		return fmt.Sprintf("parse URL %q: %s", e.URL, e.Reason)
	}
	return fmt.Sprintf("resolve %q against %q: %s", e.URL, e.Base, e.Reason)
}

// parse resolves ref with the full WHATWG parser. An empty base means that ref
// has to be absolute.
func parse(base, ref string) (string, error) {
	u, err := parseURL(base, ref)
	if err != nil {
		return "", err
	}
	if u.OpaquePath() {
		return escapeLastSpace(u.Href(false)), nil
	}
	return u.Href(false), nil
}

// escapeLastSpace escapes the space that an opaque path ends with before a query
// or a fragment (WHATWG URL §4.4, opaque path state).
func escapeLastSpace(u string) string {
	i := strings.IndexAny(u, "?#")
	if i < 1 || u[i-1] != ' ' {
		return u
	}
	return u[:i-1] + "%20" + u[i:]
}

func parseURL(base, ref string) (*whatwg.Url, error) {
	if reason := excess(ref); reason != "" {
		return nil, &Error{URL: clip(ref), Base: clip(base), Reason: reason}
	}
	u, err := parser.ParseRef(base, ref)
	if err != nil {
		return nil, &Error{URL: clip(ref), Base: clip(base), Reason: reason(err)}
	}
	return u, nil
}

// excess says which limit of the full parser ref is over, or "".
func excess(ref string) string {
	limit := maxRepair
	if strings.HasPrefix(ref, "data:") {
		limit = maxRepairData
	} else if n := strings.Count(ref, "@"); n > maxRepairAt {
		return fmt.Sprintf("%d at signs, more than the %d that a URL in need of repair may have", n, maxRepairAt)
	}
	if len(ref) > limit {
		return fmt.Sprintf("%d bytes long, more than the %d that a URL in need of repair may have", len(ref), limit)
	}
	return ""
}

// reason words an error of the parser without the URL, which stands beside it.
func reason(err error) string {
	why := string(invalid.Type(err))
	if detail := invalid.Description(err); detail != "" {
		why += " (" + detail + ")"
	}
	return why
}
