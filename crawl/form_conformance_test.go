package crawl_test

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/conformance"
)

// formOptions are the arguments of Scrapy's from_response.
type formOptions struct {
	FormData   any
	FormName   string
	FormID     string
	FormCSS    string
	FormXPath  string
	FormNumber int
	ClickData  map[string]any
	DontClick  bool `json:"dont_click"`
	Method     string
	URL        string
}

// form translates the arguments; ok is false for values that are no form's.
func (o formOptions) form() (f crawl.Form, ok bool) {
	f = crawl.Form{
		Name: o.FormName, ID: o.FormID, CSS: o.FormCSS, XPath: o.FormXPath, Number: o.FormNumber,
		NoClick: o.DontClick, Method: o.Method, URL: o.URL, Values: url.Values{},
	}
	for k, v := range o.ClickData {
		if k == "nr" {
			f.Button = int(v.(float64))
			continue
		}
		if f.Click == nil {
			f.Click = map[string]string{}
		}
		f.Click[k] = v.(string)
	}
	switch data := o.FormData.(type) {
	case nil:
		return f, true
	case map[string]any:
		for k, v := range data {
			addFormValue(f.Values, k, v)
		}
		return f, true
	case []any:
		for _, pair := range data {
			kv, ok := pair.([]any)
			if !ok {
				return f, false
			}
			addFormValue(f.Values, kv[0].(string), kv[1])
		}
		return f, true
	}
	return f, false
}

func addFormValue(values url.Values, k string, v any) {
	if list, ok := v.([]any); ok {
		for _, one := range list {
			values.Add(k, one.(string))
		}
		return
	}
	values.Add(k, v.(string))
}

type formExpected struct {
	Raises, Method, URL string
	Fields              url.Values
	AllFields           url.Values `json:"all_fields"`
	Absent              []string   `json:"fields_absent"`
	Present             []string   `json:"fields_present"`
	Names               []string   `json:"field_names"`
}

// sentFields returns what a request of a form sends.
func sentFields(t testing.TB, r *crawl.Request) url.Values {
	t.Helper()
	raw := string(r.Body)
	if r.Verb() == "GET" {
		_, raw, _ = strings.Cut(r.URL, "?")
	}
	v, err := url.ParseQuery(raw)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// holds reports whether a request is as a case expects.
func (e formExpected) holds(t testing.TB, r *crawl.Request) bool {
	t.Helper()
	got := sentFields(t, r)
	names := slices.Sorted(maps.Keys(got))
	address, _, _ := strings.Cut(r.URL, "?")
	ok := (e.Method == "" || r.Verb() == e.Method) && (e.URL == "" || address == e.URL) &&
		(e.Names == nil || slices.Equal(names, e.Names)) && (e.AllFields == nil || maps.EqualFunc(got, e.AllFields, slices.Equal))
	for k, v := range e.Fields {
		ok = ok && slices.Equal(got[k], v)
	}
	for _, k := range e.Absent {
		ok = ok && !got.Has(k)
	}
	for _, k := range e.Present {
		ok = ok && got.Has(k)
	}
	return ok
}

// TestFormConformance runs Scrapy's cases of from_response (FM-03 to FM-10).
func TestFormConformance(t *testing.T) {
	conformance.Run(t, "forms/form_request", func(row *conformance.Row, c struct {
		URL      string `json:"response_url"`
		Body     string
		Options  formOptions
		Expected formExpected
	},
	) {
		f, ok := c.Options.form()
		if !ok { // the compiler refuses such values
			row.Equal(c.Expected.Raises != "", true)
			return
		}
		page := htmlPage(c.URL, c.Body)
		page.Header.Set("Content-Type", "text/html; charset=utf-8")
		r, err := crawl.FormFrom(page, f)
		if (err != nil) != (c.Expected.Raises != "") {
			row.Errorf("error %v, want %q", err, c.Expected.Raises)
		}
		if err == nil && !c.Expected.holds(row, r) {
			row.Errorf("got %v %s, want %+v", r, r.Body, c.Expected)
		}
	})
}
