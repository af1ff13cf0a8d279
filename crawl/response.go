package crawl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/text/encoding"

	"github.com/skeincrawl/skein/internal/weburl"
)

// A Response is what came back for a request. Its fields must not be changed
// once the callback has it. Its methods are safe for concurrent use; the page is
// parsed once, when it is first needed.
type Response struct {
	Request *Request
	URL     string // without fragment; differs from the request's after redirects
	Status  int
	Header  http.Header
	Body    []byte // decoded from its Content-Encoding
	Flags   []string
	Proto   string        // such as HTTP/1.1
	Latency time.Duration // from the first byte sent to the headers received

	page page
}

// page is what is derived from the body.
type page struct {
	text sync.Once
	utf8 []byte
	enc  encoding.Encoding // nil: UTF-8

	parse  sync.Once
	root   *html.Node
	doc    *goquery.Document
	parsed atomic.Bool

	join sync.Once
	base weburl.Base
	err  error // why the URL can be no base

	mu       sync.Mutex
	selector error
}

// ContentType returns the media type of the response in lower case, without
// parameters; "" if it says none.
func (r *Response) ContentType() string {
	v := r.Header.Get("Content-Type")
	t, _, err := mime.ParseMediaType(v)
	if err != nil {
		t, _, _ = strings.Cut(v, ";")
		t = strings.ToLower(strings.TrimSpace(t))
	}
	return t
}

// IsHTML reports whether the response is an HTML page by its media type, or, if
// it says none, by the beginning of its body.
func (r *Response) IsHTML() bool {
	switch r.ContentType() {
	case "text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml":
		return true
	case "":
		return strings.HasPrefix(http.DetectContentType(r.Body), "text/html")
	}
	return false
}

// isText reports whether the body can be searched for markup.
func (r *Response) isText() bool {
	t := r.ContentType()
	return strings.HasPrefix(t, "text/") || strings.Contains(t, "xml") || strings.Contains(t, "json") ||
		t == "" && strings.HasPrefix(http.DetectContentType(r.Body), "text/")
}

// Text returns the body as text, without a byte order mark and always valid
// UTF-8. It is decoded by its byte order mark, the charset of its Content-Type,
// or the one that the page declares in its first 4,096 bytes (HTML standard); a
// body without any is UTF-8 if it is valid as such, else what it looks like by its
// letters, and windows-1252 if that does not show.
func (r *Response) Text() string { return string(r.decoded()) }

// JSON decodes the body into v, which is a pointer. A body that is valid UTF-8 is
// taken as such, whatever its charset says (RFC 8259 §8.1).
func (r *Response) JSON(v any) error {
	body := bytes.TrimPrefix(r.Body, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(body) || bytes.IndexByte(body, 0) >= 0 { // NUL: UTF-16
		body = r.decoded()
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("decode %s as JSON: %w", r.URL, err)
	}
	return nil
}

// Doc returns the page as a goquery document. For a response that is not text
// the document is empty. Of a page nested deeper than 512 elements, the deepest
// elements are missing, but not what they contain.
func (r *Response) Doc() *goquery.Document {
	r.root()
	return r.page.doc
}

// root returns the parsed page. This is the only place that has one parsed.
func (r *Response) root() *html.Node {
	r.page.parse.Do(func() {
		r.page.root = &html.Node{Type: html.DocumentNode}
		if r.isText() {
			root, err := r.parse()
			if err == nil {
				r.page.root = root
			} else {
				r.noteSelector(fmt.Errorf("parse %s: %w", r.URL, err))
			}
		}
		r.page.doc = goquery.NewDocumentFromNode(r.page.root)
		r.page.parsed.Store(true)
	})
	return r.page.root
}

func (r *Response) noteSelector(err error) {
	r.page.mu.Lock()
	defer r.page.mu.Unlock()
	if r.page.selector == nil {
		r.page.selector = err
	}
}

// SelectorErr returns the first invalid selector that was used on the response,
// or why the page could not be parsed. After a callback it is reported as its
// error.
func (r *Response) SelectorErr() error {
	r.page.mu.Lock()
	defer r.page.mu.Unlock()
	return r.page.selector
}

// forgetSelectorErr makes the response good for another callback.
func (r *Response) forgetSelectorErr() {
	r.page.mu.Lock()
	defer r.page.mu.Unlock()
	r.page.selector = nil
}

// String returns the response as Scrapy logs it: <200 https://example.com/>.
func (r *Response) String() string { return fmt.Sprintf("<%d %s>", r.Status, r.URL) }
