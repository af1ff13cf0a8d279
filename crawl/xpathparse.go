package crawl

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxXPathDepth bounds the nesting of expressions.
const maxXPathDepth = 100

// parseXPath compiles an expression of XPath 1.0. All types are known here, since
// there are no variables: what compiles can be evaluated.
func parseXPath(expr string) (xpathExpr, error) {
	tokens, err := lexXPath(expr)
	if err != nil {
		return nil, err
	}
	if tokens[0].kind == xpathEnd {
		return nil, errors.New("it is empty")
	}
	p := xpathParser{tokens: tokens}
	e, err := p.expr(0)
	if err != nil {
		return nil, err
	}
	if p.tokens[0].kind != xpathEnd {
		return nil, p.unexpected()
	}
	return e, nil
}

type xpathParser struct {
	tokens []xpathToken
	depth  int
}

func (p *xpathParser) unexpected() error {
	if p.tokens[0].kind == xpathEnd {
		return errors.New("it is incomplete")
	}
	return fmt.Errorf("there is an unexpected %q", p.tokens[0].text)
}

func (p *xpathParser) is(symbol string) bool {
	return p.tokens[0].kind == xpathSymbol && p.tokens[0].text == symbol
}

// accept passes over a symbol if it is next.
func (p *xpathParser) accept(symbol string) bool {
	ok := p.is(symbol)
	if ok {
		p.tokens = p.tokens[1:]
	}
	return ok
}

func (p *xpathParser) expect(symbol string) error {
	if !p.accept(symbol) {
		return p.unexpected()
	}
	return nil
}

// binds returns how tightly a binary operator binds, 0 if it is none.
func binds(op string) int {
	switch op {
	case "or":
		return 1
	case "and":
		return 2
	case "=", "!=":
		return 3
	case "<", "<=", ">", ">=":
		return 4
	case "+", "-":
		return 5
	case "*", "div", "mod":
		return 6
	}
	return 0
}

// expr parses operators that bind tighter than min.
func (p *xpathParser) expr(min int) (xpathExpr, error) {
	if p.depth++; p.depth > maxXPathDepth {
		return nil, fmt.Errorf("it is nested deeper than %d", maxXPathDepth)
	}
	defer func() { p.depth-- }()
	left, err := p.unary()
	for err == nil && p.tokens[0].kind == xpathSymbol {
		op := p.tokens[0].text
		bind := binds(op)
		if bind <= min {
			break
		}
		p.tokens = p.tokens[1:]
		var right xpathExpr
		if right, err = p.expr(bind); err == nil {
			left = newBinary(op, left, right)
		}
	}
	return left, err
}

func (p *xpathParser) unary() (xpathExpr, error) {
	minus := 0
	for p.accept("-") {
		minus++
	}
	e, err := p.union()
	if err == nil && minus > 0 {
		e = &xpathNegate{e, minus%2 == 1}
	}
	return e, err
}

