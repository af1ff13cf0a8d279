package httpcache

import (
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Whatever is in a record, decoding it ends; and what decodes is stored and decoded the same again.
func FuzzDecode(f *testing.F) {
	full := &Stored{
		URL: page, Status: 200, Proto: "HTTP/2.0", Header: header("A", "1", "A", "\xff", "B", ""), Body: []byte("body"), Flags: []string{"x"},
		Requested: time.Unix(1, 2), Received: time.Unix(-3, 4), varied: map[string]string{"Cookie": "0123", "Authorization": ""},
	}
	for _, zip := range []bool{false, true} {
		record, err := encode([]*Stored{full, {}}, zip)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(record)
		f.Add(record[headBytes:])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, record := range [][]byte{data, sealed(data)} {
			all, err := decode(record, io.ReadAll)
			if err != nil {
				continue
			}
			again, err := encode(all, false)
			if err != nil {
				t.Fatal(err)
			}
			got, err := decode(again, io.ReadAll)
			if err != nil || !reflect.DeepEqual(got, all) {
				t.Fatalf("encoded and decoded: %+v, %v, want %+v", got, err, all)
			}
		}
	})
}

// Whatever a server says, an age and a lifetime are not negative, and the same header says the same.
func FuzzHeaders(f *testing.F) {
	for _, s := range []string{
		`max-age=60, no-cache="a, b", x="\"", private`, "max-age=99999999999999999999", "max-age=-1", `a="`, `="`, ",,=,",
		"Thu, 18 Aug 2050 02:01:18 GMT", "Thursday, 18-Aug-50 02:01:18 GMT", "Thu Aug  8 02:01:18 2050", "7200, 0", " gmt",
	} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, control, other string) {
		h := header("Cache-Control", control, "Date", other, "Expires", other, "Last-Modified", control, "Age", other)
		s := &Stored{Status: 200, Header: h, Requested: time.Unix(1e9, 0), Received: time.Unix(1e9+1, 0)}
		cc := parseDirectives(h)
		if age, lifetime := s.age(time.Unix(1e9+2, 0)), s.lifetime(cc); age < 0 || lifetime < 0 {
			t.Errorf("age %v, lifetime %v", age, lifetime)
		}
		for name := range cc {
			if name != strings.ToLower(name) {
				t.Errorf("directive %q is not in lower case", name)
			}
		}
	})
}
