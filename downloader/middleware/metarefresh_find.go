package middleware

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// findRefresh returns delay and reference of the first refresh that a page
// declares, not counting those in comments, scripts and elements of the names to
// ignore. A tag that the end of a whole page cuts off counts, as in w3lib.
func findRefresh(text string, whole bool, ignore []string) (delay time.Duration, ref string, ok bool) {
	if whole {
		text += ">"
	}
	z := html.NewTokenizer(strings.NewReader(text))
	ignored := "" // the element to ignore that is open
	for {
		switch z.Next() {
		case html.ErrorToken:
			return 0, "", false
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == ignored {
				ignored = ""
			}
		case html.StartTagToken:
			name, more := z.TagName()
			switch n := string(name); {
			case ignored != "":
			case slices.Contains(ignore, n):
				ignored = n
			case n == "noscript":
				z.NextIsNotRawText()
			case n == "meta" && more:
				if delay, ref, ok = metaRefreshOf(z); ok {
					return delay, ref, true
				}
			}
		case html.SelfClosingTagToken:
			if name, more := z.TagName(); ignored == "" && more && string(name) == "meta" {
				if delay, ref, ok = metaRefreshOf(z); ok {
					return delay, ref, true
				}
			}
		}
	}
}

// firstChars returns the first n characters of a text.
func firstChars(text string, n int) string {
	if len(text) <= n {
		return text
	}
	i := 0
	for ; n > 0 && i < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	return text[:i]
}

// metaRefreshOf reads the attributes of a meta element.
func metaRefreshOf(z *html.Tokenizer) (time.Duration, string, bool) {
	var equiv, content string
	var hasEquiv, hasContent bool
	for more := true; more; {
		var k, v []byte
		k, v, more = z.TagAttr()
		switch string(k) { // of one that is repeated the first counts
		case "http-equiv":
			if !hasEquiv {
				equiv, hasEquiv = string(v), true
			}
		case "content":
			if !hasContent {
				content, hasContent = string(v), true
			}
		}
	}
	if !strings.EqualFold(strings.TrimSpace(equiv), "refresh") {
		return 0, "", false
	}
	return parseRefresh(content)
}

const htmlSpace = " \t\n\f\r"

// parseRefresh reads the content of a refresh, such as "5; url=/next". It is
// what the HTML standard calls the shared declarative refresh steps, but for a
// fraction of the seconds, which counts. Without a URL the page only wants to be
// loaded anew, and the answer is false.
func parseRefresh(content string) (time.Duration, string, bool) {
	s := strings.TrimLeft(content, htmlSpace)
	rest := strings.TrimLeft(s, "0123456789.")
	number := s[:len(s)-len(rest)]
	seconds, err := strconv.ParseFloat(strings.TrimRight(number, "."), 64)
	if err != nil || seconds > 1e9 {
		return 0, "", false
	}
	ref := strings.TrimLeft(rest, htmlSpace)
	if ref == rest && (rest == "" || rest[0] != ';' && rest[0] != ',') {
		return 0, "", false
	}
	if ref != "" && (ref[0] == ';' || ref[0] == ',') {
		ref = strings.TrimLeft(ref[1:], htmlSpace)
	}
	ref = unquoted(afterURL(ref))
	return time.Duration(seconds * float64(time.Second)), ref, ref != ""
}

// afterURL returns what follows "url=", s itself if it does not begin so.
func afterURL(s string) string {
	if len(s) < 3 || !strings.EqualFold(s[:3], "url") {
		return s
	}
	value, ok := strings.CutPrefix(strings.TrimLeft(s[3:], htmlSpace), "=")
	if !ok {
		return s
	}
	return strings.TrimLeft(value, htmlSpace)
}

// unquoted returns what is between quotes, up to the end if the closing one is
// missing.
func unquoted(s string) string {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		s, _, _ = strings.Cut(s[1:], s[:1])
	}
	return strings.Trim(s, htmlSpace)
}
