package crawl

import (
	"bytes"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// decoded returns the body as UTF-8, the body itself where it is that already.
func (r *Response) decoded() []byte {
	r.page.text.Do(func() {
		enc, skip := encodingOf(r.Body, r.Header.Get("Content-Type"))
		r.page.utf8 = toUTF8(r.Body[skip:], enc)
		if enc != unicode.UTF8 {
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
// declaration in the page. Without any of them valid UTF-8 is taken as such, and
// everything else as windows-1252.
func encodingOf(body []byte, contentType string) (enc encoding.Encoding, bom int) {
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return unicode.UTF8, 3
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), 2
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), 2
	}
	if enc := byLabel(transportCharset(contentType)); enc != nil {
		return enc, 0
	}
	if enc := declaredEncoding(body[:min(len(body), prescanBytes)]); enc != nil {
		return enc, 0
	}
	if utf8.Valid(body) {
		return unicode.UTF8, 0
	}
	return charmap.Windows1252, 0
}

// byLabel returns the encoding of a label of the WHATWG Encoding Standard, nil
// if there is none.
func byLabel(label string) encoding.Encoding {
	enc, err := htmlindex.Get(label)
	if err != nil {
		return nil
	}
	return enc
}

var charsetParam = regexp.MustCompile(`(?i)(?:^|[;,\s])charset\s*=\s*["']?([\w:.-]+)`)

// transportCharset returns the charset of a Content-Type, of a malformed one too.
func transportCharset(contentType string) string {
	if _, params, err := mime.ParseMediaType(contentType); err == nil {
		return params["charset"]
	}
	if m := charsetParam.FindStringSubmatch(contentType); m != nil {
		return m[1]
	}
	return ""
}

// prescanBytes is how far from the beginning of a page a declaration is looked
// for, as by w3lib. The HTML standard asks authors for the first 1,024 bytes, but
// has browsers heed later ones as well.
const prescanBytes = 4096

var xmlDeclaration = regexp.MustCompile(`^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w:.-]+)["']`)

// declaredEncoding returns the encoding that the beginning of a page declares in
// a meta element or an XML declaration, nil if none.
func declaredEncoding(head []byte) encoding.Encoding {
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

// asRead replaces UTF-16, which a declaration that could be read as ASCII can
// not be in.
func asRead(enc encoding.Encoding) encoding.Encoding {
	if name, _ := htmlindex.Name(enc); strings.HasPrefix(name, "utf-16") {
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
		case "http-equiv":
			pragma = pragma || strings.EqualFold(string(v), "content-type")
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
