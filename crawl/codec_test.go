package crawl_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// full is a request with every field set that is not the spider's code.
func full() *crawl.Request {
	return &crawl.Request{
		URL: "http://example.com/ä?q=\"<&>\\\u2028", Method: "POST",
		Header: http.Header{
			"Accept":  {"a", "b"},
			"X-Bytes": {"caf\xe9", "\x00nul", "\x00\xff", ""},
		},
		Body: []byte("a=1\x00\xff"), Priority: 20, DontFilter: true,
		NotBefore: time.UnixMilli(1_700_000_000_123),
		Options: crawl.Options{
			Timeout: 3 * time.Second, MaxSize: -1, Slot: "s", MaxRetries: 4, RetryBackoff: time.Second, RetryPriority: -2, GiveUpLevel: "INFO", NoRetry: true, NoRedirect: true, MaxRedirects: 2,
			Statuses: []int{404, 500}, AnyStatus: true, AllowOffsite: true, NoRobots: true, NoThrottle: true, NoCookies: true, NoCache: true,
			Proxy: "http://u:p@proxy:3128", NoProxy: true, ReferrerPolicy: "origin", HTTPUser: "u", HTTPPass: "p", HTTPDomain: "example.com",
			BindAddress: "192.0.2.7:4000", FTPUser: "f", FTPPassword: "\xe9", FTPMode: "active", FTPLocalFilename: "/srv/\xe9",
		},
		Jar: "second",
		Cookies: []*http.Cookie{
			{
				Name: "a", Value: "\xe1", Domain: "example.com", Path: "/p", Expires: time.Unix(0, 0), MaxAge: -1, Secure: true,
				HttpOnly: true, Unparsed: []string{"secure=false"},
			},
			{Name: "\x00", Value: ""},
		},
		Meta: map[string]any{"one": 1, "f": 1.0, "s": "é\"", "n": nil, "l": []any{1, "x", map[string]any{"b": true}}},
		Trail: crawl.Trail{
			Depth: 2, Retries: 1, Start: true, Unfiltered: true,
			Redirects: []crawl.Hop{{URL: "http://example.com/old", Status: 301}, {URL: "http://example.com/older", Status: 302}},
		},
	}
}

// TestRoundTrip is SER-04. That full leaves no field out is part of the test.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	c := crawl.NewCallbacks(newShop(1))
	want := full()
	for _, v := range []any{*want, want.Options, want.Trail} {
		rv := reflect.ValueOf(v)
		for i := range rv.NumField() {
			if name := rv.Type().Field(i).Name; rv.Field(i).IsZero() && name != "Callback" && name != "Errback" && name != "Args" {
				t.Errorf("full leaves %v.%s out", rv.Type(), name)
			}
		}
	}
	if got := store(t, c, want); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v\nwant %#v", got, want)
	}
}

// TestRoundTripOfFew has requests of which most fields are zero.
func TestRoundTripOfFew(t *testing.T) {
	t.Parallel()
	c := crawl.NewCallbacks(newShop(1))
	for what, r := range map[string]*crawl.Request{
		"URL alone":            {URL: "http://example.com/"},
		"trail, no redirects":  {URL: "u", Trail: crawl.Trail{Depth: 3, Retries: 2, Start: true}},
		"redirects alone":      {URL: "u", Trail: crawl.Trail{Redirects: []crawl.Hop{{URL: "v", Status: 307}}}},
		"negative priority":    {URL: "u", Priority: -1 << 40},
		"one option":           {URL: "u", Options: crawl.Options{Slot: "é"}},
		"one cookie":           {URL: "u", Cookies: []*http.Cookie{{Name: "n", Value: "v"}}},
		"a jar":                {URL: "u", Jar: "é"},
		"a header not sent":    {URL: "u", Header: http.Header{"Accept": {}}},
		"body of one byte A3":  {URL: "u", Body: []byte{0xA3}},       // SER-05
		"body of two bytes":    {URL: "u", Body: []byte{0xC2, 0xA3}}, // SER-05
		"body of all bytes":    {URL: "u", Body: allBytes()},         // SER-05
		"not before the epoch": {URL: "u", NotBefore: time.UnixMilli(-5)},
	} {
		if got := store(t, c, r); !reflect.DeepEqual(got, r) {
			t.Errorf("%s: got %+v, want %+v", what, got, r)
		}
	}
}

