package cookie

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// clock is when the tests happen.
var clock = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func page(t testing.TB, u string) Page {
	t.Helper()
	p, ok := PageOf(u)
	if !ok {
		t.Fatalf("%s takes no cookies", u)
	}
	return p
}

// The rows are bug reports about other programs.
func TestParse(t *testing.T) {
	t.Parallel()
	future := clock.Add(24 * time.Hour)
	for _, tt := range []struct {
		id, url, header string
		want            Cookie
	}{
		{"RFC 6265 §5.1.4", "http://a.test/x/y?q", "a=1", Cookie{Path: "/x", Domain: "a.test", HostOnly: true, Expires: Session}},
		{"golang/go#12610", "http://127.0.0.1/", "a=1; Domain=127.0.0.1", Cookie{Path: "/", Domain: "127.0.0.1", HostOnly: true, Expires: Session}},
		{"scrapy#6410", "http://localhost/", "a=1; Domain=localhost", Cookie{Path: "/", Domain: "localhost", HostOnly: true, Expires: Session}},
		{"heritrix3#691", "http://www.example.com/", "a=1; Domain=.example.com", Cookie{Path: "/", Domain: "example.com", Expires: Session}},
		{"golang/go#19240", "http://localhost:3000/", "a=1", Cookie{Path: "/", Domain: "localhost", HostOnly: true, Expires: Session}},
		{"CK-22", "http://co.uk/", "a=1; Domain=co.uk", Cookie{Path: "/", Domain: "co.uk", HostOnly: true, Expires: Session}},
		{"international", "http://www.bücher.example/", "a=1; domain=bücher.example", Cookie{Path: "/", Domain: "xn--bcher-kva.example", Expires: Session}},
		{"crwlr#33", "http://a.test/", "a=1; Expires=" + future.Format("Mon, 02 Jan 2006 15:04:05 GMT"), Cookie{Path: "/", Domain: "a.test", HostOnly: true, Expires: future.Unix()}},
		{"crwlr#33", "http://a.test/", "a=1; Expires=" + future.Format("Mon, 02-Jan-06 15:04:05 GMT"), Cookie{Path: "/", Domain: "a.test", HostOnly: true, Expires: future.Unix()}},
		{"asctime", "http://a.test/", "a=1; Expires=" + future.Format(time.ANSIC), Cookie{Path: "/", Domain: "a.test", HostOnly: true, Expires: future.Unix()}},
		{"Max-Age wins", "http://a.test/", "a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", Cookie{Path: "/", Domain: "a.test", HostOnly: true, Expires: clock.Unix() + 60}},
		{"Max-Age, huge", "http://a.test/", "a=1; Max-Age=99999999999999999999", Cookie{Path: "/", Domain: "a.test", HostOnly: true, Expires: clock.Unix() + 1000*366*24*3600}},
		{"attributes", "https://a.test/", "a=1;path=/p;SECURE;httponly", Cookie{Path: "/p", Domain: "a.test", HostOnly: true, Secure: true, HTTPOnly: true, Expires: Session}},
		{"JSON, 8 bit", "http://a.test/", "a[]=1", Cookie{Name: "a[]", Path: "/", Domain: "a.test", HostOnly: true, Expires: Session}},
	} {
		if tt.want.Name == "" {
			tt.want.Name = "a"
		}
		tt.want.Value = "1"
		if got, ok := Parse(tt.header, page(t, tt.url), clock); !ok || got != tt.want {
			t.Errorf("%s: %q at %s: got %+v %v, want %+v", tt.id, tt.header, tt.url, got, ok, tt.want)
		}
	}
}

