package feeds_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/feeds"
	"github.com/skeincrawl/skein/settings"
)

func configure(t *testing.T, assign ...string) *settings.Settings {
	t.Helper()
	b := settings.New()
	for _, a := range assign {
		b.Assign(a)
	}
	s, _, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFormFromSettings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		assign []string
		want   feeds.Form
	}{
		{"default", nil, feeds.Form{}},
		{"FE-05", []string{"FEED_EXPORT_FIELDS=None"}, feeds.Form{}},
		{"FE-06", []string{"FEED_EXPORT_FIELDS=foo,baz"}, feeds.Form{Fields: []feeds.Field{{Name: "foo", Title: "foo"}, {Name: "baz", Title: "baz"}}}},
		{"FE-07", []string{`FEED_EXPORT_FIELDS={"baz":"Baz","foo":"a=b"}`}, feeds.Form{Fields: []feeds.Field{{Name: "baz", Title: "Baz"}, {Name: "foo", Title: "a=b"}}}},
		{"FE-08", []string{"FEED_STORE_EMPTY=False"}, feeds.Form{SkipEmpty: true}},
		{"FE-10", []string{"FEED_EXPORT_INDENT=None"}, feeds.Form{Indent: feeds.Compact}},
		{"FE-11", []string{"FEED_EXPORT_INDENT=-1"}, feeds.Form{}},
		{"FE-12", []string{"FEED_EXPORT_INDENT=4"}, feeds.Form{Indent: 4}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got, err := feeds.FormFromSettings(configure(t, tc.assign...)); err != nil || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, tc.want)
			}
		})
	}
	_, err := feeds.FormFromSettings(configure(t, "FEED_EXPORT_FIELDS=a,b,a"))
	if err == nil || !strings.Contains(err.Error(), "FEED_EXPORT_FIELDS (-s FEED_EXPORT_FIELDS): the field a is there twice") {
		t.Errorf("a field twice: %v", err)
	}
}

// FE-16: each feed obeys its own options, and the settings where it has none.
func TestFromSettings(t *testing.T) {
	t.Parallel()
	got, err := feeds.FromSettings(configure(t, "FEED_EXPORT_INDENT=2", "FEED_EXPORT_FIELDS=x", `FEEDS={
		"a/%(name)s.JSON": {"indent": null, "fields": ["foo", "bar=Bar"], "encoding": "UTF-8", "overwrite": true},
		"b": {"format": "CSV", "store_empty": false, "fields": "foo, bar"},
		"c.json": {"fields": null},
		"file:///d%20e.jl": null,
		"stdout:": {}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	x := []feeds.Field{{Name: "x", Title: "x"}}
	foo := feeds.Field{Name: "foo", Title: "foo"}
	want := []feeds.Target{
		{URI: "a/%(name)s.JSON", Path: "a/%(name)s.JSON", Format: "json", Overwrite: true, Form: &feeds.Form{Indent: feeds.Compact, Fields: []feeds.Field{foo, {Name: "bar", Title: "Bar"}}}},
		{URI: "b", Path: "b", Format: "csv", Form: &feeds.Form{Indent: 2, SkipEmpty: true, Fields: []feeds.Field{foo, {Name: "bar", Title: "bar"}}}},
		{URI: "c.json", Path: "c.json", Format: "json", Form: &feeds.Form{Indent: 2}},
		{URI: "file:///d%20e.jl", Path: "/d e.jl", Format: "jl", Form: &feeds.Form{Indent: 2, Fields: x}},
		{URI: "stdout:", Format: "jsonlines", Form: &feeds.Form{Indent: 2, Fields: x}},
	}
	if !slices.EqualFunc(got, want, func(a, b feeds.Target) bool { return reflect.DeepEqual(a, b) }) {
		t.Errorf("got  %v\nwant %v", show(got), show(want))
	}
}

func show(targets []feeds.Target) string {
	var b strings.Builder
	for _, t := range targets {
		fmt.Fprintf(&b, "%+v %+v\n", t, *t.Form)
	}
	return b.String()
}

// FE-25, FE-15 and EX-11: a storage, a format, an encoding or an option that is
// not there is an error, as is everything that would be ignored.
func TestFromSettingsRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ feeds, want string }{
		{`{"a.json": {"indnt": 2}}`, "indnt: feeds have no such option here: there are encoding, fields, format, indent, overwrite, store_empty; did you mean indent?"},
		{`{"a.json": {"batch_item_count": 2}}`, "batch_item_count: feeds have no such option here"},
		{`{"a.json": {"encoding": "latin-1"}}`, "encoding: want utf-8"},
		{`{"a.json": {"encoding": null}}`, "encoding: want utf-8"},
		{`{"a.json": {"overwrite": "yes"}}`, "overwrite: want true or false, not yes"},
		{`{"a.json": {"store_empty": 1}}`, "store_empty: want true or false, not 1"},
		{`{"a.json": {"indent": 9}}`, "indent: want a number of spaces, at most 8, or null"},
		{`{"a.json": {"indent": "two"}}`, "indent: want a number of spaces"},
		{`{"a.csv": {"indent": 2}}`, "the format csv has no indent"},
		{`{"a.json": {"fields": {"foo": "Foo", "bar": "Bar"}}}`, "fields: want a list of fields"},
		{`{"a.json": {"fields": [1]}}`, "fields: want text, not 1"},
		{`{"a.json": {"fields": ["=x"]}}`, "fields: a field has no name"},
		{`{"a.json": {"format": 1}}`, "format: want text, not 1"},
		{`{"a.json": "json"}`, "its options are no JSON object"},
		{`{"a.xml": {}}`, `there is no feed format "xml"`},
		{`{"a": {"format": "xml"}}`, `there is no feed format "xml"`},
		{`{"s3://b/a.json": {}}`, "there is no storage for s3"},
		{`{"%(batch_id)d.json": {}}`, "nothing is known to fill in for %(batch_id)d"},
	} {
		t.Run(tc.feeds, func(t *testing.T) {
			t.Parallel()
			_, err := feeds.FromSettings(configure(t, "FEEDS="+tc.feeds))
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), `FEEDS (-s FEEDS): feed "`) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	_, err := feeds.FromSettings(configure(t, `FEEDS={"a.json": {"x": 1}, "b.xml": {}}`))
	if err == nil || strings.Count(err.Error(), "FEEDS (") != 2 {
		t.Errorf("got %v, want both errors", err)
	}
}
