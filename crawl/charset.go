package crawl

import (
	"bytes"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// marked returns the encoding that a byte order mark tells of, and the length of
// the mark. UTF-32 is read as by Scrapy; browsers do not know it.
func marked(body []byte) (enc encoding.Encoding, bom int) {
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return unicode.UTF8, 3
	case bytes.HasPrefix(body, []byte("\x00\x00\xfe\xff")):
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), 4
	case bytes.HasPrefix(body, []byte("\xff\xfe\x00\x00")):
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), 4
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), 2
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), 2
	}
	return nil, 0
}

// byLabel returns the encoding of a label of the WHATWG Encoding Standard, also
// with low lines for its hyphens, or of another name that Scrapy knows by Python or
// that IANA has registered. It is nil if there is none.
func byLabel(label string) encoding.Encoding {
	if enc, err := htmlindex.Get(label); err == nil {
		return enc
	}
	label = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(label), "_", "-"))
	if enc, err := htmlindex.Get(label); err == nil {
		return enc
	}
	switch label {
	case "utf-32", "utf-32be", "utf-32-be":
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	case "utf-32le", "utf-32-le":
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case "gb18030-2000":
		return simplifiedchinese.GB18030
	case "maccyrillic", "mac-cyrillic":
		return charmap.MacintoshCyrillic
	}
	if enc, err := ianaindex.IANA.Encoding(label); err == nil && enc != nil {
		return enc
	}
	enc, _ := htmlindex.Get(strings.ReplaceAll(label, "-", "")) // GB-18030, ISO-88591
	return enc
}

// hasASCII reports whether an encoding writes ASCII as itself.
func hasASCII(enc encoding.Encoding) bool {
	b, err := enc.NewEncoder().Bytes([]byte("a"))
	return err == nil && string(b) == "a"
}

// transportCharset returns the first charset of a Content-Type that is not empty,
// by the rules of the WHATWG MIME Sniffing Standard §4.4. Of several types in a
// list the first one counts that has a charset.
func transportCharset(contentType string) string {
	for contentType != "" {
		var name, value string
		name, value, contentType = cutParameter(contentType)
		if words := strings.Fields(name); value != "" && len(words) > 0 && strings.EqualFold(words[len(words)-1], "charset") {
			return value
		}
	}
	return ""
}

// cutParameter cuts "name=value", or a text without a value, off a list with
// semicolons or commas. In quotes both are part of the value; what else stands
// beside quotes spoils it.
func cutParameter(s string) (name, value, rest string) {
	i := strings.IndexAny(s, "=;,")
	if i < 0 {
		return s, "", ""
	}
	name, rest = s[:i], s[i+1:]
	if s[i] != '=' {
		return name, "", rest
	}
	quoted := strings.HasPrefix(rest, `"`)
	if quoted {
		value, rest, _ = strings.Cut(rest[1:], `"`)
	}
	i = strings.IndexAny(rest, ";,")
	if i < 0 {
		i = len(rest)
	}
	beside := strings.TrimSpace(rest[:i])
	rest = rest[min(i+1, len(rest)):]
	switch {
	case !quoted:
		return name, beside, rest
	case beside != "":
		return name, "", rest
	}
	return name, value, rest
}