func TestParseKeepsValues(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		`t={"a":1}; Path=/`: `{"a":1}`, "t=a b": "a b", `t="a b"`: `"a b"`, "t=\xe1": "\xe1", "t=á": "á", "t=": "", "t=a\tb": "a\tb",
	} {
		if got, ok := Parse(header, page(t, "http://a.test/"), clock); !ok || got.Value != want {
			t.Errorf("%q: value %q %v, want %q", header, got.Value, ok, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ id, url, header string }{
		{"stormcrawler#2075b", "http://a.test/", "foo"},
		{"stormcrawler#2075", "http://a.com/", "a=1; Domain=com"},
		{"stormcrawler#2075", "http://9.2.3.4/", "a=1; Domain=2.3.4"},
		{"stormcrawler#2075", "http://[::1]/", "a=1; Domain=1]"},
		{"GHSA-mfjm-vh54-3f96, CK-20", "http://evil.co.uk/", "a=1; Domain=co.uk"},
		{"CK-21", "http://foo.blogspot.com/", "a=1; Domain=blogspot.com"},
		{"scrapy#5841", "http://a.test/", "a=1; Domain=b.test"},
		{"no whole label", "http://badexample.com/", "a=1; Domain=example.com"},
		{"no host", "http://a.test/", "a=1; Domain=a.test/"},
		{"empty", "http://a.test/", ""},
		{"no name", "http://a.test/", "=1"},
		{"control character", "http://a.test/", "a=\x01"},
		{"too long", "http://a.test/", "a=" + strings.Repeat("x", 4096)},
	} {
		if got, ok := Parse(tt.header, page(t, tt.url), clock); ok {
			t.Errorf("%s: %q at %s: got %+v, want nothing", tt.id, tt.header, tt.url, got)
		}
	}
	for _, u := range []string{"file:///etc/passwd", "data:,x", "ftp://a.test/", "http:///", ""} { // CK-10
		if p, ok := PageOf(u); ok {
			t.Errorf("%q has the page %+v", u, p)
		}
	}
}

func TestFromUser(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id, url string
		in      http.Cookie
		want    Cookie
	}{
		{"CK-11", "http://example-host/", http.Cookie{Name: "a", Value: "b"}, Cookie{Name: "a", Value: "b", Domain: "example-host", HostOnly: true, Path: "/"}},
		{"CK-12", "http://example-host/", http.Cookie{Name: "a", Domain: "example-host.local"}, Cookie{Name: "a", Domain: "example-host", HostOnly: true, Path: "/"}},
		{"CK-12", "http://example-host/", http.Cookie{Name: "a", Domain: "example-host"}, Cookie{Name: "a", Domain: "example-host", HostOnly: true, Path: "/"}},
		{"CK-12", "http://127.0.0.1/", http.Cookie{Name: "a", Domain: "127.0.0.1"}, Cookie{Name: "a", Domain: "127.0.0.1", HostOnly: true, Path: "/"}},
		{"CK-14", "http://a.test/", http.Cookie{Name: "a", Value: "\xe1"}, Cookie{Name: "a", Value: "á", Domain: "a.test", HostOnly: true, Path: "/"}},
		{"CK-19", "http://books.toscrape.com/", http.Cookie{Name: "a", Domain: "toscrape.com"}, Cookie{Name: "a", Domain: "toscrape.com", Path: "/"}},
		{"CK-23", "https://a.test/x/y", http.Cookie{Name: "a"}, Cookie{Name: "a", Domain: "a.test", HostOnly: true, Path: "/", Secure: true}},
		{"CK-25", "https://a.test/", http.Cookie{Name: "a", Unparsed: []string{"Secure=False"}}, Cookie{Name: "a", Domain: "a.test", HostOnly: true, Path: "/"}},
		{"CK-27", "http://a.test/", http.Cookie{Name: "a", Secure: true}, Cookie{Name: "a", Domain: "a.test", HostOnly: true, Path: "/", Secure: true}},
		{"scrapy#5841", "http://a.test/", http.Cookie{Name: "a", Domain: "b.test"}, Cookie{Name: "a", Domain: "b.test", Path: "/"}},
		{"age", "http://a.test/", http.Cookie{Name: "a", MaxAge: 5, Path: "/p", HttpOnly: true}, Cookie{Name: "a", Domain: "a.test", HostOnly: true, Path: "/p", HTTPOnly: true, Expires: clock.Unix() + 5}},
		{"date", "http://a.test/", http.Cookie{Name: "a", Expires: clock}, Cookie{Name: "a", Domain: "a.test", HostOnly: true, Path: "/", Expires: clock.Unix()}},
	} {
		if tt.want.Expires == 0 {
			tt.want.Expires = Session
		}
		if got, ok := FromUser(&tt.in, page(t, tt.url), clock); !ok || got != tt.want {
			t.Errorf("%s: got %+v %v, want %+v", tt.id, got, ok, tt.want)
		}
	}
	for _, in := range []http.Cookie{
		{Name: ""},
		{Name: "a=b"},
		{Name: "a;b"},
		{Name: "a", Value: "x; y"},
		{Name: "a", Value: "x\r\nEvil: 1"},
		{Name: "a", Domain: "uk"},
		{Name: "a", Domain: "co.uk"},
		{Name: "a", Domain: "blogspot.com"},
		{Name: "a", Domain: "/"},
	} {
		if got, ok := FromUser(&in, page(t, "http://foo.co.uk/"), clock); ok {
			t.Errorf("%+v was taken as %+v", in, got)
		}
	}
}

