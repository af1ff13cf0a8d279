package weburl

import (
	"testing"

	"golang.org/x/text/encoding/charmap"
)

func TestSafeURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"http://example.com":          "http://example.com", // REQ-01: no slash without a query
		"http://example.com?a=b":      "http://example.com/?a=b",
		"http://EXAMPLE.com:080/a b":  "http://example.com:80/a%20b",
		"http://h/[x]?q=[1]'#f[1]":    "http://h/%5Bx%5D?q=%5B1%5D%27#f%5B1%5D",
		"foo://h?'":                   "foo://h?'",
		"http://%25u%26:p@w@h/":       "http://%25u&:p%40w@h/",
		"http://h/caf\xe9?q=\xe9":     "http://h/caf%E9?q=%E9",
		"/te ò":                       "/te%20%C3%B2",
		"http://.éxample.com/":        "http://.éxample.com/",
		`https://evil.com\@good.com/`: "https://evil.com/@good.com/",
		"http://h?#":                  "http://h?#",
		"/?u=http://h/":               "/?u=http://h/",
		"file:///x":                   "file:///x",
	} {
		if got, _ := SafeURL(in); got != want {
			t.Errorf("SafeURL(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSafeURLRefuses(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"http://h:99999/", "http://h:x/", "http://[::1/", "http://x[::1]/", "http://[::1]x/", "http://[1.2.3.4]/",
		"http://[v.x]/", "http://[]/", "", " ", "1://h", "/://h", "http://@/", "http://:80/", "http://1.2.3.256/", "http://%FF/", "http://a b/", "https://example℀.com", "https://evil.com＼.example.com", "http://a[b]@h/",
	} {
		if got, err := SafeURL(in); err == nil {
			t.Errorf("SafeURL(%q) = %q, want an error", in, got)
		}
	}
}

func TestSafeURLIn(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"http://h/é?q=é#é": "http://h/%C3%A9?q=%E9#%C3%A9",
		"http://h/?q=é€я":  "http://h/?q=%C3%A9%E2%82%AC%D1%8F",
	} {
		if got, err := SafeURLIn(in, charmap.ISO8859_1); err != nil || got != want {
			t.Errorf("SafeURLIn(%q, latin1) = %q, %v; want %q", in, got, err, want)
		}
	}
}
