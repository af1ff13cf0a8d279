package crawl

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/encoding"

	"github.com/skeincrawl/skein/internal/weburl"
)

// A Form says which form of a page to send, and with which values. The zero
// value is the first form, as a reader sends it who changes nothing and presses
// its first button.
type Form struct {
	// Name and ID are looked for first, in this order. If no form has them, the
	// other fields choose.
	Name, ID string

	// CSS or XPath finds the form, or something inside of it. Only one may be set.
	CSS, XPath string

	// Number counts the forms of the page from 0. It is used if no other field
	// found one.
	Number int

	// Values replace those of the page, or are sent in addition. A name with an
	// empty list is not sent at all.
	Values url.Values

	// Click chooses the button that is pressed by its attributes, such as
	// {"name": "delete"}. Exactly one button must have them all.
	Click map[string]string

	// Button chooses the button by its number, counted from 0.
	Button int

	// NoClick sends the form without any button.
	NoClick bool

	// Method replaces that of the form.
	Method string

	// URL replaces the action of the form. It may be relative to the page.
	URL string
}

// FormFrom returns the request that sends a form of the page, as a browser does:
// with its hidden fields, what is checked and selected, and the button that is
// pressed, in the encoding of the page. Fields that are disabled or have no name
// are not sent. A form that asks for multipart/form-data is sent urlencoded, too.
// The error tells that there is no such form or button, or that the form has no
// usable address.
func FormFrom(r *Response, f Form) (*Request, error) {
	form, err := f.find(r)
	if err != nil {
		return nil, fmt.Errorf("form of %v: %w", r, err)
	}
	controls := controlsOf(r.root(), form)
	button, err := f.button(controls)
	if err != nil {
		return nil, fmt.Errorf("form of %v: %w", r, err)
	}
	address, err := f.address(r, form, button)
	if err != nil {
		return nil, fmt.Errorf("form of %v: %w", r, err)
	}
	body := encodeFields(f.fields(controls, button), r.formEncoding(form))
	if method := f.method(form, button); method != http.MethodGet {
		return &Request{URL: address, Method: method, Body: []byte(body), Header: http.Header{"Content-Type": {formType}}}, nil
	}
	address, _, _ = strings.Cut(address, "?")
	if body != "" {
		address += "?" + body
	}
	return &Request{URL: address}, nil
}

// find returns the form, chosen in the order of Scrapy's from_response.
func (f Form) find(r *Response) (*html.Node, error) {
	if f.CSS != "" && f.XPath != "" {
		return nil, errors.New("CSS and XPath exclude each other")
	}
	var forms []*html.Node
	for n := range r.root().Descendants() {
		if n.DataAtom == atom.Form && n.Type == html.ElementNode {
			forms = append(forms, n)
		}
	}
	if len(forms) == 0 {
		return nil, errors.New("there is none")
	}
	if n := formNamed(forms, "name", f.Name); n != nil {
		return n, nil
	}
	if n := formNamed(forms, "id", f.ID); n != nil {
		return n, nil
	}
	if f.CSS != "" || f.XPath != "" {
		return f.around(r)
	}
	if f.Number < 0 || f.Number >= len(forms) {
		return nil, fmt.Errorf("there is none of number %d, there are %d", f.Number, len(forms))
	}
	return forms[f.Number], nil
}

func formNamed(forms []*html.Node, attr, value string) *html.Node {
	for _, n := range forms {
		if v, _ := attrOf(n, attr); value != "" && v == value {
			return n
		}
	}
	return nil
}

// around returns the form that the selector finds, or that is around what it
// finds.
func (f Form) around(r *Response) (*html.Node, error) {
	find, err := r.CSS, CompileCSS(cmp.Or(f.CSS, "*"))
	if f.XPath != "" {
		find, err = r.XPath, CompileXPath(f.XPath)
	}
	if err != nil {
		return nil, err
	}
	selector := cmp.Or(f.CSS, f.XPath)
	if nodes := find(selector).nodes; len(nodes) > 0 {
		for n := nodes[0]; n != nil; n = n.Parent {
			if n.DataAtom == atom.Form {
				return n, nil
			}
		}
	}
	return nil, fmt.Errorf("there is none at %q", selector)
}

// method returns how the form is sent; one that is none of HTML's is a GET.
func (f Form) method(form, button *html.Node) string {
	if f.Method != "" {
		return strings.ToUpper(f.Method)
	}
	m, _ := attrOf(form, "method")
	if button != nil {
		if own, ok := attrOf(button, "formmethod"); ok {
			m = own
		}
	}
	if strings.EqualFold(m, http.MethodPost) {
		return http.MethodPost
	}
	return http.MethodGet
}

// address returns where the form is sent. Without an action that is the page
// itself, whatever its base element says (HTML standard, section 4.10.21.3).
func (f Form) address(r *Response, form, button *html.Node) (string, error) {
	action, _ := attrOf(form, "action")
	if button != nil {
		if own, ok := attrOf(button, "formaction"); ok {
			action = own
		}
	}
	if f.URL != "" {
		action = f.URL
	}
	resolve := r.Join
	if strings.TrimSpace(action) == "" {
		action, resolve = r.URL, func(u string) (string, error) { return weburl.Resolve("", u) }
	}
	u, err := resolve(action)
	if err != nil {
		return "", err
	}
	if !isHTTP(u) {
		return "", fmt.Errorf("its address %q is none of the web", u)
	}
	u, _, _ = strings.Cut(u, "#")
	return u, nil
}

// formEncoding returns the encoding that the form asks for, or that of the page;
// nil for UTF-8.
func (r *Response) formEncoding(form *html.Node) encoding.Encoding {
	accept, _ := attrOf(form, "accept-charset")
	for label := range strings.FieldsSeq(accept) {
		if enc := byLabel(label); enc != nil {
			return enc
		}
	}
	return r.page.enc
}
