package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a value. It also ends a map that a spider
// made contain itself.
const maxDepth = 32

// canonical copies what a layer gave into few types: nil, bool, int, float64,
// string, time.Duration, []any and map[string]any. Inside lists and maps a
// whole number is an int, however it was written, so that JSON, YAML and TOML
// mean the same.
func canonical(raw any) (any, error) { return canonicalAt(raw, 0) }

func canonicalAt(raw any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("the value is nested too deeply")
	}
	switch v := raw.(type) {
	case nil, bool, int:
		return v, nil
	case time.Duration:
		if depth > 0 { // JSON has no durations
			return v.String(), nil
		}
		return v, nil
	case json.Number:
		return number(v)
	}
	v := reflect.ValueOf(raw)
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		return canonicalList(v, depth)
	case reflect.Map:
		return canonicalMap(v, depth)
	default:
		return canonicalScalar(v, depth)
	}
}

func canonicalScalar(v reflect.Value, depth int) (any, error) {
	switch {
	case v.Kind() == reflect.Bool:
		return v.Bool(), nil
	case v.Kind() == reflect.String:
		if depth > 0 && !utf8.ValidString(v.String()) {
			return nil, want("text in UTF-8")
		}
		return v.String(), nil
	case v.CanInt() && int64(int(v.Int())) == v.Int():
		return int(v.Int()), nil
	case v.CanUint() && v.Uint() <= math.MaxInt:
		return int(v.Uint()), nil
	case v.CanFloat():
		return canonicalFloat(v.Float(), depth)
	}
	return nil, fmt.Errorf("a value of the type %s cannot be a setting", v.Type())
}

// canonicalFloat leaves a number that is a whole value to the coercion, which
// knows what to say about a bad one.
func canonicalFloat(f float64, depth int) (any, error) {
	if depth == 0 {
		return f, nil
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, want("finite numbers")
	}
	if n, ok := whole(f); ok {
		return int(n), nil
	}
	return f, nil
}

// whole returns f as an integer if it is one.
func whole(f float64) (int64, bool) {
	if f != math.Trunc(f) || math.Abs(f) >= 1<<63 { // false for NaN and Inf too
		return 0, false
	}
	return int64(f), true
}

func number(n json.Number) (any, error) {
	if i, err := n.Int64(); err == nil {
		return int(i), nil
	}
	f, err := n.Float64()
	if err != nil {
		return nil, want("numbers that fit into 64 bits")
	}
	return canonicalFloat(f, 1)
}

func canonicalList(v reflect.Value, depth int) (any, error) {
	out := make([]any, v.Len())
	for i := range out {
		e, err := canonicalAt(v.Index(i).Interface(), depth+1)
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	return out, nil
}

func canonicalMap(v reflect.Value, depth int) (any, error) {
	out := make(map[string]any, v.Len())
	for iter := v.MapRange(); iter.Next(); {
		key := fmt.Sprint(iter.Key().Interface()) // YAML has numbers as keys too
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("the key %q is there twice", key)
		}
		if !utf8.ValidString(key) {
			return nil, want("text in UTF-8")
		}
		e, err := canonicalAt(iter.Value().Interface(), depth+1)
		if err != nil {
			return nil, err
		}
		out[key] = e
	}
	return out, nil
}