func allBytes() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// TestNotBeforeIsMilliseconds also shows the stored form of a small request.
func TestNotBeforeIsMilliseconds(t *testing.T) {
	t.Parallel()
	s := newShop(1)
	r := &crawl.Request{URL: "http://example.com/", Callback: s.Parse, NotBefore: time.Unix(1, 999_999), Trail: crawl.Trail{Depth: 1}}
	b, err := crawl.NewCallbacks(s).AppendRequest([]byte("* "), r)
	if err != nil {
		t.Fatal(err)
	}
	if want := `* {"url":"http://example.com/","callback":"Parse","not_before":1000,"depth":1}`; string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}

func TestAppendRequestErrors(t *testing.T) {
	t.Parallel()
	s := newShop(1)
	c := crawl.NewCallbacks(s)
	for _, tc := range []struct {
		r    *crawl.Request
		want string
	}{
		{&crawl.Request{URL: "u", Args: func() {}}, "arguments of <GET u> can not be stored"},
		{&crawl.Request{URL: "u", Callback: crawl.With(s.ParseAny, any(make(chan int)))}, "arguments of <GET u> can not be stored"},
		{&crawl.Request{URL: "u", Meta: map[string]any{"x": uint(1)}}, `Meta["x"] is a uint`},
	} {
		b, err := c.AppendRequest([]byte("before"), tc.r)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("got %v, want %q", err, tc.want)
		}
		if !bytes.HasPrefix(b, []byte("before")) {
			t.Errorf("got %q, want what was there before", b)
		}
	}
}

func TestDecodeRequestErrors(t *testing.T) {
	t.Parallel()
	c := crawl.NewCallbacks(newShop(1))
	for _, stored := range []string{
		``, `{`, `[]`, `null`, `{}`, `{"url":""}`, `{"url":1}`, `{"url":"u"} x`, `{"url":"u","body":"*"}`, `{"url":"u","header":{"A":["\u0000*"]}}`,
		`{"url":"u","cookies":{}}`, `{"url":"u","cookies":[{"name":"\u0000*"}]}`,
		`{"url":"u","meta":1}`, `{"url":"u","meta":{"a":1e999}}`, `{"url":"u","meta":{"a":123456789012345678901}}`,
		`{"url":"u","meta":{"$time":"2024-01-01T00:00:00Z"}}`, `{"url":"u","meta":{"a":[{"$time":1}]}}`,
		`{"url":"u","meta":{"a":{"$time":"2024-01-01T00:00:00Z","b":1}}}`, `{"url":"u","meta":{"a":{"b":{"$time":"never"}}}}`,
	} {
		if r, err := c.DecodeRequest([]byte(stored)); err == nil || !strings.HasPrefix(err.Error(), "decode ") {
			t.Errorf("DecodeRequest(%s) = %v, %v, want an error that says what was decoded", stored, r, err)
		}
	}
}

func TestAppendJSONString(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "<&>", "é€😀", "\u2028\u2029", "\xff\xc3", "a\xe2\x80", "\uFFFD"} {
		checkString(t, s)
	}
}

// checkString compares a string with what encoding/json makes of it.
func checkString(t *testing.T, s string) {
	t.Helper()
	b := crawl.AppendJSONString(nil, s)
	var got, want string
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatalf("%q was written as %s: %v", s, b, err)
	}
	ref, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(ref, &want); err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("%q came back as %q, want %q", s, got, want)
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	r := crawl.Record{{Name: "b\"", Value: "x\n"}, {Name: "a", Value: 1}, {Name: "n", Value: nil}, {Name: "l", Value: []int{1}}}
	b, err := json.Marshal(r)
	if want := `{"b\"":"x\n","a":1,"n":null,"l":[1]}`; string(b) != want || err != nil {
		t.Errorf("got %s, %v, want %s", b, err, want)
	}
	if _, err := (crawl.Record{{Name: "f", Value: func() {}}}).AppendJSON(nil); err == nil || !strings.Contains(err.Error(), "field f") {
		t.Errorf("got %v, want the field named", err)
	}
}