func (p *xpathParser) union() (xpathExpr, error) {
	first, err := p.path()
	if err != nil || !p.is("|") {
		return first, err
	}
	all := xpathUnion{first}
	for p.accept("|") {
		e, err := p.path()
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	for _, e := range all {
		if e.kind() != xpathNodes {
			return nil, errors.New("only nodes can be united by |")
		}
	}
	return all, nil
}

// path parses a location path, or another expression and a path from there.
func (p *xpathParser) path() (xpathExpr, error) {
	switch t := p.tokens[0]; {
	case t.kind == xpathLiteral, t.kind == xpathNumber, t.kind == xpathFunc && !isNodeType(t.text), p.is("("):
		return p.filter()
	}
	path := &xpathPath{}
	if p.accept("/") {
		path.absolute = true
		if !p.startsStep() {
			return path, nil
		}
	} else if p.is("//") {
		path.absolute = true
		return path, p.steps(path)
	}
	if err := p.step(path); err != nil {
		return nil, err
	}
	return path, p.steps(path)
}

// filter parses a primary expression, its predicates, and the steps from it.
func (p *xpathParser) filter() (xpathExpr, error) {
	e, err := p.primary()
	if err != nil || !p.is("[") && !p.is("/") && !p.is("//") {
		return e, err
	}
	if e.kind() != xpathNodes {
		return nil, errors.New("only nodes have predicates and steps")
	}
	path := &xpathPath{from: e}
	if path.filters, err = p.predicates(); err != nil {
		return nil, err
	}
	return path, p.steps(path)
}

func (p *xpathParser) primary() (xpathExpr, error) {
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	switch t.kind {
	case xpathLiteral:
		return xpathConst{textValue(t.text)}, nil
	case xpathNumber:
		f, err := strconv.ParseFloat(t.text, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("%q is no number", t.text)
		}
		return xpathConst{numValue(f)}, nil
	case xpathFunc:
		args, err := p.args()
		if err != nil {
			return nil, err
		}
		return newCall(t.text, args)
	}
	e, err := p.expr(0) // after a parenthesis
	if err != nil {
		return nil, err
	}
	return e, p.expect(")")
}

func (p *xpathParser) args() (args []xpathExpr, err error) {
	if err := p.expect("("); err != nil || p.accept(")") {
		return nil, err
	}
	for {
		e, err := p.expr(0)
		if err != nil {
			return nil, err
		}
		args = append(args, e)
		if !p.accept(",") {
			return args, p.expect(")")
		}
	}
}

// steps parses what follows a step.
func (p *xpathParser) steps(path *xpathPath) error {
	for {
		switch {
		case p.accept("//"):
			path.steps = append(path.steps, xpathStep{axis: axisDescendantOrSelf, test: nodeTest{kind: testNode}})
		case !p.accept("/"):
			path.simplify()
			return nil
		}
		if err := p.step(path); err != nil {
			return err
		}
	}
}

func (p *xpathParser) startsStep() bool {
	switch t := p.tokens[0]; t.kind {
	case xpathName, xpathAxisTok, xpathFunc:
		return true
	case xpathSymbol:
		return t.text == "." || t.text == ".." || t.text == "@"
	}
	return false
}

func (p *xpathParser) step(path *xpathPath) error {
	s := xpathStep{axis: axisChild, test: nodeTest{kind: testNode}}
	switch t := p.tokens[0]; {
	case p.accept("."):
		s.axis = axisSelf
		path.steps = append(path.steps, s)
		return nil
	case p.accept(".."):
		s.axis = axisParent
		path.steps = append(path.steps, s)
		return nil
	case p.accept("@"):
		s.axis = axisAttribute
	case t.kind == xpathAxisTok:
		p.tokens = p.tokens[1:]
		var ok bool
		if s.axis, ok = xpathAxes[t.text]; !ok {
			return fmt.Errorf("there is no axis %s here", t.text)
		}
	}
	var err error
	if s.test, err = p.nodeTest(); err != nil {
		return err
	}
	s.predicates, err = p.predicates()
	path.steps = append(path.steps, s)
	return err
}

func isNodeType(name string) bool {
	switch name {
	case "node", "text", "comment", "processing-instruction":
		return true
	}
	return false
}

func (p *xpathParser) nodeTest() (t nodeTest, err error) {
	switch tok := p.tokens[0]; {
	case tok.kind == xpathName:
		p.tokens = p.tokens[1:]
		t.local = tok.text
		if prefix, local, ok := strings.Cut(tok.text, ":"); ok {
			t.prefix, t.local = prefix, local
		}
		return t, nil
	case tok.kind == xpathFunc && isNodeType(tok.text):
		p.tokens = p.tokens[2:] // with its parenthesis
		t.kind = map[string]testKind{"node": testNode, "text": testText, "comment": testComment, "processing-instruction": testNothing}[tok.text]
		if t.kind == testNothing && p.tokens[0].kind == xpathLiteral {
			p.tokens = p.tokens[1:]
		}
		return t, p.expect(")")
	}
	return t, p.unexpected()
}

func (p *xpathParser) predicates() (all []xpathExpr, err error) {
	for p.accept("[") {
		e, err := p.expr(0)
		if err != nil {
			return nil, err
		}
		if err := p.expect("]"); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}
