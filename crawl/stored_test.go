package crawl_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

func TestReadStored(t *testing.T) {
	t.Parallel()
	s := newShop(1)
	c := crawl.NewCallbacks(s)
	for name, tc := range map[string]struct {
		change func(r *crawl.Request)
		want   crawl.Stored
	}{
		"URL alone": {func(*crawl.Request) {}, crawl.Stored{URL: "u", Method: "GET"}},
		"all": {
			func(r *crawl.Request) {
				r.Method, r.Body, r.Callback, r.Errback, r.Args = "POST", []byte("a=\xff"), s.ByValue, s.Fail, 3
				r.Priority, r.DontFilter, r.NotBefore = -2, true, time.UnixMilli(1_700_000_000_123)
				r.Trail = crawl.Trail{Depth: 2, Retries: 1, Start: true}
			},
			crawl.Stored{
				URL: "u", Method: "POST", Body: []byte("a=\xff"), Callback: "ByValue", Errback: "Fail", Args: json.RawMessage("3"),
				Priority: -2, DontFilter: true, NotBefore: time.UnixMilli(1_700_000_000_123),
				Trail: crawl.Trail{Depth: 2, Retries: 1, Start: true},
			},
		},
		"redirected": {
			func(r *crawl.Request) {
				r.Trail = crawl.Trail{Depth: 1, Redirects: []crawl.Hop{{URL: "v", Status: 301}}}
			},
			crawl.Stored{URL: "u", Method: "GET", Trail: crawl.Trail{Depth: 1, Redirects: []crawl.Hop{{URL: "v", Status: 301}}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &crawl.Request{URL: "u"}
			tc.change(r)
			b, err := c.AppendRequest(nil, r)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := crawl.ReadStored(b); err != nil || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, tc.want)
			}
		})
	}
	if _, err := crawl.ReadStored([]byte("{")); err == nil {
		t.Error("half an object: no error")
	}
}

// TestRenewStored checks that only what tells of tries is taken out: a field of a
// newer program, big numbers and odd spellings stay as they are.
func TestRenewStored(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ stored, want string }{
		{`{"url":"u"}`, `{"url":"u"}`},
		{`{}`, `{}`},
		{`{"retries":3}`, `{}`},
		{`{"url":"u","not_before":17,"depth":2,"retries":3,"start":true}`, `{"url":"u","depth":2,"start":true}`},
		{`{"retries":3,"url":"\u0075"}`, `{"url":"\u0075"}`},
		{
			`{"url":"u","trail":{"depth":1,"retries":2,"redirects":[{"url":"v","status":301}]},"args":{"retries": 1e400},"meta":{"n":12345678901234567890}}`,
			`{"url":"u","trail":{"depth":1,"redirects":[{"url":"v","status":301}]},"args":{"retries": 1e400},"meta":{"n":12345678901234567890}}`,
		},
		{`{"url":"u","later":[{"retries":1}]}`, `{"url":"u","later":[{"retries":1}]}`},
	} {
		if got, err := crawl.RenewStored([]byte(tc.stored)); err != nil || string(got) != tc.want {
			t.Errorf("RenewStored(%s) = %s, %v, want %s", tc.stored, got, err, tc.want)
		}
	}
	for _, bad := range []string{"", "null", "[]", `"u"`, "{", `{"url"`, `{"url":}`, `{"trail":1}`} {
		if got, err := crawl.RenewStored([]byte(bad)); err == nil || !strings.HasPrefix(err.Error(), "read a stored request: ") {
			t.Errorf("RenewStored(%s) = %s, %v, want an error", bad, got, err)
		}
	}
}

// FuzzRenewStored checks that a renewed request is the same but for its tries.
func FuzzRenewStored(f *testing.F) {
	c := crawl.NewCallbacks(newShop(1))
	for _, r := range []*crawl.Request{full(), {URL: "u", Trail: crawl.Trail{Depth: 3, Retries: 2}}} {
		b, err := c.AppendRequest(nil, r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fresh, err := crawl.RenewStored(b)
		if err != nil || !json.Valid(b) {
			return
		}
		want, err := c.DecodeRequest(b)
		if err != nil {
			return
		}
		want.Trail.Retries, want.NotBefore = 0, time.Time{}
		if got, err := c.DecodeRequest(fresh); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\nbecame %s\ngot  %+v, %v\nwant %+v", b, fresh, got, err, want)
		}
	})
}
