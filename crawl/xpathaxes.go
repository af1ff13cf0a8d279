package crawl

import "golang.org/x/net/html"

// xpathAxis is the direction of a step.
type xpathAxis uint8

const (
	axisChild xpathAxis = iota
	axisDescendant
	axisDescendantOrSelf
	axisSelf
	axisAttribute
	axisParent
	axisAncestor
	axisAncestorOrSelf
	axisFollowingSibling
	axisPrecedingSibling
	axisFollowing
	axisPreceding
)

// xpathAxes are the axes by name. That of namespaces is not there.
var xpathAxes = map[string]xpathAxis{ //nolint:gochecknoglobals // never changed.
	"child": axisChild, "descendant": axisDescendant, "descendant-or-self": axisDescendantOrSelf, "self": axisSelf,
	"attribute": axisAttribute, "parent": axisParent, "ancestor": axisAncestor, "ancestor-or-self": axisAncestorOrSelf,
	"following-sibling": axisFollowingSibling, "preceding-sibling": axisPrecedingSibling,
	"following": axisFollowing, "preceding": axisPreceding,
}

// reverse reports whether the axis goes against the document order.
func (a xpathAxis) reverse() bool {
	return a == axisAncestor || a == axisAncestorOrSelf || a == axisPrecedingSibling || a == axisPreceding
}

type testKind uint8

const (
	testName testKind = iota
	testNode
	testText
	testComment
	testNothing // processing instructions, which the tree has not
)

// A nodeTest says which nodes of an axis count.
type nodeTest struct {
	kind          testKind
	prefix, local string // local may be *
}

// fits reports whether a node, or an attribute on its axis, counts. A document
// type never does.
func (t *nodeTest) fits(p position) bool {
	isElement := p.attr < 0 && p.node.Type == html.ElementNode
	switch t.kind {
	case testName:
		return (isElement || p.attr >= 0) && t.named(p)
	case testNode:
		return p.attr >= 0 || p.node.Type != html.DoctypeNode
	case testText:
		return p.attr < 0 && p.node.Type == html.TextNode
	case testComment:
		return p.attr < 0 && p.node.Type == html.CommentNode
	}
	return false
}

func (t *nodeTest) named(p position) bool {
	if t.local == "*" && t.prefix == "" {
		return true
	}
	prefix, local, _ := p.name()
	return prefix == t.prefix && (t.local == "*" || t.local == local)
}

// collect appends the nodes of the axis that pass the test, in the order of the
// axis.
func (a xpathAxis) collect(dst []position, c position, t *nodeTest) []position {
	if c.attr >= 0 {
		return a.collectFromAttribute(dst, c, t)
	}
	add := func(n *html.Node) {
		if p := (position{n, -1}); t.fits(p) {
			dst = append(dst, p)
		}
	}
	switch a {
	case axisAttribute:
		return appendAttributes(dst, c.node, t)
	case axisSelf, axisDescendantOrSelf, axisAncestorOrSelf:
		add(c.node)
	}
	a.walk(c.node, add)
	return dst
}

// walk calls f with the nodes of an axis besides n itself.
func (a xpathAxis) walk(n *html.Node, f func(*html.Node)) {
	switch a {
	case axisChild:
		for c := range n.ChildNodes() {
			f(c)
		}
	case axisDescendant, axisDescendantOrSelf:
		for d := following(n, n); d != nil; d = following(d, n) {
			f(d)
		}
	case axisParent:
		if n.Parent != nil {
			f(n.Parent)
		}
	case axisAncestor, axisAncestorOrSelf:
		for p := range n.Ancestors() {
			f(p)
		}
	case axisFollowingSibling:
		for n = n.NextSibling; n != nil; n = n.NextSibling {
			f(n)
		}
	case axisPrecedingSibling:
		for n = n.PrevSibling; n != nil; n = n.PrevSibling {
			f(n)
		}
	case axisFollowing:
		for n = afterNode(n, nil); n != nil; n = following(n, nil) {
			f(n)
		}
	case axisPreceding:
		walkPreceding(n, f)
	}
}

// collectFromAttribute does the same for an attribute, which has only itself and
// what is above it.
func (a xpathAxis) collectFromAttribute(dst []position, c position, t *nodeTest) []position {
	element := position{c.node, -1}
	switch a {
	case axisSelf, axisDescendantOrSelf, axisAncestorOrSelf:
		if t.kind == testNode {
			dst = append(dst, c)
		}
	}
	switch a {
	case axisParent:
		return axisSelf.collect(dst, element, t)
	case axisAncestor, axisAncestorOrSelf:
		return axisAncestorOrSelf.collect(dst, element, t)
	}
	return dst
}

// appendAttributes appends the attributes of an element. Those of XML that
// declare a namespace are none.
func appendAttributes(dst []position, n *html.Node, t *nodeTest) []position {
	if n.Type != html.ElementNode || t.kind != testName && t.kind != testNode {
		return dst
	}
	for i, a := range n.Attr {
		if declares := a.Namespace == "xmlns" || a.Namespace == "" && a.Key == "xmlns"; declares && isXML(n) {
			continue
		}
		if p := (position{n, i}); t.fits(p) {
			dst = append(dst, p)
		}
	}
	return dst
}

// following returns the node after n in document order, nil at the end of the
// subtree of root, or of the tree if that is nil.
func following(n, root *html.Node) *html.Node {
	if n.FirstChild != nil {
		return n.FirstChild
	}
	return afterNode(n, root)
}

// afterNode does the same, past the descendants of n.
func afterNode(n, root *html.Node) *html.Node {
	for n != root {
		if n.NextSibling != nil {
			return n.NextSibling
		}
		if n.Parent == nil {
			return nil
		}
		n = n.Parent
	}
	return nil
}

// walkPreceding calls f with the nodes that end before n begins, the nearest
// first.
func walkPreceding(n *html.Node, f func(*html.Node)) {
	for ; n != nil; n = n.Parent {
		for s := n.PrevSibling; s != nil; s = s.PrevSibling {
			last := s
			for last.LastChild != nil {
				last = last.LastChild
			}
			for last != s {
				f(last)
				if last.PrevSibling == nil {
					last = last.Parent
					continue
				}
				for last = last.PrevSibling; last.LastChild != nil; {
					last = last.LastChild
				}
			}
			f(s)
		}
	}
}

// top returns the root of the tree that n is in.
func top(n *html.Node) *html.Node {
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}
