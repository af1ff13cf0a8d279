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

// maxCompiled bounds a cache of selectors, which begins anew when it is full.
// Those written in a program's source are far fewer; those made at run time must
// not fill the memory.
const maxCompiled = 10_000

// A selectorCache keeps what selectors compile to, and what is wrong with those
// that do not. It is safe for concurrent use.
type selectorCache[T any] struct {
	kind    string // as errors call it
	parse   func(selector string) (T, error)
	entries sync.Map // string -> *cached[T]
	size    atomic.Int64
}

type cached[T any] struct {
	value T
	err   error
}

func (c *selectorCache[T]) compile(selector string) (T, error) {
	if v, ok := c.entries.Load(selector); ok {
		e := v.(*cached[T])
		return e.value, e.err
	}
	value, err := c.parse(selector)
	if err != nil {
		err = fmt.Errorf("invalid %s %q: %w", c.kind, selector, err)
	}
	if c.size.Add(1) > maxCompiled {
		c.entries.Clear()
		c.size.Store(1)
	}
	c.entries.Store(selector, &cached[T]{value, err})
	return value, err
}

var compiledCSS = selectorCache[compiled]{kind: "CSS selector", parse: parseCSS} //nolint:gochecknoglobals // a cache.

// CompileCSS reports what is wrong with a selector, nil if nothing. Spiders that
// take selectors as arguments check them with it at the start.
func CompileCSS(selector string) error {
	_, err := compiledCSS.compile(selector)
	return err
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
	if take == takeAttr && (attr == "" || ncNameLen(strings.Replace(attr, ":", "", 1)) != len(attr)-strings.Count(attr, ":")) {
		return "", 0, "", fmt.Errorf("::attr() needs the name of an attribute, not %q", attr)
	}
	switch base = strings.TrimSpace(base); {
	case base == "":
		base = "*"
	case strings.ContainsRune(">+~", rune(base[len(base)-1])):
		base += " *"
		if take == takeAllTexts {
			take = takeText
		}
	case spaced && take == takeAttr:
		base += " *"
	}
	return base, take, attr, nil
}

// selectFrom matches among the descendants of the roots, which are in document
// order. A root inside another adds nothing that the other has not.
func (c compiled) selectFrom(owner *Response, roots []*html.Node) Selection {
	s := Selection{owner: owner, isTxt: c.take == takeAttr}
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
		s.nodes = appendAllTexts(s.nodes, matches, c.take == takeAllTexts)
	}
}

// appendAllTexts appends the text nodes of the matches, each text node once: with
// deep, the texts of a match inside another are that one's already.
func appendAllTexts(dst, matches []*html.Node, deep bool) []*html.Node {
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

func appendTexts(dst []*html.Node, n *html.Node, deep bool) []*html.Node {
	for c := range n.ChildNodes() {
		if c.Type == html.TextNode {
			dst = append(dst, c)
		} else if deep {
			dst = appendTexts(dst, c, true)
		}
	}
	return dst
}
