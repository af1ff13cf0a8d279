package crawl

import (
	"html"
	"iter"
	"regexp"
	"strings"
)

var compiledRe = selectorCache[*regexp.Regexp]{kind: "regular expression", parse: regexp.Compile} //nolint:gochecknoglobals // a cache.

// Re returns what a regular expression finds in each of the selected, as Get
// returns them, all of it in one list: of a pattern with groups the groups of
// each match, of one with a group named "extract" that group of the first match,
// else the matches. Character references in them are decoded, except &amp; and
// &lt; (parsel). An invalid pattern finds nothing and is an error of the callback.
func (s Selection) Re(pattern string) []string {
	var all []string
	for m := range s.matches(pattern) {
		all = append(all, m)
	}
	return all
}

// ReFirst returns the first that [Selection.Re] would, "" if there is none.
func (s Selection) ReFirst(pattern string) string {
	for m := range s.matches(pattern) {
		return m
	}
	return ""
}

func (s Selection) matches(pattern string) iter.Seq[string] {
	return func(yield func(string) bool) {
		re, err := compiledRe.compile(pattern)
		if err != nil {
			s.invalid(err)
			return
		}
		extract := re.SubexpIndex("extract")
		for text := range s.Values() {
			if extract >= 0 {
				if m := re.FindStringSubmatch(text); m != nil && !yield(withoutEntities(m[extract])) {
					return
				}
				continue
			}
			for _, m := range re.FindAllStringSubmatch(text, -1) {
				for _, group := range m[min(1, len(m)-1):] {
					if !yield(withoutEntities(group)) {
						return
					}
				}
			}
		}
	}
}

// withoutEntities decodes character references. The two that are kept would
// otherwise become markup (w3lib).
func withoutEntities(s string) string {
	start := strings.IndexByte(s, '&')
	if start < 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:start])
	for s = s[start:]; s != ""; {
		end := strings.IndexByte(s[1:], '&') + 1
		if end == 0 {
			end = len(s)
		}
		if strings.HasPrefix(s, "&amp;") || strings.HasPrefix(s, "&lt;") {
			b.WriteString(s[:end])
		} else {
			b.WriteString(html.UnescapeString(s[:end]))
		}
		s = s[end:]
	}
	return b.String()
}
