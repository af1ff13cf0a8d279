package crawl

import "golang.org/x/net/html"

// XPath returns what an XPath 1.0 expression finds in the page, seen from its
// root element: nodes, the values of attributes, or one text if the expression
// computes a string, a number or a boolean, which is "1" or "0" (parsel). An
// invalid expression selects nothing and is an error of the callback (see
// [Response.SelectorErr]).
//
// has-class("a", "b") and re:test(text, pattern, "i") are there, as in parsel. In
// an XML document a prefix is the one that the document uses; a name without a
// prefix is also that of elements in the default namespace.
func (r *Response) XPath(expr string) Selection {
	return Selection{owner: r, nodes: rootElement(r.root())}.XPath(expr)
}

// XPath returns what an expression finds, evaluated for each of the selected
// nodes. Nodes that are found from several of them come once, and all in document
// order. An expression that begins with a slash looks at the whole document.
// Nothing is found from attributes.
func (s Selection) XPath(expr string) Selection {
	x, err := compiledXPath.compile(expr)
	if err != nil {
		return s.invalid(err)
	}
	found := selectXPath(x, s.nodes)
	found.owner = s.owner
	return found
}

// CompileXPath reports what is wrong with an expression, nil if nothing.
func CompileXPath(expr string) error {
	_, err := compiledXPath.compile(expr)
	return err
}

// rootElement returns the root element of a document, or the document if it has
// none.
func rootElement(document *html.Node) []*html.Node {
	for n := range document.ChildNodes() {
		if n.Type == html.ElementNode {
			return []*html.Node{n}
		}
	}
	return []*html.Node{document}
}

var compiledXPath = selectorCache[xpathExpr]{kind: "XPath expression", parse: parseXPath} //nolint:gochecknoglobals // a cache.

// selectXPath evaluates an expression at each context.
func selectXPath(e xpathExpr, contexts []*html.Node) Selection {
	if e.kind() != xpathNodes {
		s := Selection{isTxt: true}
		for _, n := range contexts {
			s.texts = append(s.texts, scalar(e.eval(xpathContext{position{n, -1}, 1, 1})))
		}
		return s
	}
	var found []position
	for _, n := range contexts {
		found = append(found, e.eval(xpathContext{position{n, -1}, 1, 1}).nodes...)
	}
	if len(contexts) > 1 {
		found = inOrder(found)
	}
	return selectionOf(found)
}

// scalar returns a value as parsel does.
func scalar(v xpathValue) string {
	switch {
	case v.kind != xpathBool:
		return v.String()
	case v.truth:
		return "1"
	}
	return "0"
}

// selectionOf returns nodes and attributes as a selection. Attributes next to
// nodes become text nodes without a parent.
func selectionOf(found []position) Selection {
	var s Selection
	for _, p := range found {
		if p.attr < 0 {
			s.nodes = append(s.nodes, p.node)
		} else {
			s.texts = append(s.texts, p.node.Attr[p.attr].Val)
		}
	}
	s.isTxt = len(s.texts) > 0
	if !s.isTxt || len(s.nodes) == 0 {
		return s
	}
	var mixed Selection
	for _, p := range found {
		if p.attr >= 0 {
			p.node = &html.Node{Type: html.TextNode, Data: p.node.Attr[p.attr].Val}
		}
		mixed.nodes = append(mixed.nodes, p.node)
	}
	return mixed
}
