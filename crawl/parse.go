package crawl

import (
	"bytes"

	"golang.org/x/net/html"
)

// parseHTML builds the tree of a page. Scripts do not run here, so what noscript
// holds is part of it. The parser refuses pages nested deeper than 512 elements;
// they are flattened first, as far as it takes.
func parseHTML(text []byte) (*html.Node, error) {
	noScripts := html.ParseOptionEnableScripting(false)
	root, err := html.ParseWithOptions(bytes.NewReader(text), noScripts)
	for _, depth := range []int{400, 200, 100} {
		if err == nil {
			break
		}
		root, err = html.ParseWithOptions(bytes.NewReader(flatten(text, depth)), noScripts)
	}
	return root, err
}

// flatten removes the tags of the elements that are nested deeper than max; what
// they contain stays. It counts only elements that can nest: the parser closes
// the others itself.
func flatten(text []byte, max int) []byte {
	out := make([]byte, 0, len(text))
	f := flattener{max: max, opened: map[string]int{}, dropped: map[string]int{}}
	z := html.NewTokenizer(bytes.NewReader(text))
	for {
		tt := z.Next()
		raw := z.Raw()
		switch tt {
		case html.ErrorToken:
			return append(out, raw...)
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			if !f.start(string(name), tt == html.SelfClosingTagToken) {
				continue
			}
			if string(name) == "noscript" {
				z.NextIsNotRawText()
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); !f.end(string(name)) {
				continue
			}
		}
		out = append(out, raw...)
	}
}

// A flattener knows which elements are open.
type flattener struct {
	max     int
	stack   []string
	formats int            // how many of them format
	opened  map[string]int // how often a name is on the stack
	dropped map[string]int // open elements whose tags were removed
}

// start reports whether a start tag stays.
func (f *flattener) start(name string, selfClosing bool) bool {
	foreign := f.opened["svg"]+f.opened["math"] > 0
	switch {
	case !nests(name) || selfClosing && foreign:
		return true
	case len(f.stack) >= f.max || f.formats >= maxFormats && formats(name):
		f.dropped[name]++
		return false
	}
	f.stack = append(f.stack, name)
	f.count(name, 1)
	return true
}

// end reports whether an end tag stays. What was dropped is deeper than all that
// is on the stack.
func (f *flattener) end(name string) bool {
	if f.dropped[name] > 0 {
		f.dropped[name]--
		return false
	}
	for f.opened[name] > 0 {
		clear(f.dropped)
		top := f.stack[len(f.stack)-1]
		f.stack = f.stack[:len(f.stack)-1]
		f.count(top, -1)
		if top == name {
			break
		}
	}
	return true
}

func (f *flattener) count(name string, n int) {
	f.opened[name] += n
	if formats(name) {
		f.formats += n
	}
}

// maxFormats bounds the formatting elements that are open at a time: the parser
// opens all of them anew in every paragraph.
const maxFormats = 8

// formats reports whether an element is one of those (HTML standard, section
// 13.2.4.3).
func formats(name string) bool {
	switch name {
	case "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}

// nests reports whether elements of a name can nest. Void elements, those of raw
// text, and those that the next of their kind closes do not. Links are among the
// latter, and so are never lost.
func nests(name string) bool {
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
		"script", "style", "textarea", "title", "iframe", "noembed", "noframes", "plaintext", "xmp",
		"html", "head", "body", "a", "p", "li", "dt", "dd", "tr", "td", "th", "tbody", "thead", "tfoot",
		"option", "optgroup", "button":
		return false
	}
	return true
}
