package weburl

import (
	"encoding/json"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/skeincrawl/skein/internal/conformance"
)

// vector is one line of a file of test vectors; each file uses some fields.
type vector struct {
	Input    string
	InputB64 []byte `json:"input_b64"`
	Href     string
	Base     *string
	Error    bool
	Failure  bool
	Options  struct {
		Encoding     string
		PathEncoding string `json:"path_encoding"`
		KeepBlank    *bool  `json:"keep_blank_values"`
		Fragments    bool   `json:"keep_fragments"`
	}
	Expected json.RawMessage
	Output   json.RawMessage
}

// in returns the input; bytes stand for text in the encoding of the options.
func (v *vector) in(t testing.TB) string {
	if v.InputB64 == nil {
		return v.Input
	}
	s, err := v.encoding(t).NewDecoder().Bytes(v.InputB64)
	if err != nil || v.Options.Encoding == "" {
		return string(v.InputB64)
	}
	return string(s)
}

func (v *vector) encoding(t testing.TB) encoding.Encoding {
	if v.Options.Encoding == "" {
		return encoding.Nop
	}
	name := map[string]string{"cp1251": "windows-1251", "latin-1": "latin1"}[v.Options.Encoding]
	if name == "" {
		name = v.Options.Encoding
	}
	enc, err := htmlindex.Get(name)
	if err != nil {
		t.Fatalf("encoding %q: %v", v.Options.Encoding, err)
	}
	return enc
}

// want returns the expected string, or "" for an expected error.
func (v *vector) want() string {
	var s string
	if json.Unmarshal(v.Expected, &s) == nil {
		return s
	}
	var o struct{ Href string }
	_ = json.Unmarshal(v.Expected, &o)
	return o.Href
}

// A check runs one vector.
type check func(r *conformance.Row, v *vector) (got, want string)

// TestConformance runs the public test vectors about URLs.
func TestConformance(t *testing.T) {
	for family, check := range map[string]check{
		"urlparse/wpt_urltestdata":        checkResolve,
		"urlparse/crawlercommons_resolve": checkResolve,
		"urlparse/wpt_percent_encoding":   checkPercentEncoding,
		"urlparse/wpt_toascii":            checkHost,
		"urlparse/wpt_idna_v2":            checkHost,
		"url/scrapy_bench_hrefs":          checkBenchHref,
		"url/canonicalize":                checkCanonicalize,
		"url/safe_url":                    checkSafeURL,
		"url/safe_download_url":           checkDownloadURL,
		"url/parse_qsl_to_bytes":          checkQuery,
	} {
		t.Run(family, func(t *testing.T) {
			conformance.Run(t, family, func(r *conformance.Row, v vector) {
				if got, want := check(r, &v); got != want {
					r.Errorf("input %q base %v: got %q, want %q", v.in(r), v.Base, got, want)
				}
			})
		})
	}
}