// FuzzParse proves that no header makes a cookie that could not be sent back, or
// that a page may not set, and that its change survives being stored.
func FuzzParse(f *testing.F) {
	for _, h := range []string{
		"a=b", "a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Domain=.example.com; Path=/x; Secure; HttpOnly", "=;;=", "a=\xff; max-age=-1",
		"a=b; domain=com", "a=b; domain=www.example.com.", "\x00", "a=b; domain=[::1]",
	} {
		f.Add(h, "http://www.example.com/x/y")
	}
	f.Fuzz(func(t *testing.T, header, u string) {
		from, ok := PageOf(u)
		if !ok {
			return
		}
		c, ok := Parse(header, from, clock)
		if !ok {
			return
		}
		if strings.ContainsAny(c.Name+c.Value, "\r\n\x00;") || c.Name == "" || c.Path == "" {
			t.Errorf("%q: %+v can not be sent back", header, c)
		}
		if c.Domain != from.Host && (c.HostOnly || !strings.HasSuffix(from.Host, "."+c.Domain)) {
			t.Errorf("%q: %s may not set %+v", header, u, c)
		}
		var got []Change
		change := Change{Jar: "j", Cookie: c}
		if err := ReadChanges(change.Append(nil), func(c *Change) { got = append(got, *c) }); err != nil {
			t.Fatal(err)
		}
		change.Path, got[0].Path = "", "" // its bytes are the server's own, and match nothing if they are no text
		if len(got) != 1 || got[0] != change {
			t.Errorf("%+v came back as %+v", change, got)
		}
	})
}

// FuzzParseDate proves that no text makes the reader of dates panic or leave the
// calendar.
func FuzzParseDate(f *testing.F) {
	f.Add("Thu, 01 Jan 1970 00:00:00 GMT")
	f.Add("1:2:3 9 feb 99")
	f.Add("99999999999:9:9")
	f.Fuzz(func(t *testing.T, s string) {
		if d, ok := ParseDate(s); ok && (d.Year() < 1601 || d.Year() > 9999) {
			t.Errorf("%q is %v", s, d)
		}
	})
}

func TestParseDate(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"Tue, 05 Jul 2033 10:00:00 GMT": "2033-07-05 10:00:00", "Tue, 05-Jul-33 10:00:00": "2033-07-05 10:00:00",
		"Sun Nov  6 08:49:37 1994": "1994-11-06 08:49:37", "31 Feb 2030 00:00:00": "", "29 Feb 2028 23:59:59": "2028-02-29 23:59:59",
		"1 Jan 1600 00:00:00": "", "1 Jan 2030 24:00:00": "", "1 Jan 2030 00:60:00": "", "1 Jan 2030 00:00:60": "", "": "", "0 Jan 2030 00:00:00": "",
	} {
		got := ""
		if d, ok := ParseDate(s); ok {
			got = d.Format(time.DateTime)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
}
