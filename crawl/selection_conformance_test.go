package crawl_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/conformance"
)

type parselStep struct {
	Method, Function, Attribute string
	Each                        bool
	Index                       *int
	Args                        []any
	Kwargs                      map[string]any
}

// parselRun takes the steps of a case of parsel that there are here too.
type parselRun struct {
	at    crawl.Selection
	value any // of the last step
}

// step reports whether the step is known here.
func (p *parselRun) step(r *crawl.Response, st parselStep, first bool) bool {
	switch {
	case st.Index != nil:
		return p.index(*st.Index)
	case st.Function == "len":
		p.value = float64(p.at.Len())
	case st.Method == "css" || st.Method == "xpath" || st.Method == "re" || st.Method == "re_first":
		arg, ok := st.Args[0].(string)
		return ok && onlyPrefixes(st.Kwargs) && p.search(r, st.Method, arg, first)
	case st.Kwargs["default"] != nil:
		p.value = p.at.GetOr(st.Kwargs["default"].(string))
	case slices.Contains([]string{"getall", "get", "extract", "extract_first"}, st.Method):
		p.value = p.at.All()
	default:
		return st.Each
	}
	return true
}

func (p *parselRun) search(r *crawl.Response, method, arg string, first bool) bool {
	switch {
	case method == "css" && first:
		p.at = r.CSS(arg)
	case method == "css":
		p.at = p.at.CSS(arg)
	case method == "xpath":
		p.at = p.at.XPath(arg)
	case method == "re":
		p.value = p.at.Re(arg)
	case method == "re_first":
		p.value = p.at.ReFirst(arg)
	}
	return true
}

// index takes one of several, of the values if there are already.
func (p *parselRun) index(i int) bool {
	if p.value == nil && i < p.at.Len() {
		p.at = p.at.At(i)
		return true
	}
	all, _ := p.value.([]string)
	if i < len(all) {
		p.value = all[i]
	}
	return i < len(all)
}

// onlyPrefixes reports whether a step has no variables: prefixes are those of the
// document here.
func onlyPrefixes(kwargs map[string]any) bool {
	return len(kwargs) == 0 || len(kwargs) == 1 && kwargs["namespaces"] != nil
}

// as shapes the value as the case expects it: one string or all of them.
func (p *parselRun) as(want any) any {
	all, ok := p.value.([]string)
	switch want := want.(type) {
	case string:
		if ok && len(all) > 0 {
			return all[0]
		}
	case []any:
		got := []any{}
		for _, s := range all {
			got = append(got, s)
		}
		return got
	case nil:
		if ok && len(all) == 0 || p.value == "" {
			return want
		}
	}
	return p.value
}

type parselCase struct {
	Document, Error string
	DocType         *string `json:"doc_type"`
	Steps           []parselStep
	Expected        any
}

// response returns the page of a case, nil for those of JSON.
func (c parselCase) response() *crawl.Response {
	r := htmlPage("http://example.com/", c.Document)
	switch {
	case c.DocType == nil || *c.DocType == "html":
	case *c.DocType == "xml":
		r.Header.Set("Content-Type", "text/xml")
	default:
		return nil
	}
	return r
}

// run returns what a case gives; ok is false if it takes steps that do not exist
// here.
func (c parselCase) run() (got any, ok bool) {
	r := c.response()
	if r == nil {
		return nil, false
	}
	p := parselRun{at: r.XPath("/*")} // as parsel's Selector
	for i, st := range c.Steps {
		if !p.step(r, st, i == 0) {
			return nil, false
		}
	}
	if c.Error != "" {
		return r.SelectorErr() != nil, true
	}
	return p.as(c.Expected), p.value != nil
}

func TestParselConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, "selectors/parsel_selector", func(r *conformance.Row, c parselCase) {
		got, ok := c.run()
		if !ok {
			r.Skip("steps of Python")
		}
		if c.Error != "" {
			c.Expected = true
		}
		if !reflect.DeepEqual(got, c.Expected) {
			r.Errorf("got %.200q, want %.200q", got, c.Expected)
		}
	})
}

// TestCSSSelectConformance runs cssselect's cases on its document.
func TestCSSSelectConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, "selectors/css_select", func(row *conformance.Row, c struct {
		Document, Selector string
		IDs                []string `json:"expected_ids"`
		Count              *int     `json:"expected_count"`
	},
	) {
		r := htmlPage("http://example.com/", string(row.File("selectors/docs/"+c.Document)))
		got := []string{}
		for one := range r.CSS(c.Selector).Each() {
			id := one.Attr("id")
			if id == "" {
				id = "nil"
			}
			got = append(got, id)
		}
		if c.Count != nil {
			row.Equal(len(got), *c.Count)
			return
		}
		row.Equal(got, c.IDs)
	})
}
