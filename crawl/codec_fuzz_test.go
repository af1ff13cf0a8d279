package crawl_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// FuzzRoundTrip proves that what is stored is valid JSON on one line and comes
// back equal, whatever bytes are in it.
func FuzzRoundTrip(f *testing.F) {
	f.Add("http://example.com/", "GET", "Accept", "text/html", []byte("body"), 0, int64(0), "word", "key", "value", 1.0)
	f.Add("\u2028\"", "", "", "\x00caf\xe9", []byte{0xA3}, -1, int64(1), "\xff", "", "\\", 1e21)
	s := newShop(1)
	c := crawl.NewCallbacks(s)
	f.Fuzz(func(t *testing.T, url, method, key, value string, body []byte, priority int, at int64, word, mk, mv string, fl float64) {
		valid := func(s string) string { return string(bytes.ToValidUTF8([]byte(s), []byte("?"))) }
		r := &crawl.Request{
			URL: valid(url), Method: valid(method), Header: http.Header{valid(key): {value, ""}}, Body: body, Priority: priority,
			Callback: crawl.With(s.ParseWord, valid(word)), Cookies: []*http.Cookie{{Name: key, Value: value}},
			Meta: map[string]any{valid(mk): []any{valid(mv), priority, fl}, "m": map[string]any{valid(mv): nil}},
		}
		if at > 0 && at < 1<<53 {
			r.NotBefore = time.UnixMilli(at)
		}
		b, err := c.AppendRequest(nil, r)
		if err != nil {
			return // Meta that JSON can not hold
		}
		if !json.Valid(b) || bytes.ContainsAny(b, "\n\r") {
			t.Fatalf("stored as %q, want one line of JSON", b)
		}
		got, err := c.DecodeRequest(b)
		if err != nil {
			t.Fatalf("DecodeRequest(%s): %v", b, err)
		}
		again, err := c.AppendRequest(nil, got)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("stored again as %s, %v, want %s", again, err, b)
		}
		r.Callback, got.Callback, got.Args = nil, nil, nil
		if !reflect.DeepEqual(got, r) {
			t.Errorf("got  %#v\nwant %#v", got, r)
		}
	})
}

// FuzzDecodeRequest proves that no bytes make the decoder panic, and that what it
// takes can be stored again.
func FuzzDecodeRequest(f *testing.F) {
	c := crawl.NewCallbacks(newShop(1))
	b, err := c.AppendRequest(nil, full())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"url":"u","callback":"ParseBook","args":{"shelf":1},"errback":"Fail"}`))
	f.Add([]byte(`{"url":"u","callback":"ParseAny","args":null,"meta":{"t":{"$time":"2024-01-01T00:00:00Z"}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := c.DecodeRequest(b)
		if err != nil {
			return
		}
		again, err := c.AppendRequest(nil, r)
		if err != nil {
			t.Fatalf("decoded from %s, it can not be stored: %v", b, err)
		}
		if !json.Valid(again) {
			t.Fatalf("stored as %q, which is no JSON", again)
		}
	})
}

func FuzzAppendJSONString(f *testing.F) {
	f.Add("plain")
	f.Add("\"\\\n\x00\xff\u2028")
	f.Fuzz(checkString)
}
