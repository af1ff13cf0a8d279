package weburl

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/skeincrawl/skein/internal/conformance"
)

// vector is one line of a file of test vectors; each file uses some fields.
type vector struct {
	ID       string
	Input    string
	InputB64 []byte `json:"input_b64"`
	Href     string
	Base     *string
	Error    bool
	Failure  bool
	XFail    bool `json:"upstream_xfail"`
	Options  struct {
		Encoding     string
		PathEncoding string `json:"path_encoding"`
		KeepBlank    *bool  `json:"keep_blank_values"`
		Fragments    bool   `json:"keep_fragments"`
	}
	Expected json.RawMessage
	Output   json.RawMessage
	Fn, URL  string
}

// in returns the input; bytes stand for text in the encoding of the options.
func (v *vector) in(t *testing.T) string {
	if v.InputB64 == nil {
		return v.Input
	}
	s, err := v.encoding(t).NewDecoder().Bytes(v.InputB64)
	if err != nil || v.Options.Encoding == "" {
		return string(v.InputB64)
	}
	return string(s)
}

func (v *vector) encoding(t *testing.T) encoding.Encoding {
	if v.Options.Encoding == "" {
		return encoding.Nop
	}
	name := map[string]string{"cp1251": "windows-1251", "latin-1": "latin1"}[v.Options.Encoding]
	if name == "" {
		name = v.Options.Encoding
	}
	enc, err := htmlindex.Get(name)
	if err != nil {
		t.Fatalf("%s: encoding %q: %v", v.ID, v.Options.Encoding, err)
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

// check runs one vector.
type check func(t *testing.T, v *vector) (got, want string)

// family is a file of vectors. The reasons why known ones do not pass stand
// beside their IDs; those that the publisher's own code misses may fail, too.
// A family with a floor needs that many of a hundred only; applies leaves out
// vectors of options and functions that this package does not have.
type family struct {
	name    string
	check   check
	applies func(v *vector) bool
	floor   int
	known   map[string]string
}

// TestConformance runs the public test vectors in the folder CONFORMANCE_DIR
// and logs "family passed total" with the IDs that failed.
func TestConformance(t *testing.T) {
	for _, f := range families {
		t.Run(f.name, f.run)
	}
}

func (f family) run(t *testing.T) {
	var vectors []vector
	for _, c := range conformance.Cases[vector](t, f.name+".jsonl") {
		vectors = append(vectors, c.V)
	}
	if f.applies != nil {
		vectors = slices.DeleteFunc(vectors, func(v vector) bool { return !f.applies(&v) })
	}
	var failed []string
	for _, v := range vectors {
		got, want := f.check(t, &v)
		if got == want {
			continue
		}
		failed = append(failed, v.ID)
		if f.known[v.ID] == "" && !v.XFail && f.floor == 0 {
			t.Errorf("%s: input %q base %v: got %q, want %q", v.ID, v.in(t)+v.URL, v.Base, got, want)
		}
	}
	passed := len(vectors) - len(failed)
	if passed*100 < f.floor*len(vectors) {
		t.Errorf("%s: %d of %d pass, want %d %%", f.name, passed, len(vectors), f.floor)
	}
	t.Logf("%s %d %d %s", f.name, passed, len(vectors), strings.Join(failed, " "))
}
