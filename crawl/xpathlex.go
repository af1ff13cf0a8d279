package crawl

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// xpathTokenKind is the kind of a token.
type xpathTokenKind uint8

const (
	xpathEnd     xpathTokenKind = iota
	xpathSymbol                 // punctuation and operators, also and, or, div, mod
	xpathName                   // a name test: *, p:*, p:name or name
	xpathAxisTok                // the name of an axis, without its ::
	xpathFunc                   // the name of a function or node type, before its parenthesis
	xpathLiteral                // a string, without its quotes
	xpathNumber
)

type xpathToken struct {
	kind xpathTokenKind
	text string
}

// lexXPath splits an expression into tokens. By section 3.7 of XPath 1.0 a name
// or * after something complete is an operator.
func lexXPath(expr string) ([]xpathToken, error) {
	l := xpathLexer{rest: expr}
	for {
		l.rest = strings.TrimLeft(l.rest, xmlSpace)
		if l.rest == "" {
			return append(l.tokens, xpathToken{}), nil
		}
		if err := l.next(); err != nil {
			return nil, err
		}
	}
}

// xmlSpace are the characters that XML takes for white space.
const xmlSpace = " \t\r\n"

type xpathLexer struct {
	rest   string
	tokens []xpathToken
}

func (l *xpathLexer) take(kind xpathTokenKind, n int) {
	l.tokens = append(l.tokens, xpathToken{kind, l.rest[:n]})
	l.rest = l.rest[n:]
}

func (l *xpathLexer) next() error {
	c := l.rest[0]
	switch {
	case c == '"' || c == '\'':
		end := strings.IndexByte(l.rest[1:], c)
		if end < 0 {
			return errors.New("a string is not closed")
		}
		l.tokens = append(l.tokens, xpathToken{xpathLiteral, l.rest[1 : end+1]})
		l.rest = l.rest[end+2:]
	case isDigit(c) || c == '.' && len(l.rest) > 1 && isDigit(l.rest[1]):
		l.take(xpathNumber, numberLen(l.rest))
	case c == '*' && !l.afterOperand():
		l.take(xpathName, 1)
	case c == '$':
		return errors.New("there are no variables here")
	default:
		if n := symbolLen(l.rest); n > 0 {
			l.take(xpathSymbol, n)
			return nil
		}
		return l.name()
	}
	return nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// numberLen returns the length of the digits, with or without a point, that s
// begins with.
func numberLen(s string) int {
	n, point := 0, false
	for n < len(s) && (isDigit(s[n]) || s[n] == '.' && !point) {
		point = point || s[n] == '.'
		n++
	}
	return n
}

// symbolLen returns the length of the symbol that s begins with, 0 if none.
func symbolLen(s string) int {
	for _, long := range []string{"//", "..", "!=", "<=", ">="} {
		if strings.HasPrefix(s, long) {
			return 2
		}
	}
	if strings.IndexByte("/.()[]@,|+-=<>*", s[0]) >= 0 {
		return 1
	}
	return 0
}

// afterOperand reports whether what was read last is complete in itself.
func (l *xpathLexer) afterOperand() bool {
	if len(l.tokens) == 0 {
		return false
	}
	switch last := l.tokens[len(l.tokens)-1]; last.kind {
	case xpathSymbol:
		return last.text == ")" || last.text == "]" || last.text == "." || last.text == ".."
	case xpathAxisTok, xpathFunc:
		return false
	}
	return true
}

func (l *xpathLexer) name() error {
	n := ncNameLen(l.rest)
	if n == 0 {
		r, _ := utf8.DecodeRuneInString(l.rest)
		return fmt.Errorf("there is an unexpected %q", r)
	}
	if l.afterOperand() {
		switch l.rest[:n] {
		case "and", "or", "div", "mod":
			l.take(xpathSymbol, n)
			return nil
		}
		return fmt.Errorf("there is an operator missing before %q", l.rest[:n])
	}
	after := strings.TrimLeft(l.rest[n:], xmlSpace)
	if strings.HasPrefix(after, "::") {
		l.take(xpathAxisTok, n)
		l.rest = after[2:]
		return nil
	}
	if rest, ok := strings.CutPrefix(l.rest[n:], ":"); ok {
		local := ncNameLen(rest)
		if strings.HasPrefix(rest, "*") {
			local = 1
		}
		if local == 0 {
			return fmt.Errorf("a name is missing after %q", l.rest[:n+1])
		}
		n += 1 + local
	}
	kind := xpathName
	if strings.HasPrefix(strings.TrimLeft(l.rest[n:], xmlSpace), "(") {
		kind = xpathFunc
	}
	l.take(kind, n)
	return nil
}

// ncNameLen returns the length of the name without colon that s begins with.
func ncNameLen(s string) int {
	for i, r := range s {
		switch {
		case r == '_' || r != utf8.RuneError && unicode.IsLetter(r):
		case i > 0 && (r == '-' || r == '.' || r == 0xB7 || unicode.IsDigit(r) || unicode.Is(unicode.M, r)):
		default:
			return i
		}
	}
	return len(s)
}
