package crawl

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// onlyStrings holds for arguments that are string literals.
func onlyStrings(args []xpathExpr) error {
	for _, a := range args {
		if c, ok := a.(xpathConst); !ok || c.kind() != xpathText {
			return errors.New("takes strings")
		}
	}
	return nil
}

// xpathHasClass reports whether an element has all of some classes (parsel).
func xpathHasClass(c xpathContext, a []xpathValue) xpathValue {
	if c.attr >= 0 {
		return boolValue(false)
	}
	classes, _ := attrOf(c.node, "class")
	for _, v := range a {
		if !hasWord(classes, v.text) {
			return boolValue(false)
		}
	}
	return boolValue(true)
}

func hasWord(s, word string) bool {
	for w := range strings.FieldsSeq(s) {
		if w == word {
			return true
		}
	}
	return false
}

// checkPattern holds for the pattern and the flags of the functions of EXSLT's
// regular expressions: they are known when the expression is compiled.
func checkPattern(args []xpathExpr) error {
	if err := onlyStrings(args[1:min(3, len(args))]); err != nil {
		return errors.New("takes a pattern and flags that are strings")
	}
	flags := ""
	if len(args) > 2 {
		flags = args[2].(xpathConst).value.text
	}
	if strings.Trim(flags, "gi") != "" {
		return errors.New("knows the flags g and i only")
	}
	_, err := compiledRe.compile(flagged(args[1].(xpathConst).value.text, flags))
	return err
}

func flagged(pattern, flags string) string {
	if strings.Contains(flags, "i") {
		return "(?i)" + pattern
	}
	return pattern
}

// patternOf returns the regular expression that checkPattern has compiled.
func patternOf(a []xpathValue) (re *regexp.Regexp, global bool) {
	flags := ""
	if len(a) > 2 {
		flags = a[2].text
	}
	re, _ = compiledRe.compile(flagged(a[1].text, flags)) // checkPattern saw to it that there is no error
	return re, strings.Contains(flags, "g")
}

// xpathReTest reports whether a pattern is found in a text.
func xpathReTest(_ xpathContext, a []xpathValue) xpathValue {
	re, _ := patternOf(a)
	return boolValue(re.MatchString(a[0].String()))
}

// xpathReReplace replaces the first match, or with the flag g all of them. Groups
// are \1 and so on.
func xpathReReplace(_ xpathContext, a []xpathValue) xpathValue {
	re, global := patternOf(a)
	s, template := a[0].String(), groupRef.ReplaceAllString(strings.ReplaceAll(a[3].String(), "$", "$$"), "$${$1}")
	limit := 1
	if global {
		limit = -1
	}
	var out []byte
	end := 0
	for _, m := range re.FindAllStringSubmatchIndex(s, limit) {
		out = append(out, s[end:m[0]]...)
		out = re.ExpandString(out, template, s, m)
		end = m[1]
	}
	return textValue(string(append(out, s[end:]...)))
}

var groupRef = regexp.MustCompile(`\\(\d)`)

func setDifference(_ xpathContext, a []xpathValue) xpathValue {
	return nodesValue(slices.DeleteFunc(slices.Clone(a[0].nodes), membership(a[1].nodes)))
}

func setIntersection(_ xpathContext, a []xpathValue) xpathValue {
	isIn := membership(a[1].nodes)
	return nodesValue(slices.DeleteFunc(slices.Clone(a[0].nodes), func(p position) bool { return !isIn(p) }))
}

// membership tells whether a node is among some.
func membership(nodes []position) func(position) bool {
	set := make(map[position]bool, len(nodes))
	for _, p := range nodes {
		set[p] = true
	}
	return func(p position) bool { return set[p] }
}

// setDistinct keeps the first node of each text.
func setDistinct(_ xpathContext, a []xpathValue) xpathValue {
	seen := map[string]bool{}
	return nodesValue(slices.DeleteFunc(slices.Clone(a[0].nodes), func(p position) bool {
		v := p.value()
		again := seen[v]
		seen[v] = true
		return again
	}))
}

// setLeading returns the nodes before the first of the second argument, none if
// that is not among them, and all if there is none.
func setLeading(_ xpathContext, a []xpathValue) xpathValue {
	if len(a[1].nodes) == 0 {
		return a[0]
	}
	return nodesValue(a[0].nodes[:max(0, slices.Index(a[0].nodes, a[1].nodes[0]))])
}

// setTrailing returns those after it.
func setTrailing(_ xpathContext, a []xpathValue) xpathValue {
	if len(a[1].nodes) == 0 {
		return a[0]
	}
	i := slices.Index(a[0].nodes, a[1].nodes[0])
	if i < 0 {
		return nodesValue(nil)
	}
	return nodesValue(a[0].nodes[i+1:])
}
