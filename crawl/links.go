package crawl

import (
	"bytes"
	"iter"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/skeincrawl/skein/internal/weburl"
)

// A Link is a hyperlink of a page.
type Link struct {
	URL string // absolute, http or https
	Rel string // the rel attribute, as it is
}

// NoFollow reports whether the page asks crawlers not to follow the link.
func (l Link) NoFollow() bool {
	for w := range strings.FieldsSeq(l.Rel) {
		if strings.EqualFold(w, "nofollow") {
			return true
		}
	}
	return false
}

// Links yields the http and https links of an HTML page, those of a and area
// elements, in document order and with repetitions. References that are no
// usable URL are passed over. It works on the token stream unless the page was
// parsed already.
func (r *Response) Links() iter.Seq[Link] {
	return func(yield func(Link) bool) {
		if !r.IsHTML() {
			return
		}
		refs := tokenLinks(r.decoded())
		if r.page.parsed.Load() {
			refs = treeLinks(r.page.root)
		}
		for href, rel := range refs {
			u, err := r.Join(href)
			if err != nil || !isHTTP(u) {
				continue
			}
			if !yield(Link{URL: u, Rel: rel}) {
				return
			}
		}
	}
}

func isHTTP(u string) bool {
	return strings.HasPrefix(u, "http://") || strings.HasPrefix(u, "https://")
}

// Join resolves a reference against the page and its base element, by the URL
// Standard, in the encoding of the page. A reference that is no usable URL is an
// error.
func (r *Response) Join(ref string) (string, error) {
	r.page.join.Do(r.findBase)
	if r.page.err != nil {
		return "", r.page.err
	}
	return r.page.base.Resolve(ref)
}

func (r *Response) findBase() {
	r.page.base, r.page.err = weburl.NewBase(r.URL)
	if r.page.err != nil || !r.IsHTML() {
		return
	}
	if href := r.baseHref(); href != "" {
		if u, err := r.page.base.Resolve(href); err == nil && isHTTP(u) {
			if b, err := weburl.NewBase(u); err == nil {
				r.page.base = b
			}
		}
	}
	if r.page.enc != nil {
		r.page.base = r.page.base.InEncoding(r.page.enc)
	}
}

// baseHref returns the reference of the page's first base element that has one,
// "" if there is none. One inside noscript does not count, as in w3lib.
func (r *Response) baseHref() string {
	text := r.decoded()
	if !containsBase(text) {
		return ""
	}
	z := html.NewTokenizer(bytes.NewReader(text))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			if name, more := z.TagName(); more && string(name) == "base" {
				if href, _, ok := hrefAndRel(z); ok {
					return href
				}
			}
		}
	}
}

// containsBase reports whether there may be a base element. Most pages have
// none, and are not tokenised for it.
func containsBase(b []byte) bool {
	for {
		i := bytes.IndexByte(b, '<')
		if i < 0 || i+5 > len(b) {
			return false
		}
		b = b[i+1:]
		if bytes.EqualFold(b[:4], []byte("base")) {
			return true
		}
	}
}

// tokenLinks yields the href and rel attributes of a page's links.
func tokenLinks(text []byte) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		z := html.NewTokenizer(bytes.NewReader(text))
		for {
			switch z.Next() {
			case html.ErrorToken:
				return
			case html.StartTagToken, html.SelfClosingTagToken:
				name, more := z.TagName()
				if string(name) == "noscript" {
					z.NextIsNotRawText()
				}
				if more && (string(name) == "a" || string(name) == "area") {
					href, rel, ok := hrefAndRel(z)
					if ok && !yield(href, rel) {
						return
					}
				}
			}
		}
	}
}

// hrefAndRel reads the attributes of a tag. Of an attribute that is repeated the
// first counts (HTML standard).
func hrefAndRel(z *html.Tokenizer) (href, rel string, ok bool) {
	hasRel := false
	for more := true; more; {
		var k, v []byte
		k, v, more = z.TagAttr()
		switch string(k) {
		case "href":
			if !ok {
				href, ok = string(v), true
			}
		case "rel":
			if !hasRel {
				rel, hasRel = string(v), true
			}
		}
	}
	return href, rel, ok
}

// treeLinks yields the same from a parsed page.
func treeLinks(root *html.Node) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for n := range root.Descendants() {
			if n.Type != html.ElementNode || n.DataAtom != atom.A && n.DataAtom != atom.Area {
				continue
			}
			href, ok := attrOf(n, "href")
			if !ok {
				continue
			}
			rel, _ := attrOf(n, "rel")
			if !yield(href, rel) {
				return
			}
		}
	}
}
