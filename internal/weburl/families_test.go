package weburl

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"
)

// Reasons for vectors that do not pass.
const (
	opaqueSpaces = "the parser keeps all spaces at the end of an opaque path"
	encoderGap   = "the encoder of x/text accepts what the WHATWG one refuses"
	std3         = "x/net/idna refuses it beside other characters that STD3 refuses"
	pathEncoding = "the WHATWG standard writes paths in UTF-8 only: no such option"
)

var families = []family{
	{name: "urlparse/wpt_urltestdata", check: checkResolve, known: map[string]string{
		"urlparse/wpt_urltestdata/a8a6fab70ef9": opaqueSpaces,
		"urlparse/wpt_urltestdata/a9e9c1298ba6": opaqueSpaces,
		"urlparse/wpt_urltestdata/08ce2e7a958a": opaqueSpaces,
	}},
	{name: "urlparse/crawlercommons_resolve", check: checkResolve},
	{name: "urlparse/wpt_percent_encoding", check: checkPercentEncoding, known: map[string]string{
		"urlparse/wpt_percent_encoding/c2caa1fb1a98": encoderGap,
		"urlparse/wpt_percent_encoding/d4a803dac007": encoderGap,
	}},
	{name: "urlparse/wpt_toascii", check: checkHost, known: map[string]string{
		"urlparse/wpt_toascii/3766d1660a05": std3,
		"urlparse/wpt_toascii/5d28bc8faba3": std3,
	}},
	// The floor is there for std3 and for names too long for DNS.
	{name: "urlparse/wpt_idna_v2", check: checkHost, floor: 90},
	{name: "url/scrapy_bench_hrefs", check: checkBenchHref},
	{name: "url/canonicalize", check: checkCanonicalize, applies: defaultOptions},
	{name: "url/safe_url", check: checkSafeURL, known: map[string]string{
		"url/safe_url/53b6a804cca2": pathEncoding,
		"url/safe_url/541a2f7905a7": pathEncoding,
		"url/safe_url/7d552ae17373": pathEncoding,
	}},
	{name: "url/parse_qsl_to_bytes", check: checkQuery},
	{name: "url/scrapy_utils_url", check: checkSeed, applies: addsScheme},
}

func checkResolve(_ *testing.T, v *vector) (got, want string) {
	base := ""
	if v.Base != nil {
		base = *v.Base
	}
	got, err := Resolve(base, v.Input)
	if err != nil {
		got = ""
	}
	return got, v.want()
}

// checkHost compares hosts as the web platform tests do: null is no host.
func checkHost(_ *testing.T, v *vector) (got, want string) {
	_ = json.Unmarshal(v.Output, &want)
	return Host("https://" + v.Input + "/x"), want
}

func checkPercentEncoding(t *testing.T, v *vector) (got, want string) {
	var outputs map[string]string
	if err := json.Unmarshal(v.Output, &outputs); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		enc, err := htmlindex.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		base := Base{}.InEncoding(enc)
		u, err := base.Resolve("http://h/?a" + v.Input + "b")
		got += fmt.Sprintln(name, u, err)
		want += fmt.Sprintln(name, "http://h/?a"+outputs[name]+"b", nil)
	}
	return got, want
}

// checkBenchHref has no expected value: the scanners have to agree with the parser.
func checkBenchHref(t *testing.T, v *vector) (got, want string) {
	got, err := Resolve(*v.Base, v.Href)
	if err != nil {
		t.Errorf("%s: %v", v.ID, err)
	}
	want, _ = parse(*v.Base, v.Href)
	return got, want
}

// defaultOptions leaves out encodings and the dropping of blank values, which
// fingerprints do not use.
func defaultOptions(v *vector) bool {
	return v.Options.Encoding == "" && (v.Options.KeepBlank == nil || *v.Options.KeepBlank)
}

func checkCanonicalize(t *testing.T, v *vector) (got, want string) {
	return Canonicalize(v.in(t), v.Options.Fragments), v.want()
}

func checkSafeURL(t *testing.T, v *vector) (got, want string) {
	got, err := SafeURLIn(v.in(t), v.encoding(t))
	if err != nil {
		got = ""
	}
	return got, v.want()
}

func checkQuery(_ *testing.T, v *vector) (got, want string) {
	in := v.Input
	if v.InputB64 != nil {
		in = string(v.InputB64)
	}
	var pairs [][2]json.RawMessage
	_ = json.Unmarshal(v.Expected, &pairs)
	for _, p := range pairs {
		want += fmt.Sprintf("%q %q\n", text(p[0]), text(p[1]))
	}
	for _, p := range parseQuery(nil, make([]byte, 0, len(in)), in) {
		if len(p.value) > 0 || *v.Options.KeepBlank {
			got += fmt.Sprintf("%q %q\n", p.key, p.value)
		}
	}
	return got, want
}

// text reads a JSON string, or {"b64": …} for bytes that are not text.
func text(raw json.RawMessage) []byte {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []byte(s)
	}
	var b struct{ B64 []byte }
	_ = json.Unmarshal(raw, &b)
	return b.B64
}

func addsScheme(v *vector) bool { return v.Fn == "add_http_if_no_scheme" }

// checkSeed compares Clean with Scrapy's add_http_if_no_scheme; Clean also
// writes the URL in WHATWG form.
func checkSeed(_ *testing.T, v *vector) (got, want string) {
	got, _ = Clean(v.URL)
	want, _ = parse("", v.want())
	return got, strings.TrimSpace(want)
}
