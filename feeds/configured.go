package feeds

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/skeincrawl/skein/settings"
)

// FormFromSettings returns the form that FEED_EXPORT_FIELDS, FEED_EXPORT_INDENT
// and FEED_STORE_EMPTY give to all feeds.
func FormFromSettings(s *settings.Settings) (Form, error) {
	form := Form{SkipEmpty: !s.Bool("FEED_STORE_EMPTY")}
	var err error
	if form.Fields, err = ParseFields(s.Strings("FEED_EXPORT_FIELDS")); err != nil {
		return form, blame(s, "FEED_EXPORT_FIELDS", err)
	}
	if form.Indent, err = parseIndent(s.String("FEED_EXPORT_INDENT")); err != nil {
		return form, blame(s, "FEED_EXPORT_INDENT", err)
	}
	return form, nil
}

// FromSettings returns the feeds of the setting FEEDS, in the order of their
// names, each with its own form. All that is wrong is returned at once.
func FromSettings(s *settings.Settings) ([]Target, error) {
	form, err := FormFromSettings(s)
	if err != nil {
		return nil, err
	}
	var targets []Target
	var errs []error
	feeds := s.Map("FEEDS")
	for _, uri := range slices.Sorted(maps.Keys(feeds)) {
		t, err := configured(uri, feeds[uri], form)
		if err != nil {
			errs = append(errs, blame(s, "FEEDS", &TargetError{Target: uri, Err: err}))
			continue
		}
		targets = append(targets, t)
	}
	return targets, errors.Join(errs...)
}

// blame says which setting is wrong and where it was given.
func blame(s *settings.Settings, name string, err error) error {
	v, _ := s.Lookup(name)
	return fmt.Errorf("%s (%s): %w", name, v.Source, err)
}

func configured(uri string, options any, form Form) (Target, error) {
	m, ok := options.(map[string]any)
	if !ok && options != nil {
		return Target{}, errors.New(`its options are no JSON object such as {"format": "csv"}`)
	}
	t := Target{URI: uri, Form: &form}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if err := t.option(name, m[name]); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return t, err
	}
	t, err := t.complete()
	if err != nil {
		return t, err
	}
	if _, err := Exporters.Lookup(t.Format); err != nil {
		return t, err
	}
	if _, asked := m["indent"]; asked && t.Format != "json" {
		return t, fmt.Errorf("the format %s has no indent", t.Format)
	}
	return t, nil
}

// optionNames are the options of a feed.
func optionNames() []string {
	return []string{"encoding", "fields", "format", "indent", "overwrite", "store_empty"}
}

// option sets one option of a feed. Form belongs to this feed alone.
func (t *Target) option(name string, v any) (err error) {
	switch name {
	case "format":
		t.Format, err = textOf(v)
		t.Format = strings.ToLower(t.Format)
	case "overwrite":
		t.Overwrite, err = boolOf(v)
	case "store_empty":
		var store bool
		store, err = boolOf(v)
		t.Form.SkipEmpty = !store
	case "indent":
		t.Form.Indent, err = indentOf(v)
	case "fields":
		t.Form.Fields, err = fieldsOf(v)
	case "encoding":
		if text, _ := v.(string); !strings.EqualFold(text, "utf-8") && !strings.EqualFold(text, "utf8") {
			err = fmt.Errorf("want utf-8, which is the only encoding of feeds, not %v", settings.Format(v))
		}
	default:
		err = unknownOption(name)
	}
	return err
}

func unknownOption(name string) error {
	hint := ""
	if near := settings.Nearest(name, slices.Values(optionNames())); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", near)
	}
	return fmt.Errorf("feeds have no such option here: there are %s%s", strings.Join(optionNames(), ", "), hint)
}

func textOf(v any) (string, error) {
	text, ok := v.(string)
	if !ok || text == "" {
		return "", fmt.Errorf("want text, not %s", settings.Format(v))
	}
	return text, nil
}

func boolOf(v any) (bool, error) {
	on, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("want true or false, not %s", settings.Format(v))
	}
	return on, nil
}

// indentOf reads an indent as Scrapy has it: None is the compact form, zero and
// less is one item a line.
func indentOf(v any) (int, error) {
	switch v := v.(type) {
	case nil:
		return Compact, nil
	case int:
		return parseIndent(strconv.Itoa(v))
	}
	return 0, errIndent
}

// maxIndent is more than anybody can want.
const maxIndent = 8

var errIndent = fmt.Errorf("want a number of spaces, at most %d, or null for a feed without line feeds", maxIndent)

func parseIndent(text string) (int, error) {
	if text == "" {
		return Compact, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n > maxIndent {
		return 0, errIndent
	}
	return max(n, 0), nil
}

// fieldsOf reads a list of fields. An object would have no order here.
func fieldsOf(v any) ([]Field, error) {
	var list []string
	switch v := v.(type) {
	case nil:
	case []any:
		for _, e := range v {
			text, err := textOf(e)
			if err != nil {
				return nil, err
			}
			list = append(list, text)
		}
	case string:
		for name := range strings.SplitSeq(v, ",") {
			list = append(list, strings.TrimSpace(name))
		}
	default:
		return nil, errors.New(`want a list of fields, such as ["title", "price=Price in EUR"]: it keeps their order, as an object does not`)
	}
	return ParseFields(list)
}
