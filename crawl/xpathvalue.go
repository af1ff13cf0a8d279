package crawl

import (
	"math"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// xpathKind is what an expression evaluates to.
type xpathKind uint8

const (
	xpathNodes xpathKind = iota
	xpathText
	xpathNum
	xpathBool
)

// An xpathValue is the result of an expression. Nodes are in document order, each
// once.
type xpathValue struct {
	kind  xpathKind
	nodes []position
	text  string
	num   float64
	truth bool
}

// A position is a node of a tree or, with attr, an attribute of it.
type position struct {
	node *html.Node
	attr int // -1: the node itself
}

func textValue(s string) xpathValue          { return xpathValue{kind: xpathText, text: s} }
func numValue(f float64) xpathValue          { return xpathValue{kind: xpathNum, num: f} }
func boolValue(b bool) xpathValue            { return xpathValue{kind: xpathBool, truth: b} }
func nodesValue(nodes []position) xpathValue { return xpathValue{kind: xpathNodes, nodes: nodes} }

// value returns the text of a node.
func (p position) value() string {
	switch {
	case p.attr >= 0:
		return p.node.Attr[p.attr].Val
	case p.node.Type == html.TextNode, p.node.Type == html.CommentNode:
		return p.node.Data
	case p.node.FirstChild == nil:
		return ""
	case p.node.FirstChild.Type == html.TextNode && p.node.FirstChild.NextSibling == nil:
		return p.node.FirstChild.Data
	}
	var b strings.Builder
	writeText(&b, p.node)
	return b.String()
}

// name returns the parts of the name of an element or attribute.
func (p position) name() (prefix, local, uri string) {
	switch {
	case p.attr >= 0:
		a := p.node.Attr[p.attr]
		return a.Namespace, a.Key, ""
	case p.node.Type == html.ElementNode:
		return nameOf(p.node)
	}
	return "", "", ""
}

// String returns what string() does.
func (v xpathValue) String() string {
	switch v.kind {
	case xpathNodes:
		if len(v.nodes) == 0 {
			return ""
		}
		return v.nodes[0].value()
	case xpathNum:
		return formatNumber(v.num)
	case xpathBool:
		return strconv.FormatBool(v.truth)
	}
	return v.text
}

func formatNumber(f float64) string {
	switch {
	case f == 0:
		return "0" // the negative one, too
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strconv.FormatFloat(f, 'f', -1, 64), "+") + "inity"
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// float returns what number() does.
func (v xpathValue) float() float64 {
	switch v.kind {
	case xpathNum:
		return v.num
	case xpathBool:
		if v.truth {
			return 1
		}
		return 0
	}
	return parseNumber(v.String())
}

// parseNumber reads a number by section 4.4 of XPath 1.0: digits with a sign
// and a point, but no exponent.
func parseNumber(s string) float64 {
	s = strings.Trim(s, xmlSpace)
	if strings.Trim(s, "0123456789.-") != "" {
		return math.NaN()
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

// isTrue returns what boolean() does.
func (v xpathValue) isTrue() bool {
	switch v.kind {
	case xpathNodes:
		return len(v.nodes) > 0
	case xpathNum:
		return v.num != 0 && !math.IsNaN(v.num)
	case xpathBool:
		return v.truth
	}
	return v.text != ""
}

// compareValues compares values by section 3.4 of XPath 1.0: of nodes, any pair that
// fits will do.
func compareValues(op string, a, b xpathValue) bool {
	switch {
	case a.kind == xpathNodes && b.kind == xpathBool, a.kind == xpathBool && b.kind == xpathNodes:
		return compareAtoms(op, boolValue(a.isTrue()), boolValue(b.isTrue()))
	case a.kind == xpathNodes:
		for _, n := range a.nodes {
			if compareValues(op, textValue(n.value()), b) {
				return true
			}
		}
		return false
	case b.kind == xpathNodes:
		for _, n := range b.nodes {
			if compareAtoms(op, a, textValue(n.value())) {
				return true
			}
		}
		return false
	}
	return compareAtoms(op, a, b)
}

func compareAtoms(op string, a, b xpathValue) bool {
	if op == "=" || op == "!=" {
		return equalAtoms(a, b) == (op == "=")
	}
	x, y := a.float(), b.float()
	switch op {
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	}
	return x >= y
}

func equalAtoms(a, b xpathValue) bool {
	switch {
	case a.kind == xpathBool || b.kind == xpathBool:
		return a.isTrue() == b.isTrue()
	case a.kind == xpathNum || b.kind == xpathNum:
		return a.float() == b.float()
	}
	return a.text == b.text
}
