package settings

import (
	"slices"
	"testing"
)

// FE-05 to FE-07: how FEED_EXPORT_FIELDS may be written.
func TestTitles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw  any
		want []string
	}{
		"FE-05 None":           {"None", []string{}},
		"FE-05 empty list":     {[]string{}, []string{}},
		"FE-06 list":           {[]string{"foo", "baz"}, []string{"foo", "baz"}},
		"FE-06 text":           {"foo, baz", []string{"foo", "baz"}},
		"FE-06 JSON list":      {`["foo", "baz=Baz, or so"]`, []string{"foo", "baz=Baz, or so"}},
		"FE-07 JSON object":    {` {"baz": "Baz, or so", "foo": "Foo"} `, []string{"baz=Baz, or so", "foo=Foo"}},
		"an empty object":      {"{}", []string{}},
		"one entry in a file":  {map[string]any{"foo": "Foo"}, []string{"foo=Foo"}},
		"more, without order":  {map[string]any{"foo": "Foo", "bar": "Bar"}, nil},
		"a title that is none": {`{"foo": 1}`, nil},
		"none in a file":       {map[string]any{"foo": 1}, nil},
		"no end":               {`{"foo": "Foo"`, nil},
		"text behind it":       {`{"foo": "Foo"} x`, nil},
		"a number":             {5, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, err := New().Spider("x", map[string]any{"FEED_EXPORT_FIELDS": c.raw}).Build()
			if c.want == nil {
				if err == nil {
					t.Errorf("accepted as %q", s.Strings("FEED_EXPORT_FIELDS"))
				}
				return
			}
			if err != nil || !slices.Equal(s.Strings("FEED_EXPORT_FIELDS"), c.want) {
				t.Errorf("got %v, %v, want %q", s, err, c.want)
			}
		})
	}
}

func TestIndent(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{"None": true, "0": true, "-1": true, "4": true, "8": true, "9": false, "two": false, "1.5": false} {
		if _, _, err := New().Assign("FEED_EXPORT_INDENT=" + text).Build(); (err == nil) != good {
			t.Errorf("%s: error %v, want good %v", text, err, good)
		}
	}
}
