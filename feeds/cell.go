package feeds

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// appendCell appends a JSON value as a cell; nil is a field that is not there.
func appendCell(dst, value []byte, only bool) ([]byte, error) {
	text, err := cellText(value)
	if err != nil {
		return nil, err
	}
	return appendQuoted(dst, text, only), nil
}

// cellText returns the text of a cell. Lists of plain values are joined, what
// is nested stays JSON.
func cellText(value []byte) ([]byte, error) {
	if len(value) == 0 || value[0] != '[' {
		return plainText(value)
	}
	parts, err := splitList(value, nil)
	if err != nil {
		return nil, err
	}
	var text []byte
	for i, part := range parts {
		if len(part) > 0 && (part[0] == '{' || part[0] == '[') {
			return value, nil
		}
		if i > 0 {
			text = append(text, ',')
		}
		plain, err := plainText(part)
		if err != nil {
			return nil, err
		}
		text = append(text, plain...)
	}
	return text, nil
}

func plainText(value []byte) ([]byte, error) {
	switch string(value) {
	case "", "null":
		return nil, nil
	case "true":
		return []byte("True"), nil
	case "false":
		return []byte("False"), nil
	}
	if value[0] != '"' {
		return value, nil
	}
	text, rest, err := cutString(value)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%w: %q", errTorn, value)
	}
	return text, err
}

// structFields returns the names of the fields of a struct in their order, also
// of those that the item leaves out; none for anything else, and for a type that
// renders itself.
func structFields(item any) []string {
	switch item.(type) {
	case jsonAppender, json.Marshaler:
		return nil
	}
	t := reflect.TypeOf(item)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return appendFields(nil, t, nil)
}

// appendFields follows the rules of encoding/json for names and for embedded
// structs. Of equal names it takes the first. Outer are the structs that t is
// embedded in: a pointer may lead back to one of them.
func appendFields(names []string, t reflect.Type, outer []reflect.Type) []string {
	if slices.Contains(outer, t) {
		return names
	}
	outer = append(outer, t)
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case tag == "-":
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			names = appendFields(names, inner, outer)
		case !f.IsExported():
		default:
			if name == "" {
				name = f.Name
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
