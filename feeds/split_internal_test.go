package feeds

import (
	"bytes"
	"encoding/json"
	"testing"
)

// An object of JSON splits into the pairs that encoding/json finds; anything
// else must not do harm.
func FuzzSplitObject(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, ` { "a" : [1,{"b":"}"}] , "\u0062\"" : "x\\" } `, `{"a":1`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1}}`, `["a"]`, `{"`, `{"\`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		pairs, err := splitObject(b, nil)
		var want map[string]json.RawMessage
		if json.Unmarshal(b, &want) != nil || want == nil {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		got := map[string]json.RawMessage{}
		for _, p := range pairs {
			if key := bytes.ToValidUTF8(p.key, []byte("\ufffd")); len(key) == len(p.key) {
				got[string(key)] = p.value
			} else {
				return // encoding/json mends the key
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%q: %q, want %q", b, got, want)
		}
		for key, value := range want {
			if !bytes.Equal(got[key], value) {
				t.Errorf("%q: %q is %q, want %q", b, key, got[key], value)
			}
		}
	})
}

func FuzzCellText(f *testing.F) {
	for _, s := range []string{`[1,"a",null]`, `[]`, `[[1],2]`, `["\u00e9"`, `[,]`, `true`, `"x"y`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := cellText(b); err != nil && json.Valid(b) && len(bytes.TrimSpace(b)) == len(b) {
			t.Errorf("%q: %v", b, err)
		}
	})
}
