package crawl

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// controlsOf returns the controls of a form in document order: those inside of
// it, those whose form attribute names it, and, if the form stands between the
// cells of a table, where the parser leaves it empty, those of the rest of the
// table.
func controlsOf(root, form *html.Node) []*html.Node {
	id, _ := attrOf(form, "id")
	table := tableAround(form)
	var controls []*html.Node
	var last *html.Node // the form before
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.Form:
			last = n
		case atom.Input, atom.Select, atom.Textarea, atom.Button:
			if isOwn(n, form, id, table, last) && !isDisabled(n) {
				controls = append(controls, n)
			}
		}
	}
	return controls
}

func isOwn(n, form *html.Node, id string, table, last *html.Node) bool {
	if named, ok := attrOf(n, "form"); ok {
		return id != "" && named == id
	}
	for p := range n.Ancestors() {
		if p.DataAtom == atom.Form {
			return p == form
		}
	}
	return table != nil && last == form && isInside(n, table)
}

// tableAround returns the table of an empty form that stands where only cells
// may.
func tableAround(form *html.Node) *html.Node {
	if form.FirstChild != nil || form.Parent == nil {
		return nil
	}
	switch form.Parent.DataAtom {
	case atom.Table, atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr:
		for p := range form.Ancestors() {
			if p.DataAtom == atom.Table {
				return p
			}
		}
	}
	return nil
}

// isDisabled reports whether a control, or a fieldset around it, is disabled. The
// legend of the fieldset is not.
func isDisabled(n *html.Node) bool {
	if _, ok := attrOf(n, "disabled"); ok {
		return true
	}
	inLegend := false
	for p := range n.Ancestors() {
		switch p.DataAtom {
		case atom.Legend:
			inLegend = true
		case atom.Fieldset:
			if _, ok := attrOf(p, "disabled"); ok && !inLegend {
				return true
			}
			inLegend = false
		}
	}
	return false
}

// inputType returns the type of an input or button in lower case.
func inputType(n *html.Node) string {
	t, _ := attrOf(n, "type")
	t = strings.ToLower(strings.TrimSpace(t))
	if n.DataAtom == atom.Button && t != "reset" && t != "button" {
		return "submit"
	}
	return t
}

func isButton(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Button:
		return inputType(n) == "submit"
	case atom.Input:
		return inputType(n) == "submit" || inputType(n) == "image"
	}
	return false
}

// button returns the button that is pressed, nil if the form has none or none is
// wanted.
func (f Form) button(controls []*html.Node) (*html.Node, error) {
	if f.NoClick && (f.Click != nil || f.Button != 0) || f.Click != nil && f.Button != 0 {
		return nil, errors.New("only one of Click, Button and NoClick may be set")
	}
	var buttons []*html.Node
	for _, n := range controls {
		if isButton(n) {
			buttons = append(buttons, n)
		}
	}
	switch {
	case f.NoClick, len(buttons) == 0 && f.Click == nil && f.Button == 0:
		return nil, nil
	case f.Click != nil:
		return f.clicked(buttons)
	case f.Button < 0 || f.Button >= len(buttons):
		return nil, fmt.Errorf("there is no button of number %d, there are %d", f.Button, len(buttons))
	}
	return buttons[f.Button], nil
}

// clicked returns the one button with the attributes of Click.
func (f Form) clicked(buttons []*html.Node) (*html.Node, error) {
	buttons = slices.DeleteFunc(buttons, func(n *html.Node) bool {
		for k, want := range f.Click {
			if v, ok := attrOf(n, k); !ok || v != want {
				return true
			}
		}
		return false
	})
	if len(buttons) != 1 {
		return nil, fmt.Errorf("%d buttons have the attributes %v, want one", len(buttons), f.Click)
	}
	return buttons[0], nil
}

// fields returns what is sent: the values of the page in their order, those that
// replace them in their places, and then the others.
func (f Form) fields(controls []*html.Node, button *html.Node) []field {
	var all []field
	sent := map[string]bool{}
	add := func(name string) {
		for _, v := range f.Values[name] {
			all = append(all, field{name, v})
		}
		sent[name] = true
	}
	for _, n := range controls {
		name, _ := attrOf(n, "name")
		_, replaced := f.Values[name]
		switch {
		case name == "", sent[name]:
		case replaced:
			add(name)
		default:
			for _, v := range valuesOf(n, n == button) {
				all = append(all, field{name, v})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Values)) {
		if !sent[name] {
			add(name)
		}
	}
	return all
}

// valuesOf returns what a control sends, nothing for a button that is not
// pressed.
func valuesOf(n *html.Node, pressed bool) []string {
	value, has := attrOf(n, "value")
	switch n.DataAtom {
	case atom.Textarea:
		var b strings.Builder
		writeText(&b, n)
		return []string{b.String()}
	case atom.Select:
		return selected(n)
	}
	if pressed {
		return []string{value}
	}
	switch t := inputType(n); t {
	case "submit", "image", "reset", "button":
		return nil
	case "checkbox", "radio":
		if _, ok := attrOf(n, "checked"); !ok {
			return nil
		}
		if !has {
			value = "on"
		}
	}
	return []string{value}
}

// selected returns the values of the options that are selected and not disabled.
// Of a list in which only one can be, it is the last of them, and if none is the
// first that is not disabled.
func selected(list *html.Node) []string {
	var first, chosen *html.Node
	var all []string
	for n := range list.Descendants() {
		if n.DataAtom != atom.Option {
			continue
		}
		disabled := isDisabledOption(n)
		if _, ok := attrOf(n, "selected"); ok {
			chosen = n
			if !disabled {
				all = append(all, optionValue(n))
			}
		} else if first == nil && !disabled {
			first = n
		}
	}
	if _, multiple := attrOf(list, "multiple"); multiple {
		return all
	}
	if chosen = cmp.Or(chosen, first); chosen == nil || isDisabledOption(chosen) {
		return nil
	}
	return []string{optionValue(chosen)}
}

func isDisabledOption(n *html.Node) bool {
	_, own := attrOf(n, "disabled")
	group := false
	if n.Parent.DataAtom == atom.Optgroup {
		_, group = attrOf(n.Parent, "disabled")
	}
	return own || group
}

// optionValue returns the value of an option, which is its text by default.
func optionValue(n *html.Node) string {
	if v, ok := attrOf(n, "value"); ok {
		return v
	}
	var b strings.Builder
	writeText(&b, n)
	return strings.Join(strings.Fields(b.String()), " ")
}
