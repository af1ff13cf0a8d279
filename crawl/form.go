package crawl

import (
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// formType is how a form sends its values.
const formType = "application/x-www-form-urlencoded"

// NewForm returns a POST of values as a form sends them, in UTF-8 and in the
// order of their names. For a GET, put values.Encode() into the URL.
func NewForm(url string, values url.Values) *Request {
	return &Request{
		URL: url, Method: http.MethodPost, Body: []byte(values.Encode()),
		Header: http.Header{"Content-Type": {formType}},
	}
}

// A field is one name and value of a form.
type field struct{ name, value string }

// encodeFields writes fields as a form sends them. Characters that the encoding
// lacks become character references (HTML standard, section 4.10.21.8).
func encodeFields(fields []field, enc encoding.Encoding) string {
	encode := func(s string) string { return s }
	if enc != nil && asRead(enc) != unicode.UTF8 {
		e := encoding.HTMLEscapeUnsupported(enc.NewEncoder())
		encode = func(s string) string {
			b, err := e.String(s)
			if err != nil {
				return s // an encoding that can only be read
			}
			return b
		}
	}
	var b strings.Builder
	for i, f := range fields {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(encode(f.name)))
		b.WriteByte('=')
		b.WriteString(url.QueryEscape(encode(f.value)))
	}
	return b.String()
}
