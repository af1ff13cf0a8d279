package crawl

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// An xpathFunction is one that can be called. Its arguments are given evaluated.
type xpathFunction struct {
	result   xpathKind
	min, max int  // number of arguments; max < 0: any
	nodes    bool // the arguments have to be nodes
	self     bool // without an argument it is that of the context
	position bool // depends on the position
	call     func(c xpathContext, args []xpathValue) xpathValue
	check    func(args []xpathExpr) error // optional
}

// xpathFunctions are those of XPath 1.0 but id(), and what parsel adds to them.
var xpathFunctions = map[string]*xpathFunction{ //nolint:gochecknoglobals // never changed.
	"last":     {result: xpathNum, position: true, call: func(c xpathContext, _ []xpathValue) xpathValue { return numValue(float64(c.of)) }},
	"position": {result: xpathNum, position: true, call: func(c xpathContext, _ []xpathValue) xpathValue { return numValue(float64(c.at)) }},
	"count":    {result: xpathNum, min: 1, max: 1, nodes: true, call: func(_ xpathContext, a []xpathValue) xpathValue { return numValue(float64(len(a[0].nodes))) }},
	"sum":      {result: xpathNum, min: 1, max: 1, nodes: true, call: xpathSum},

	"name":          {result: xpathText, max: 1, nodes: true, self: true, call: xpathNameOf(func(prefix, local, _ string) string { return strings.TrimPrefix(prefix+":"+local, ":") })},
	"local-name":    {result: xpathText, max: 1, nodes: true, self: true, call: xpathNameOf(func(_, local, _ string) string { return local })},
	"namespace-uri": {result: xpathText, max: 1, nodes: true, self: true, call: xpathNameOf(func(_, _, uri string) string { return uri })},

	"string":           {result: xpathText, max: 1, self: true, call: ofText(func(s string) xpathValue { return textValue(s) })},
	"string-length":    {result: xpathNum, max: 1, self: true, call: ofText(func(s string) xpathValue { return numValue(float64(utf8.RuneCountInString(s))) })},
	"normalize-space":  {result: xpathText, max: 1, self: true, call: ofText(func(s string) xpathValue { return textValue(normalizeSpace(s)) })},
	"concat":           {result: xpathText, min: 2, max: -1, call: xpathConcat},
	"starts-with":      {result: xpathBool, min: 2, max: 2, call: ofTexts(func(a, b string) xpathValue { return boolValue(strings.HasPrefix(a, b)) })},
	"contains":         {result: xpathBool, min: 2, max: 2, call: ofTexts(func(a, b string) xpathValue { return boolValue(strings.Contains(a, b)) })},
	"substring-before": {result: xpathText, min: 2, max: 2, call: ofTexts(substringBefore)},
	"substring-after":  {result: xpathText, min: 2, max: 2, call: ofTexts(substringAfter)},
	"substring":        {result: xpathText, min: 2, max: 3, call: xpathSubstring},
	"translate":        {result: xpathText, min: 3, max: 3, call: xpathTranslate},

	"boolean": {result: xpathBool, min: 1, max: 1, call: func(_ xpathContext, a []xpathValue) xpathValue { return boolValue(a[0].isTrue()) }},
	"not":     {result: xpathBool, min: 1, max: 1, call: func(_ xpathContext, a []xpathValue) xpathValue { return boolValue(!a[0].isTrue()) }},
	"true":    {result: xpathBool, call: func(xpathContext, []xpathValue) xpathValue { return boolValue(true) }},
	"false":   {result: xpathBool, call: func(xpathContext, []xpathValue) xpathValue { return boolValue(false) }},
	"lang":    {result: xpathBool, min: 1, max: 1, call: xpathLang},

	"number":  {result: xpathNum, max: 1, self: true, call: ofNumber(func(f float64) float64 { return f })},
	"floor":   {result: xpathNum, min: 1, max: 1, call: ofNumber(math.Floor)},
	"ceiling": {result: xpathNum, min: 1, max: 1, call: ofNumber(math.Ceil)},
	"round":   {result: xpathNum, min: 1, max: 1, call: ofNumber(roundUp)},

	"has-class":         {result: xpathBool, min: 1, max: -1, check: onlyStrings, call: xpathHasClass},
	"re:test":           {result: xpathBool, min: 2, max: 3, check: checkPattern, call: xpathReTest},
	"re:replace":        {result: xpathText, min: 4, max: 4, check: checkPattern, call: xpathReReplace},
	"set:difference":    {result: xpathNodes, min: 2, max: 2, nodes: true, call: setDifference},
	"set:intersection":  {result: xpathNodes, min: 2, max: 2, nodes: true, call: setIntersection},
	"set:distinct":      {result: xpathNodes, min: 1, max: 1, nodes: true, call: setDistinct},
	"set:has-same-node": {result: xpathBool, min: 2, max: 2, nodes: true, call: func(c xpathContext, a []xpathValue) xpathValue { return boolValue(setIntersection(c, a).isTrue()) }},
	"set:leading":       {result: xpathNodes, min: 2, max: 2, nodes: true, call: setLeading},
	"set:trailing":      {result: xpathNodes, min: 2, max: 2, nodes: true, call: setTrailing},
}

