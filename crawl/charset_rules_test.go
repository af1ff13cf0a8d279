package crawl

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/skeincrawl/skein/internal/conformance"
)

// pythonNames are the encodings that Python calls otherwise than the WHATWG.
var pythonNames = map[string]string{
	"cp1252": "windows-1252", "cp1251": "windows-1251", "ascii": "windows-1252", "big5hkscs": "big5", "iso8859-4": "iso-8859-4",
	"utf-16-be": "utf-16be", "utf-16-le": "utf-16le",
}

// byPython returns the encoding of Python's name of it, as it is read.
func byPython(name string) encoding.Encoding {
	if to, ok := pythonNames[name]; ok {
		name = to
	}
	return read(byLabel(name))
}

// read is the encoding as which one is read.
func read(enc encoding.Encoding) encoding.Encoding {
	if enc == simplifiedchinese.GBK {
		return simplifiedchinese.GB18030
	}
	return enc
}

// A declaration is a case of w3lib: what a header, a page or a label says, and
// what is read by it.
type declaration struct {
	Fn, Header, Label, Encoding string
	Body                        []byte  `json:"body_b64"`
	ContentType                 *string `json:"content_type"`
	Expected                    *string
	Name                        string   `json:"expected_encoding"`
	Text                        *string  `json:"expected_text"`
	AnyText                     []string `json:"expected_text_any"`
}

// TestW3libCharsetConformance runs w3lib's cases of finding and reading encodings.
func TestW3libCharsetConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, "charset/w3lib_encoding", func(r *conformance.Row, c declaration) {
		switch c.Fn {
		case "html_body_declared_encoding":
			c.wantEncoding(r, declaredEncoding(c.Body[:min(len(c.Body), prescanBytes)]))
		case "http_content_type_encoding":
			c.wantEncoding(r, byLabel(transportCharset(withoutName(c.Header))))
		case "resolve_encoding":
			c.wantEncoding(r, byLabel(c.Label))
		case "decode":
			enc := byLabel(c.Encoding)
			if enc == nil {
				r.Fatalf("no encoding %q", c.Encoding)
			}
			c.wantText(r, string(toUTF8(c.Body, enc)))
		case "html_to_unicode":
			page := &Response{Header: http.Header{}, Body: c.Body}
			if c.ContentType != nil {
				page.Header.Set("Content-Type", withoutName(*c.ContentType))
			}
			c.wantText(r, page.Text())
		default:
			r.Skipf("function %s", c.Fn)
		}
	})
}

// withoutName cuts the name of the header off a line of it.
func withoutName(line string) string {
	return strings.TrimSpace(strings.TrimPrefix(line, "Content-Type:"))
}

func (c *declaration) wantEncoding(r *conformance.Row, got encoding.Encoding) {
	r.Helper()
	var want encoding.Encoding
	if c.Expected != nil {
		want = byPython(*c.Expected)
	}
	if read(got) != want {
		r.Errorf("got %v, want %v", got, want)
	}
}

// wantText compares a text with those that a case accepts, or with the body in
// the encoding that it names.
func (c *declaration) wantText(r *conformance.Row, got string) {
	r.Helper()
	want := c.AnyText
	switch {
	case c.Text != nil:
		want = []string{*c.Text}
	case want == nil:
		want = []string{string(toUTF8(c.Body, byPython(c.Name)))}
	}
	if !slices.Contains(want, got) {
		r.Errorf("got %q, want one of %q", got, want)
	}
}

// A typed is a case of Scrapy's choice of a class of responses.
type typed struct {
	Fn     string
	Args   []json.RawMessage
	Kwargs struct {
		URL     string
		Headers http.Header
	}
	Class string `json:"expected_class"`
}

// TestResponseTypesConformance compares Scrapy's classes of responses with what a
// response is taken for.
func TestResponseTypesConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, "misc/response_types", func(r *conformance.Row, c typed) {
		page := &Response{URL: c.Kwargs.URL, Header: c.Kwargs.Headers}
		switch c.Fn {
		case "from_content_type":
			page.Header = http.Header{"Content-Type": {textOf(c.Args[0])}}
		case "from_headers":
			_ = json.Unmarshal(c.Args[0], &page.Header)
		case "from_body":
			page.Body = []byte(textOf(c.Args[0]))
		case "from_args":
		default:
			r.Skip("the names of files do not count")
		}
		r.Equal(classOf(page), c.Class)
	})
}

// textOf reads a string, or bytes in base64.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var b struct{ B64 []byte }
	_ = json.Unmarshal(raw, &b)
	return string(b.B64)
}

// classOf names the class that Scrapy has for what a response is taken for.
func classOf(r *Response) string {
	switch {
	case r.IsHTML():
		return "HtmlResponse"
	case r.isXML():
		return "XmlResponse"
	case strings.Contains(r.ContentType(), "json"):
		return "JsonResponse"
	case r.isText():
		return "TextResponse"
	}
	return "Response"
}
