package crawl_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	encunicode "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/conformance"
)

// maybeB64 is a string, or an object that holds one in base64.
type maybeB64 string

func (m *maybeB64) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*m = maybeB64(s)
		return nil
	}
	var o struct {
		B64 []byte `json:"b64"`
	}
	err := json.Unmarshal(b, &o)
	*m = maybeB64(o.B64)
	return err
}

type charsetCase struct {
	Body        []byte                `json:"body_b64"`
	Headers     map[string][]maybeB64 `json:"headers"`
	EncodingArg *string               `json:"encoding_arg"`
	Encoding    string                `json:"expected_encoding"`
	Label       string                `json:"expected_encoding_label"`
	Text        *string               `json:"expected_text"`
}

// want returns the text that a row expects: the one it has, or the body in the
// encoding it names. Python's names of encodings are translated to labels.
func (c charsetCase) want(r *conformance.Row) string {
	r.Helper()
	if c.Text != nil {
		return *c.Text
	}
	label := c.Encoding + c.Label
	if to, ok := map[string]string{
		"cp1252": "windows-1252", "ascii": "windows-1252", "big5hkscs": "big5", "iso8859-4": "iso-8859-4",
		"utf-16-be": "utf-16be", "utf-16-le": "utf-16le",
	}[label]; ok {
		label = to
	}
	enc, err := htmlindex.Get(label)
	if err != nil {
		r.Fatal(err)
	}
	b, err := enc.NewDecoder().Bytes(c.Body)
	if err != nil {
		r.Fatal(err)
	}
	return strings.TrimPrefix(string(b), "\uFEFF")
}

// checkText compares a body as it is read with what a row accepts.
func (c charsetCase) checkText(r *conformance.Row, header http.Header) {
	r.Helper()
	r.Equal((&crawl.Response{Header: header, Body: c.Body}).Text(), c.want(r))
}

// TestPrescanConformance runs html5lib's cases of declarations in a page.
func TestPrescanConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, "charset/html5lib_prescan", func(r *conformance.Row, c charsetCase) {
		c.checkText(r, http.Header{"Content-Type": {"text/html"}})
	})
}

// TestScrapyCharsetConformance runs the cases of Scrapy's text responses. An
// encoding that is named in the call is there in the header here.
func TestScrapyCharsetConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, "charset/scrapy_response", func(r *conformance.Row, c charsetCase) {
		header := http.Header{}
		for k, vs := range c.Headers {
			for _, v := range vs {
				header.Add(k, string(v))
			}
		}
		if c.EncodingArg != nil {
			header.Set("Content-Type", "text/html; charset="+*c.EncodingArg)
		}
		c.checkText(r, header)
	})
}

// TestLabelConformance runs the labels of the WHATWG Encoding Standard.
func TestLabelConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, "charset/whatwg_labels", func(r *conformance.Row, c struct{ Label, Encoding string }) {
		body := []byte("a\xe1\xa1b") // no encoding reads it as another does, nearly
		got := (&crawl.Response{Header: http.Header{"Content-Type": {"text/html; charset=" + c.Label}}, Body: body}).Text()
		enc, err := htmlindex.Get(c.Encoding)
		if err != nil {
			r.Fatal(err)
		}
		want, err := enc.NewDecoder().Bytes(body)
		if err != nil {
			r.Fatal(err)
		}
		r.Equal(got, string(want))
	})
}

// aliases are names of encodings that are no labels of the WHATWG standard.
var aliases = map[string]encoding.Encoding{
	"maccyrillic": charmap.MacintoshCyrillic, "tis-620": charmap.Windows874, "iso-8859-11": charmap.Windows874,
	"cp932": japanese.ShiftJIS, "ibm855": charmap.CodePage855, "utf-8-sig": encunicode.UTF8BOM,
	"utf-16": encunicode.UTF16(encunicode.LittleEndian, encunicode.UseBOM),
	"utf-32": utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), "utf-32be": utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM),
	"gb2312": simplifiedchinese.GB18030, "gbk": simplifiedchinese.GB18030,
}

// checkGuess compares how a body without a header is read with how it is in the
// encoding that it is in.
func checkGuess(r *conformance.Row, body []byte, name string) {
	r.Helper()
	enc := aliases[name]
	if enc == nil {
		var err error
		if enc, err = htmlindex.Get(name); err != nil {
			r.Fatalf("no encoding %q", name)
		}
	}
	want, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		r.Fatal(err)
	}
	got := (&crawl.Response{Body: body}).Text()
	if strings.TrimPrefix(got, "\uFEFF") != strings.TrimPrefix(string(want), "\uFEFF") {
		r.Errorf("%s: got %.100q, want %.100q", name, got, want)
	}
}

func TestGuessFilesConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, "charset/detect_files", func(r *conformance.Row, c struct {
		File     string
		Expected string `json:"expected_encoding"`
	},
	) {
		checkGuess(r, r.File("charset/"+c.File), c.Expected)
	})
}

func TestGuessTextsConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, "charset/ced_strings", func(r *conformance.Row, c struct {
		Body     []byte `json:"body_b64"`
		Expected string `json:"expected_encoding"`
	},
	) {
		checkGuess(r, c.Body, c.Expected)
	})
}
