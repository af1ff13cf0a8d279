package crawl

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/skeincrawl/skein/internal/charset"
)

// decoded returns the body as UTF-8, the body itself where it is that already.
func (r *Response) decoded() []byte {
	r.page.text.Do(func() {
		enc, skip := encodingOf(r.Body, r.Header.Get("Content-Type"))
		r.page.utf8 = toUTF8(r.Body[skip:], enc)
		if enc != unicode.UTF8 && hasASCII(enc) { // else URLs and forms are in UTF-8
			r.page.enc = enc
		}
	})
	return r.page.utf8
}

// toUTF8 decodes a body. What can not be decoded becomes U+FFFD. GBK is read as
// its superset gb18030 (WHATWG Encoding Standard), but not written as such.
func toUTF8(body []byte, enc encoding.Encoding) []byte {
	if enc == simplifiedchinese.GBK {
		enc = simplifiedchinese.GB18030
	}
	if enc == unicode.UTF8 && utf8.Valid(body) {
		return body
	}
	b, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		return bytes.ToValidUTF8(body, []byte("\uFFFD"))
	}
	return b
}

// encodingOf finds the encoding of a body by the order of the HTML standard: a
// byte order mark, whose length it returns too, the charset of the transport, a
// declaration in the page. Without any of them it is guessed; what does not show
// what it is is UTF-8 if it is valid as such, and else windows-1252.
func encodingOf(body []byte, contentType string) (enc encoding.Encoding, bom int) {
	if enc, bom := marked(body); enc != nil {
		return enc, bom
	}
	if enc := byLabel(transportCharset(contentType)); enc != nil {
		return enc, 0
	}
	if enc := declaredEncoding(body[:min(len(body), prescanBytes)]); enc != nil {
		return enc, 0
	}
	if enc := charset.Guess(body); enc != nil {
		return enc, 0
	}
	if utf8.Valid(body) {
		return unicode.UTF8, 0
	}
	return charmap.Windows1252, 0
}

// prescanBytes is how far from the beginning of a page a declaration is looked
// for, as by w3lib. The HTML standard asks authors for the first 1,024 bytes, but
// has browsers heed later ones as well.
const prescanBytes = 4096

// charsetParam is the charset in the content of a meta element.
var charsetParam = regexp.MustCompile(`(?i)(?:^|[;,\s])charset\s*=\s*["']?([\w:.-]+)`)

var xmlDeclaration = regexp.MustCompile(`^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w:.-]+)["']`)

// declaredEncoding returns the encoding that the beginning of a page declares in
// a meta element or an XML declaration, nil if none.
func declaredEncoding(head []byte) encoding.Encoding {
	if bytes.Contains(head, []byte("< meta")) { // no element for a browser, but for w3lib
		head = bytes.ReplaceAll(head, []byte("< meta"), []byte("<meta"))
	}
	z := html.NewTokenizer(bytes.NewReader(head))
	for tt := z.Next(); tt != html.ErrorToken; tt = z.Next() {
		if tt != html.StartTagToken && tt != html.SelfClosingTagToken {
			continue
		}
		if name, more := z.TagName(); more && string(name) == "meta" {
			if enc := byLabel(metaCharset(z)); enc != nil {
				return asRead(enc)
			}
		}
	}
	if m := xmlDeclaration.FindSubmatch(head); m != nil {
		if enc := byLabel(string(m[1])); enc != nil {
			return asRead(enc)
		}
	}
	return nil
}

// asRead replaces UTF-16 and UTF-32, which a declaration that could be read as
// ASCII can not be in.
func asRead(enc encoding.Encoding) encoding.Encoding {
	if enc != encoding.Replacement && !hasASCII(enc) {
		return unicode.UTF8
	}
	return enc
}

// metaCharset returns the label that a meta element declares, "" if none.
func metaCharset(z *html.Tokenizer) string {
	var charset, content string
	var hasCharset, pragma bool
	for more := true; more; {
		var k, v []byte
		k, v, more = z.TagAttr()
		switch string(k) {
		case "charset":
			if !hasCharset {
				charset, hasCharset = string(v), true
			}
		case "http-equiv", "httpequiv": // as some write it, and w3lib reads it
			pragma = pragma || strings.EqualFold(strings.ReplaceAll(string(v), "-", ""), "contenttype")
		case "content":
			if m := charsetParam.FindSubmatch(v); m != nil && content == "" {
				content = string(m[1])
			}
		}
	}
	switch {
	case hasCharset:
		return charset
	case pragma:
		return content
	}
	return ""
}
