package crawl_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

type parselStep struct {
	Method    string
	Attribute string
	Each      bool
	Args      []any
}

// run takes the steps of a case of parsel that there are here too; ok is false
// if there are others.
func runParsel(r *crawl.Response, steps []parselStep) (got any, ok bool) {
	s := r.CSS("html") // as parsel's Selector, it stands for the root element
	for i, step := range steps {
		last := i == len(steps)-1
		switch {
		case step.Method == "css" && len(step.Args) == 1:
			sel, isString := step.Args[0].(string)
			if !isString {
				return nil, false
			}
			if s = s.CSS(sel); i == 0 {
				s = r.CSS(sel)
			}
		case last && i > 0 && slices.Contains([]string{"getall", "extract"}, step.Method) && len(step.Args) == 0:
			return s.All(), true
		case last && i > 0 && slices.Contains([]string{"get", "extract_first"}, step.Method) && len(step.Args) == 0:
			return s.Get(), true
		default:
			return nil, false
		}
	}
	return nil, false
}

func TestParselConformance(t *testing.T) {
	t.Parallel()
	var count tally
	for _, c := range cases[struct {
		ID       string
		Document string
		DocType  *string `json:"doc_type"`
		Steps    []parselStep
		Expected json.RawMessage
		Bytes    bool `json:"document_is_bytes"`
	}](t, "selectors/parsel_selector.jsonl") {
		if c.DocType != nil && *c.DocType != "html" {
			continue
		}
		got, ok := runParsel(htmlPage("http://example.com/", c.Document), c.Steps)
		if !ok {
			continue
		}
		want := reflect.New(reflect.TypeOf(got))
		if err := json.Unmarshal(c.Expected, want.Interface()); err != nil {
			continue // of another kind: an error of Python
		}
		count.row(t, c.ID, got, want.Elem().Interface(), reflect.DeepEqual(got, want.Elem().Interface()))
	}
	count.floor(t, "parsel_selector", map[string]string{
		"selectors/parsel_selector/05597e848f9f": "the case removes an element first",
		"selectors/parsel_selector/6810e8727490": "void elements are written with a slash",
		"selectors/parsel_selector/2145145cbd14": "void elements are written with a slash",
	})
}

// TestCSSSelectConformance runs cssselect's cases on its document.
func TestCSSSelectConformance(t *testing.T) {
	t.Parallel()
	var count tally
	for _, c := range cases[struct {
		ID, Document, Mode, Selector string
		IDs                          []string `json:"expected_ids"`
		Count                        *int     `json:"expected_count"`
	}](t, "selectors/css_select.jsonl") {
		r := htmlPage("http://example.com/", string(conformance(t, "selectors/docs/"+c.Document)))
		var got []string
		for one := range r.CSS(c.Selector).Each() {
			id := one.Attr("id")
			if id == "" {
				id = "nil"
			}
			got = append(got, id)
		}
		if c.Count != nil {
			count.row(t, c.ID, len(got), *c.Count, len(got) == *c.Count)
			continue
		}
		count.row(t, c.ID, got, c.IDs, slices.Equal(got, c.IDs))
	}
	count.floor(t, "css_select", map[string]string{
		"selectors/css_select/fe743ce75494": "cascadia finds an empty string in an attribute",
		"selectors/css_select/be0b9cc4b7b4": "cascadia finds an empty string in an attribute",
		"selectors/css_select/f0e3d9b8b1f7": "cascadia takes no string for a language",
		"selectors/css_select/f29e4726de8a": "cascadia has no :scope",
		"selectors/css_select/0820e1c1623e": "cascadia has no :scope",
		"selectors/css_select/83359850945a": "cascadia has no :scope",
		"selectors/css_select/671bd9bd0a2e": "the document is XML: HTML has another tree",
		"selectors/css_select/3f560005015f": "cascadia takes a comment for nothing, as Selectors 4",
		"selectors/css_select/c0a441d329b2": "the document is XML: HTML has another tree",
		"selectors/css_select/fc62a46385c8": "the document is XML: HTML has another tree",
		"selectors/css_select/c833b1fcd487": "cascadia has no :is()",
		"selectors/css_select/f21d5af6b4ac": "the document is XML: HTML has another tree",
		"selectors/css_select/ef7cfa39b8c8": "html, head and body are in every HTML page",
		"selectors/css_select/cab7b761e3af": "cascadia's :contains() ignores case",
	})
}
