package crawl

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// pseudo is what a selector takes from the elements it matches.
type pseudo uint8

const (
	takeElement  pseudo = iota
	takeText            // a::text, the element's own text nodes
	takeAllTexts        // a ::text, those of its descendants too
	takeAttr            // a::attr(name)
)

// compiled is a CSS selector list. All members of a list take the same.
type compiled struct {
	match cascadia.Matcher
	take  pseudo
	attr  string
	self  bool // a pseudo-element alone: of the element itself, too
}

// maxCompiled bounds the cache of selectors, which begins anew when it is full.
// Those written in a program's source are far fewer; those made at run time must
// not fill the memory.
const maxCompiled = 10_000

var compiledCSS struct { //nolint:gochecknoglobals // a cache.
	bySelector sync.Map // string -> compiled or error
	size       atomic.Int64
}

// CompileCSS reports what is wrong with a selector, nil if nothing. Spiders that
// take selectors as arguments check them with it at the start.
func CompileCSS(selector string) error {
	_, err := compileCSS(selector)
	return err
}

func compileCSS(selector string) (compiled, error) {
	if v, ok := compiledCSS.bySelector.Load(selector); ok {
		if c, ok := v.(compiled); ok {
			return c, nil
		}
		return compiled{}, v.(error)
	}
	c, err := parseCSS(selector)
	var v any = c
	if err != nil {
		err = fmt.Errorf("invalid CSS selector %q: %w", selector, err)
		v = err
	}
	if compiledCSS.size.Add(1) > maxCompiled {
		compiledCSS.bySelector.Clear()
		compiledCSS.size.Store(1)
	}
	compiledCSS.bySelector.Store(selector, v)
	return c, err
}

func parseCSS(selector string) (compiled, error) {
	var c compiled
	var plain []string
	for i, part := range splitCSS(selector) {
		base, take, attr, err := cutPseudo(part)
		if err != nil {
			return c, err
		}
		if i > 0 && (take != c.take || attr != c.attr) {
			return c, errors.New("the members of a list must all end in the same ::text or ::attr()")
		}
		c.take, c.attr = take, attr
		c.self = c.self || base == "*" && take != takeElement
		plain = append(plain, base)
	}
	g, err := cascadia.ParseGroup(strings.Join(plain, ","))
	if err != nil {
		return c, err
	}
	c.match = g
	return c, nil
}

// outside yields the places of a selector that are not inside brackets,
// parentheses or strings, and not escaped.
func outside(s string) iter.Seq[int] {
	return func(yield func(int) bool) {
		depth := 0
		var quote byte
		for i := 0; i < len(s); i++ {
			switch c := s[i]; {
			case c == '\\':
				i++
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '"' || c == '\'':
				quote = c
			case c == '(' || c == '[':
				depth++
			case c == ')' || c == ']':
				depth--
			case depth == 0:
				if !yield(i) {
					return
				}
			}
		}
	}
}

// splitCSS splits a selector list at its commas.
func splitCSS(s string) []string {
	var parts []string
	start := 0
	for i := range outside(s) {
		if s[i] == ',' {
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}

// cutPseudo takes ::text or ::attr(name) off the end of a selector (parsel).
func cutPseudo(s string) (base string, take pseudo, attr string, err error) {
	base, rest := s, ""
	for i := range outside(s) {
		if strings.HasPrefix(s[i:], "::") {
			base, rest = s[:i], s[i+2:]
			break
		}
	}
	if len(base) == len(s) {
		return s, takeElement, "", nil
	}
	spaced := base == "" || strings.TrimRight(base, " \t\r\n\f>+~") != base
	switch rest = strings.TrimSpace(rest); {
	case rest == "text":
		if take = takeText; spaced {
			take = takeAllTexts
		}
	case strings.HasPrefix(rest, "attr(") && strings.HasSuffix(rest, ")"):
		take = takeAttr
		attr = strings.Trim(strings.TrimSpace(rest[5:len(rest)-1]), `"'`)
	default:
		return "", 0, "", fmt.Errorf("unknown pseudo-element ::%s (there are ::text and ::attr(name))", rest)
	}
	if attr == "" && take == takeAttr {
		return "", 0, "", errors.New("::attr() needs the name of an attribute")
	}
	switch trimmed := strings.TrimSpace(base); {
	case trimmed == "":
		base = "*"
	case spaced && take == takeAttr:
		base = trimmed + " *"
	default:
		base = trimmed
	}
	return base, take, attr, nil
}

// selectFrom matches among the descendants of the roots, which are in document
// order. A root inside another adds nothing that the other has not.
func (c compiled) selectFrom(owner *Response, roots []*html.Node) Selection {
	s := Selection{owner: owner, isTxt: c.take != takeElement}
	var last *html.Node
	for _, root := range roots {
		if last != nil && isInside(root, last) {
			continue
		}
		last = root
		c.selectIn(&s, root)
	}
	return s
}

func (c compiled) selectIn(s *Selection, root *html.Node) {
	matches := cascadia.QueryAll(root, c.match)
	if c.self && root.Type == html.ElementNode && c.match.Match(root) {
		matches = slices.Insert(matches, 0, root)
	}
	switch c.take {
	case takeElement:
		s.nodes = append(s.nodes, matches...)
	case takeAttr:
		for _, n := range matches {
			if v, ok := attrOf(n, c.attr); ok {
				s.texts = append(s.texts, v)
			}
		}
	default:
		s.texts = appendAllTexts(s.texts, matches, c.take == takeAllTexts)
	}
}

// appendAllTexts appends the texts of the matches, each text node once: with
// deep, the texts of a match inside another are that one's already.
func appendAllTexts(dst []string, matches []*html.Node, deep bool) []string {
	var last *html.Node
	for _, n := range matches {
		if deep && last != nil && isInside(n, last) {
			continue
		}
		last = n
		dst = appendTexts(dst, n, deep)
	}
	return dst
}

func isInside(n, outer *html.Node) bool {
	for p := range n.Ancestors() {
		if p == outer {
			return true
		}
	}
	return false
}

func appendTexts(dst []string, n *html.Node, deep bool) []string {
	for c := range n.ChildNodes() {
		if c.Type == html.TextNode {
			dst = append(dst, c.Data)
		} else if deep {
			dst = appendTexts(dst, c, true)
		}
	}
	return dst
}
