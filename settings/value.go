package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Disabled is the order of a component that is switched off: None in Scrapy,
// null in JSON.
const Disabled = math.MinInt

// Origin is the layer that a value comes from. A higher one wins.
type Origin uint8

// The origins, lowest first.
const (
	FromDefault Origin = iota
	FromFile
	FromSpider
	FromEnvironment
	FromCommandLine
)

// String returns the name of the layer, such as "config file".
func (o Origin) String() string {
	names := [...]string{"default", "config file", "spider", "environment", "command line"}
	if int(o) < len(names) {
		return names[o]
	}
	return "origin " + strconv.Itoa(int(o))
}

// A Source says where a value was given.
type Source struct {
	Origin Origin
	// Note is the place as the user knows it: "crawl.yaml", "spider quotes",
	// "CRAWL_JOBDIR" or "-s JOBDIR"; empty for a default.
	Note string
}

// String returns the note, or the name of the layer if there is none.
func (s Source) String() string {
	if s.Note != "" {
		return s.Note
	}
	return s.Origin.String()
}

// A Value is the value of a setting and where it comes from.
type Value struct {
	V      any
	Source Source
	// Secret says that V is not to be shown.
	Secret bool
}

// String returns the value as [Format] writes it, or "***" for a secret that
// is set.
func (v Value) String() string { return reveal(Format(v.V), v.Secret) }

func reveal(text string, secret bool) string {
	if secret && text != "" {
		return "***"
	}
	return text
}

// Format writes a value of a setting as one line that the setting accepts:
// True, 250ms, plain bytes, lists and maps as JSON.
func Format(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case string:
		return v
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case map[string]int:
		return toJSON(orders(v))
	case []string, []int, []any, map[string]any:
		return toJSON(v)
	default: // the integers and time.Duration
		return fmt.Sprint(v)
	}
}

// orders replaces Disabled by null.
func orders(m map[string]int) map[string]any {
	out := make(map[string]any, len(m))
	for name, order := range m {
		out[name] = order
		if order == Disabled {
			out[name] = nil
		}
	}
	return out
}

func toJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // a value that no layer can produce
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// clone copies a value, so that nobody can change a snapshot.
func clone(v any) any {
	switch v := v.(type) {
	case []string:
		return slices.Clone(v)
	case []int:
		return slices.Clone(v)
	case map[string]int:
		return maps.Clone(v)
	case map[string]any:
		return cloneMap(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = clone(e)
		}
		return out
	default:
		return v
	}
}

func cloneMap(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, e := range m {
		out[k] = clone(e)
	}
	return out
}
