package crawl

import (
	"iter"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// A Selection is a list of nodes or of texts, in document order. The nodes are
// elements or text nodes, seldom comments; the texts are attributes and what
// XPath computes. The zero value is empty. It is safe for concurrent reading.
type Selection struct {
	owner *Response
	nodes []*html.Node
	texts []string
	isTxt bool // it is of texts
}

// CSS returns what matches a CSS selector: elements; with ::text at its end
// their text nodes, or with " ::text" those of their descendants too; with
// ::attr(name) the values of their attribute. An invalid selector selects
// nothing and is an error of the callback (see [Response.SelectorErr]).
//
// In an XML document the names of elements match in any case and without regard
// to their namespace.
func (r *Response) CSS(selector string) Selection {
	return Selection{owner: r, nodes: []*html.Node{r.root()}}.CSS(selector)
}

// CSS returns what matches among the descendants of the selected elements, each
// once. A pseudo-element alone, as "::attr(href)", is of the elements
// themselves, too. The left side of a combinator may match outside of them.
func (s Selection) CSS(selector string) Selection {
	c, err := compiledCSS.compile(selector)
	if err != nil {
		return s.invalid(err)
	}
	return c.selectFrom(s.owner, s.nodes)
}

// invalid notes an error with the response and returns nothing.
func (s Selection) invalid(err error) Selection {
	if s.owner != nil {
		s.owner.noteSelector(err)
	}
	return Selection{owner: s.owner}
}

// Len returns how many were selected.
func (s Selection) Len() int { return len(s.nodes) + len(s.texts) }

// Get returns the first: its text or attribute, or the markup of the element; ""
// if there is none.
func (s Selection) Get() string { return s.GetOr("") }

// GetOr returns the first, or def if there is none.
func (s Selection) GetOr(def string) string {
	switch {
	case s.isTxt && len(s.texts) > 0:
		return s.texts[0]
	case !s.isTxt && len(s.nodes) > 0:
		return markup(s.nodes[0])
	}
	return def
}

// All returns each as Get would.
func (s Selection) All() []string {
	if s.isTxt {
		return append([]string(nil), s.texts...)
	}
	all := make([]string, len(s.nodes))
	for i, n := range s.nodes {
		all[i] = markup(n)
	}
	return all
}

// Values yields each as Get would, for [Out.FollowAll].
func (s Selection) Values() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range s.Len() {
			if !yield(s.At(i).Get()) {
				return
			}
		}
	}
}

// Each yields a selection of each one.
func (s Selection) Each() iter.Seq[Selection] {
	return func(yield func(Selection) bool) {
		for i := range s.Len() {
			if !yield(s.At(i)) {
				return
			}
		}
	}
}

// At returns a selection of the i-th only, counted from 0. It panics if there is
// none.
func (s Selection) At(i int) Selection {
	one := Selection{owner: s.owner, isTxt: s.isTxt}
	if s.isTxt {
		one.texts = s.texts[i : i+1]
	} else {
		one.nodes = s.nodes[i : i+1]
	}
	return one
}

// Text returns the text of everything selected, descendants included, with
// white space at the ends removed.
func (s Selection) Text() string {
	var b strings.Builder
	for _, t := range s.texts {
		b.WriteString(t)
	}
	for _, n := range s.nodes {
		writeText(&b, n)
	}
	return strings.TrimSpace(b.String())
}

// Attr returns an attribute of the first element, "" if it has none.
func (s Selection) Attr(name string) string {
	if len(s.nodes) == 0 {
		return ""
	}
	v, _ := attrOf(s.nodes[0], name)
	return v
}

// Nodes returns the selected elements, for use with other packages. Those of an
// XML document have their local name in lower case as Data, and the rest of it in
// Namespace.
func (s Selection) Nodes() []*html.Node {
	isOther := func(n *html.Node) bool { return n.Type != html.ElementNode }
	if !slices.ContainsFunc(s.nodes, isOther) {
		return s.nodes
	}
	return slices.DeleteFunc(slices.Clone(s.nodes), isOther)
}

// markup returns a text as it is, and anything else as HTML or XML.
func markup(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	if isXML(n) {
		renderXML(&b, n)
	} else {
		_ = html.Render(&b, n) // a strings.Builder never fails, and parsed trees are well-formed
	}
	return b.String()
}

func writeText(b *strings.Builder, n *html.Node) {
	if n.Type == html.TextNode {
		b.WriteString(n.Data)
	}
	for c := range n.ChildNodes() {
		writeText(b, c)
	}
}

// attrOf returns an attribute by its name, whose case does not matter: the
// parser gives some of SVG capitals. Those of a namespace are xlink:href and the
// like.
func attrOf(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		key := a.Key
		if a.Namespace != "" {
			key = a.Namespace + ":" + key
		}
		if key == name || len(key) == len(name) && strings.EqualFold(key, name) {
			return a.Val, true
		}
	}
	return "", false
}