// An xpathCall is a call of a function.
type xpathCall struct {
	fn   *xpathFunction
	args []xpathExpr
}

func newCall(name string, args []xpathExpr) (xpathExpr, error) {
	fn := xpathFunctions[name]
	switch {
	case fn == nil:
		return nil, fmt.Errorf("there is no function %s() here", name)
	case len(args) < fn.min:
		return nil, fmt.Errorf("%s() has too few arguments", name)
	case fn.max >= 0 && len(args) > fn.max:
		return nil, fmt.Errorf("%s() has too many arguments", name)
	}
	for _, a := range args {
		if fn.nodes && a.kind() != xpathNodes {
			return nil, fmt.Errorf("%s() takes nodes", name)
		}
	}
	if fn.check != nil {
		if err := fn.check(args); err != nil {
			return nil, fmt.Errorf("%s() %w", name, err)
		}
	}
	return &xpathCall{fn, args}, nil
}

func (e *xpathCall) kind() xpathKind { return e.fn.result }

func (e *xpathCall) eval(c xpathContext) xpathValue {
	var few [3]xpathValue
	args := few[:0]
	for _, a := range e.args {
		args = append(args, a.eval(c))
	}
	if len(args) == 0 && e.fn.self {
		args = append(args, nodesValue([]position{c.position}))
	}
	return e.fn.call(c, args)
}

func ofText(f func(string) xpathValue) func(xpathContext, []xpathValue) xpathValue {
	return func(_ xpathContext, a []xpathValue) xpathValue { return f(a[0].String()) }
}

func ofTexts(f func(a, b string) xpathValue) func(xpathContext, []xpathValue) xpathValue {
	return func(_ xpathContext, a []xpathValue) xpathValue { return f(a[0].String(), a[1].String()) }
}

func ofNumber(f func(float64) float64) func(xpathContext, []xpathValue) xpathValue {
	return func(_ xpathContext, a []xpathValue) xpathValue { return numValue(f(a[0].float())) }
}

// roundUp rounds to the nearest whole number, halves upwards.
func roundUp(f float64) float64 { return math.Floor(f + 0.5) }

func xpathSum(_ xpathContext, a []xpathValue) xpathValue {
	sum := 0.0
	for _, n := range a[0].nodes {
		sum += parseNumber(n.value())
	}
	return numValue(sum)
}

func xpathNameOf(part func(prefix, local, uri string) string) func(xpathContext, []xpathValue) xpathValue {
	return func(_ xpathContext, a []xpathValue) xpathValue {
		if len(a[0].nodes) == 0 {
			return textValue("")
		}
		return textValue(part(a[0].nodes[0].name()))
	}
}

func normalizeSpace(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(xmlSpace, r) }), " ")
}

func xpathConcat(_ xpathContext, a []xpathValue) xpathValue {
	var b strings.Builder
	for _, v := range a {
		b.WriteString(v.String())
	}
	return textValue(b.String())
}

func substringBefore(s, sep string) xpathValue {
	before, _, ok := strings.Cut(s, sep)
	if !ok {
		return textValue("")
	}
	return textValue(before)
}

func substringAfter(s, sep string) xpathValue {
	_, after, _ := strings.Cut(s, sep)
	return textValue(after)
}

// xpathSubstring takes the characters whose number, counted from 1, is at least
// the rounded second argument and less than that plus the third.
func xpathSubstring(_ xpathContext, a []xpathValue) xpathValue {
	first := roundUp(a[1].float())
	last := math.Inf(1)
	if len(a) > 2 {
		last = first + roundUp(a[2].float())
	}
	var b strings.Builder
	at := 0.0
	for _, r := range a[0].String() {
		if at++; at >= first && at < last {
			b.WriteRune(r)
		}
	}
	return textValue(b.String())
}

// xpathTranslate replaces characters of the second argument by those of the
// third, or removes them where that is shorter.
func xpathTranslate(_ xpathContext, a []xpathValue) xpathValue {
	from, to := []rune(a[1].String()), []rune(a[2].String())
	table := map[rune]rune{}
	for i, r := range from {
		if _, ok := table[r]; ok {
			continue
		}
		table[r] = -1
		if i < len(to) {
			table[r] = to[i]
		}
	}
	return textValue(strings.Map(func(r rune) rune {
		if n, ok := table[r]; ok {
			return n
		}
		return r
	}, a[0].String()))
}

// xpathLang reports whether the nearest language attribute is the language or one
// of its dialects.
func xpathLang(c xpathContext, a []xpathValue) xpathValue {
	want := strings.ToLower(a[0].String())
	for n := c.node; n != nil; n = n.Parent {
		got, ok := attrOf(n, "xml:lang")
		if !ok && !isXML(n) {
			got, ok = attrOf(n, "lang")
		}
		if ok {
			got = strings.ToLower(got)
			return boolValue(got == want || strings.HasPrefix(got, want+"-"))
		}
	}
	return boolValue(false)
}
