package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	wantTexts  = "a list such as a,b or a JSON array"
	wantInts   = "a list of whole numbers such as 500,503 or a JSON array"
	wantMap    = `a JSON object such as {"name": "value"}, or name=value,name2=value2`
	wantOrders = `components and their order, such as {"retry": 550, "redirect": null} or retry=550,redirect=None`
)

func asTexts(raw any) (any, error) {
	list, err := asList(raw)
	if err != nil {
		return nil, want(wantTexts)
	}
	out := make([]string, len(list))
	for i, e := range list {
		text, err := asText(e)
		if err != nil {
			return nil, want(wantTexts)
		}
		out[i] = text.(string)
	}
	return out, nil
}

func asInts(raw any) (any, error) {
	if n, ok := raw.(int); ok {
		return []int{n}, nil
	}
	list, err := asList(raw)
	if err != nil {
		return nil, want(wantInts)
	}
	out := make([]int, len(list))
	for i, e := range list {
		n, err := asInt(e)
		if err != nil {
			return nil, want(wantInts)
		}
		out[i] = n.(int)
	}
	return out, nil
}

// asList splits text at commas, drops what is empty between them, and reads
// text that starts with a bracket as JSON.
func asList(raw any) ([]any, error) {
	switch v := raw.(type) {
	case nil:
		return nil, nil
	case []any:
		return v, nil
	case string:
		text := strings.TrimSpace(v)
		if strings.HasPrefix(text, "[") {
			return parseJSON[[]any](text)
		}
		return splitList(text)
	}
	return nil, errors.New("not a list")
}

func splitList(text string) ([]any, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("not UTF-8")
	}
	var out []any
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out, nil
}

func asMap(raw any) (any, error) {
	switch v := raw.(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return cloneMap(v), nil // a builder may be built twice
	case string:
		text := strings.TrimSpace(v)
		if strings.HasPrefix(text, "{") {
			m, err := parseJSON[map[string]any](text)
			if err != nil {
				return nil, want(wantMap)
			}
			return m, nil
		}
		return splitMap(text)
	}
	return nil, want(wantMap)
}

// splitMap reads name=value,name2=value2. None as a value is nil.
func splitMap(text string) (any, error) {
	parts, err := splitList(text)
	if err != nil {
		return nil, want(wantMap)
	}
	out := make(map[string]any, len(parts))
	for _, part := range parts {
		name, value, ok := strings.Cut(part.(string), "=")
		name = strings.TrimSpace(name)
		if _, twice := out[name]; !ok || twice || name == "" {
			return nil, want(wantMap)
		}
		out[name] = strings.TrimSpace(value)
		if out[name] == "None" {
			out[name] = nil
		}
	}
	return out, nil
}

// parseJSON reads exactly one JSON value, its whole numbers as ints.
func parseJSON[T any](text string) (T, error) {
	var zero T
	if !utf8.ValidString(text) {
		return zero, errors.New("not UTF-8")
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var raw T
	if err := dec.Decode(&raw); err != nil {
		return zero, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return zero, errors.New("text after the JSON value")
	}
	v, err := canonical(raw)
	if err != nil {
		return zero, err
	}
	return v.(T), nil
}

// asOrders reads the order of components. Class paths become names. A class
// path of Scrapy without an equivalent can only be disabled, which is what it
// is.
func (d *Def) asOrders(raw any) (any, error) {
	m, err := asMap(raw)
	if err != nil {
		return nil, want(wantOrders)
	}
	given := m.(map[string]any)
	out := make(map[string]int, len(given))
	for _, key := range slices.Sorted(maps.Keys(given)) {
		order, err := asOrder(given[key])
		if err != nil {
			return nil, err
		}
		if err := d.place(out, key, order); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (d *Def) place(out map[string]int, key string, order int) error {
	name, ok := d.Aliases[key]
	switch {
	case ok:
	case !strings.HasPrefix(key, "scrapy."):
		name = key
	case order == Disabled:
		return nil
	default:
		return fmt.Errorf("this version has no component like %s", key)
	}
	if _, twice := out[name]; twice {
		return fmt.Errorf("the component %q is there twice", name)
	}
	if strings.TrimSpace(name) != name || name == "" {
		return want(wantOrders)
	}
	out[name] = order
	return nil
}

func asOrder(raw any) (int, error) {
	if raw == nil || raw == "None" || raw == Disabled {
		return Disabled, nil
	}
	n, err := asInt(raw)
	if err != nil {
		return 0, want(wantOrders)
	}
	return n.(int), nil
}
