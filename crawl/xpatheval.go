package crawl

import (
	"math"
	"slices"
)

// An xpathExpr is a compiled expression. It does not change, and is safe for
// concurrent use.
type xpathExpr interface {
	// kind is that of every value of the expression.
	kind() xpathKind

	eval(c xpathContext) xpathValue
}

// An xpathContext is where an expression is evaluated: at a node, which is one of
// several.
type xpathContext struct {
	position
	at, of int // the node's number, counted from 1, and how many there are
}

type xpathConst struct{ value xpathValue }

func (e xpathConst) kind() xpathKind              { return e.value.kind }
func (e xpathConst) eval(xpathContext) xpathValue { return e.value }

type xpathNegate struct {
	of  xpathExpr
	odd bool // number of signs
}

func (e *xpathNegate) kind() xpathKind { return xpathNum }

func (e *xpathNegate) eval(c xpathContext) xpathValue {
	f := e.of.eval(c).float()
	if e.odd {
		f = -f
	}
	return numValue(f)
}

// newBinary returns the expression of a binary operator.
func newBinary(op string, left, right xpathExpr) xpathExpr {
	switch op {
	case "and", "or":
		return &xpathLogic{op == "or", left, right}
	case "+", "-", "*", "div", "mod":
		return &xpathArithmetic{op, left, right}
	}
	return &xpathCompare{op, left, right}
}

type xpathLogic struct {
	or          bool
	left, right xpathExpr
}

func (e *xpathLogic) kind() xpathKind { return xpathBool }

func (e *xpathLogic) eval(c xpathContext) xpathValue {
	if e.left.eval(c).isTrue() == e.or {
		return boolValue(e.or)
	}
	return boolValue(e.right.eval(c).isTrue())
}

type xpathCompare struct {
	op          string
	left, right xpathExpr
}

func (e *xpathCompare) kind() xpathKind { return xpathBool }

func (e *xpathCompare) eval(c xpathContext) xpathValue {
	return boolValue(compareValues(e.op, e.left.eval(c), e.right.eval(c)))
}

type xpathArithmetic struct {
	op          string
	left, right xpathExpr
}

func (e *xpathArithmetic) kind() xpathKind { return xpathNum }

func (e *xpathArithmetic) eval(c xpathContext) xpathValue {
	x, y := e.left.eval(c).float(), e.right.eval(c).float()
	switch e.op {
	case "+":
		return numValue(x + y)
	case "-":
		return numValue(x - y)
	case "*":
		return numValue(x * y)
	case "div":
		return numValue(x / y)
	}
	return numValue(math.Mod(x, y))
}

// An xpathUnion unites nodes.
type xpathUnion []xpathExpr

func (e xpathUnion) kind() xpathKind { return xpathNodes }

func (e xpathUnion) eval(c xpathContext) xpathValue {
	var all []position
	for _, one := range e {
		all = append(all, one.eval(c).nodes...)
	}
	return nodesValue(inOrder(all))
}

// An xpathPath goes from the context, from the root, or from the nodes of an
// expression, step by step.
type xpathPath struct {
	absolute bool
	from     xpathExpr
	filters  []xpathExpr // predicates of from
	steps    []xpathStep
}

type xpathStep struct {
	axis       xpathAxis
	test       nodeTest
	predicates []xpathExpr
}

func (e *xpathPath) kind() xpathKind { return xpathNodes }

func (e *xpathPath) eval(c xpathContext) xpathValue {
	nodes := []position{c.position}
	switch {
	case e.from != nil:
		nodes = filterNodes(slices.Clone(e.from.eval(c).nodes), e.filters)
	case e.absolute:
		nodes[0] = position{top(c.node), -1}
	}
	for i := range e.steps {
		nodes = e.steps[i].from(nodes)
	}
	return nodesValue(nodes)
}

// simplify joins the two steps that //name stands for, where it makes no
// difference: positions are counted among siblings.
func (e *xpathPath) simplify() {
	for i := len(e.steps) - 2; i >= 0; i-- {
		s, next := e.steps[i], e.steps[i+1]
		if s.axis == axisDescendantOrSelf && s.test.kind == testNode && len(s.predicates) == 0 &&
			next.axis == axisChild && !slices.ContainsFunc(next.predicates, countsPosition) {
			next.axis = axisDescendant
			e.steps = slices.Replace(e.steps, i, i+2, next)
		}
	}
}

// countsPosition reports whether a predicate may depend on the position.
func countsPosition(e xpathExpr) bool { return e.kind() == xpathNum || usesPosition(e) }

// usesPosition reports whether a value may depend on the position. A path counts
// anew.
func usesPosition(e xpathExpr) bool {
	switch e := e.(type) {
	case *xpathCall:
		return e.fn.position || slices.ContainsFunc(e.args, usesPosition)
	case *xpathLogic:
		return usesPosition(e.left) || usesPosition(e.right)
	case *xpathCompare:
		return usesPosition(e.left) || usesPosition(e.right)
	case *xpathArithmetic:
		return usesPosition(e.left) || usesPosition(e.right)
	case *xpathNegate:
		return usesPosition(e.of)
	case xpathUnion:
		return slices.ContainsFunc(e, usesPosition)
	case *xpathPath:
		return e.from != nil && usesPosition(e.from)
	}
	return false
}

// from takes a step from each of some nodes.
func (s *xpathStep) from(contexts []position) []position {
	var found []position
	for _, c := range contexts {
		start := len(found)
		found = s.axis.collect(found, c, &s.test)
		kept := filterNodes(found[start:], s.predicates)
		if s.axis.reverse() {
			slices.Reverse(kept)
		}
		found = found[:start+len(kept)]
	}
	if len(contexts) > 1 && s.axis != axisAttribute && s.axis != axisSelf {
		return inOrder(found)
	}
	return found
}

// filterNodes removes the nodes, in the order of their axis, that a predicate
// does not hold for. It works in place.
func filterNodes(nodes []position, predicates []xpathExpr) []position {
	for _, p := range predicates {
		kept := nodes[:0]
		of := len(nodes)
		for i, n := range nodes {
			v := p.eval(xpathContext{n, i + 1, of})
			if v.kind == xpathNum && v.num == float64(i+1) || v.kind != xpathNum && v.isTrue() {
				kept = append(kept, n)
			}
		}
		nodes = kept
	}
	return nodes
}
