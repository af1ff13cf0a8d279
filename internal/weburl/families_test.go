package weburl

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/skeincrawl/skein/internal/conformance"
)

func checkResolve(_ *conformance.Row, v *vector) (got, want string) {
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
func checkHost(_ *conformance.Row, v *vector) (got, want string) {
	_ = json.Unmarshal(v.Output, &want)
	return Host("https://" + v.Input + "/x"), want
}

func checkPercentEncoding(t *conformance.Row, v *vector) (got, want string) {
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
func checkBenchHref(t *conformance.Row, v *vector) (got, want string) {
	got, err := Resolve(*v.Base, v.Href)
	if err != nil {
		t.Error(err)
	}
	want, _ = parse(*v.Base, v.Href)
	return got, want
}

func checkCanonicalize(t *conformance.Row, v *vector) (got, want string) {
	if v.Options.KeepBlank != nil && !*v.Options.KeepBlank {
		t.Skip("blank values are kept")
	}
	u := v.in(t)
	if enc := v.encoding(t); enc != encoding.Nop { // a request is made safe first
		u, _ = SafeURLIn(u, enc)
	}
	return Canonicalize(u, v.Options.Fragments), v.want()
}

func checkSafeURL(t *conformance.Row, v *vector) (got, want string) {
	got, err := SafeURLIn(v.in(t), v.encoding(t))
	if err != nil {
		got = ""
	}
	return got, v.want()
}

// checkDownloadURL compares what a request asks for, which is a URL in WHATWG form.
func checkDownloadURL(t *conformance.Row, v *vector) (got, want string) {
	got, err := Resolve("", v.in(t))
	if err != nil {
		t.Fatal(err)
	}
	return got, v.want()
}

func checkQuery(_ *conformance.Row, v *vector) (got, want string) {
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
