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
	ID, Document, Error string
	DocType             *string `json:"doc_type"`
	Steps               []parselStep
	Expected            any
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
	var count tally
	for _, c := range cases[parselCase](t, "selectors/parsel_selector.jsonl") {
		got, ok := c.run()
		if !ok {
			t.Logf("%s: has steps of Python only", c.ID)
			continue
		}
		if c.Error != "" {
			c.Expected = true
		}
		count.row(t, c.ID, got, c.Expected, reflect.DeepEqual(got, c.Expected))
	}
	const (
		removes  = "the case removes something first"
		slash    = "void elements are written with a slash"
		head     = "every HTML page has a head"
		prefixes = "prefixes are those of the document; none is registered or unknown"
		byName   = "a name without prefix is that of the default namespace, too"
		axis     = "there is no namespace axis"
	)
	count.floor(t, "parsel_selector", map[string]string{
		"selectors/parsel_selector/80fb9aab2445": slash,
		"selectors/parsel_selector/6810e8727490": slash,
		"selectors/parsel_selector/2145145cbd14": slash,
		"selectors/parsel_selector/6d32f66d7b56": "the encoding that the case passes is not in it",
		"selectors/parsel_selector/a1fd475451d6": "the case makes links absolute first",
		"selectors/parsel_selector/53d44f882f88": prefixes,
		"selectors/parsel_selector/467aca50e0c0": prefixes,
		"selectors/parsel_selector/ece9dc35059f": prefixes,
		"selectors/parsel_selector/87ebdcee2b72": prefixes,
		"selectors/parsel_selector/5e21b510f5fa": prefixes,
		"selectors/parsel_selector/e8f8914e916c": axis,
		"selectors/parsel_selector/1406ed97bc1e": axis,
		"selectors/parsel_selector/1d56005c1a7c": axis + ", and prefixes are those of the document",
		"selectors/parsel_selector/ff6109f0d122": byName,
		"selectors/parsel_selector/53b0b07a9246": removes,
		"selectors/parsel_selector/05597e848f9f": removes,
		"selectors/parsel_selector/efa670f6adc1": removes + "; " + head,
		"selectors/parsel_selector/1d87439c9291": removes,
		"selectors/parsel_selector/117ed7a5f3fe": head,
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
		r := htmlPage("http://example.com/", string(conformance.File(t, "selectors/docs/"+c.Document)))
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
