package crawl_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/skeincrawl/skein/crawl"
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
	ID          string                `json:"id"`
	Fn          string                `json:"fn"`
	Class       string                `json:"cls"`
	Body        []byte                `json:"body_b64"`
	Headers     map[string][]maybeB64 `json:"headers"`
	ContentType *string               `json:"content_type"`
	EncodingArg *string               `json:"encoding_arg"`
	Encoding    string                `json:"expected_encoding"`
	Label       string                `json:"expected_encoding_label"`
	Text        *string               `json:"expected_text"`
	AnyText     []string              `json:"expected_text_any"`
}

// want returns the texts that a row accepts: those it names, or the body in the
// encoding it names. Python's names of encodings are translated to labels.
func (c charsetCase) want() []string {
	switch {
	case c.Text != nil:
		return []string{*c.Text}
	case c.AnyText != nil:
		return c.AnyText
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
		return nil
	}
	b, err := enc.NewDecoder().Bytes(c.Body)
	if err != nil {
		return nil
	}
	return []string{strings.TrimPrefix(string(b), "\uFEFF")}
}

func (c charsetCase) run(t *testing.T, count *tally, header http.Header) {
	t.Helper()
	want := c.want()
	got := (&crawl.Response{Header: header, Body: c.Body}).Text()
	count.row(t, c.ID, got, want, slices.Contains(want, got))
}

// TestPrescanConformance runs html5lib's cases of declarations in a page.
func TestPrescanConformance(t *testing.T) {
	t.Parallel()
	var count tally
	for _, c := range cases[charsetCase](t, "charset/html5lib_prescan.jsonl") {
		c.run(t, &count, http.Header{"Content-Type": {"text/html"}})
	}
	count.floor(t, "html5lib_prescan", map[string]string{
		"charset/html5lib_prescan/62553d94356f": "declared behind 8,192 bytes",
	})
}

// TestScrapyCharsetConformance runs the cases of Scrapy's text responses but
// those that name an encoding in the call, which there is no way to do here.
func TestScrapyCharsetConformance(t *testing.T) {
	t.Parallel()
	var count tally
	for _, c := range cases[charsetCase](t, "charset/scrapy_response.jsonl") {
		if c.EncodingArg != nil {
			continue
		}
		header := http.Header{}
		for k, vs := range c.Headers {
			for _, v := range vs {
				header.Add(k, string(v))
			}
		}
		c.run(t, &count, header)
	}
	count.floor(t, "scrapy_response", nil)
}

// TestW3libCharsetConformance runs w3lib's cases of whole conversions.
func TestW3libCharsetConformance(t *testing.T) {
	t.Parallel()
	var count tally
	for _, c := range cases[charsetCase](t, "charset/w3lib_encoding.jsonl") {
		if c.Fn != "html_to_unicode" {
			continue
		}
		header := http.Header{}
		if c.ContentType != nil {
			header.Set("Content-Type", strings.TrimPrefix(*c.ContentType, "Content-Type: "))
		}
		c.run(t, &count, header)
	}
	count.floor(t, "w3lib_encoding", map[string]string{
		"charset/w3lib_encoding/cdacdf056d11": "UTF-32 is not in the Encoding Standard",
		"charset/w3lib_encoding/3a66987001a0": "UTF-32 is not in the Encoding Standard",
		"charset/w3lib_encoding/9d2954bc5594": "UTF-32 is not in the Encoding Standard",
		"charset/w3lib_encoding/6f36f0032af1": "UTF-32 is not in the Encoding Standard",
		"charset/w3lib_encoding/1977356b7952": "utf-16 is little-endian in the Encoding Standard",
	})
}

// TestLabelConformance runs the labels of the WHATWG Encoding Standard.
func TestLabelConformance(t *testing.T) {
	t.Parallel()
	var count tally
	for _, c := range cases[struct{ ID, Label, Encoding string }](t, "charset/whatwg_labels.jsonl") {
		body := []byte("a\xe1\xa1b") // no encoding reads it as another does, nearly
		got := (&crawl.Response{Header: http.Header{"Content-Type": {"text/html; charset=" + c.Label}}, Body: body}).Text()
		enc, err := htmlindex.Get(c.Encoding)
		if err != nil {
			t.Fatalf("%s: %v", c.Encoding, err)
		}
		want, err := enc.NewDecoder().Bytes(body)
		if err != nil {
			t.Fatal(err)
		}
		count.row(t, c.ID+" "+c.Label, got, string(want), got == string(want))
	}
	count.floor(t, "whatwg_labels", nil)
}
