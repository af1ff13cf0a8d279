package weburl

import (
	"strings"
	"testing"
)

func TestAccessors(t *testing.T) {
	t.Parallel()
	for _, s := range []struct{ url, scheme, host, origin string }{
		{"http://example.com/", "http", "example.com", "http://example.com"},
		{"https://example.com:8443/a?b#c", "https", "example.com", "https://example.com:8443"},
		{"https://example.com:443", "https", "example.com", "https://example.com"},
		{"HTTP://Example.COM:80/", "http", "example.com", "http://example.com"},
		{"http://user:p@ss@example.com/", "http", "example.com", "http://example.com"},
		{"http://a.b@evil.test:80/", "http", "evil.test", "http://evil.test"},
		{`http://evil.test\@good.test/`, "http", "evil.test", "http://evil.test"},
		{"http://bücher.example/", "http", "xn--bcher-kva.example", "http://xn--bcher-kva.example"},
		{"http://xn--bcher-kva.example/", "http", "xn--bcher-kva.example", "http://xn--bcher-kva.example"},
		{"http://[2001:DB8::1]:8080/", "http", "[2001:db8::1]", "http://[2001:db8::1]:8080"},
		{"http://[::1]/", "http", "[::1]", "http://[::1]"},
		{"http://0x7f.1/", "http", "127.0.0.1", "http://127.0.0.1"},
		{"http://127.0.0.1:99/", "http", "127.0.0.1", "http://127.0.0.1:99"},
		{"http://h:99999/", "http", "", "null"},
		{"http://h:80a/", "http", "", "null"},
		{"http://example.com?a@b", "http", "example.com", "http://example.com"},
		{"http:example.com/x", "http", "example.com", "http://example.com"},
		{" http://example.com/", "http", "example.com", "http://example.com"},
		{"ws://example.com:81/", "ws", "example.com", "ws://example.com:81"},
		{"ftp://example.com/", "ftp", "example.com", "ftp://example.com"},
		{"file:///a/b", "file", "", "null"},
		{"file://server/b", "file", "server", "null"},
		{"foo://Host:1/x", "foo", "Host", "null"},
		{"data:,http://x/", "data", "", "null"},
		{"mailto:a@example.com", "mailto", "", "null"},
		{"//example.com/", "", "", "null"},
		{"/x:y", "", "", "null"},
		{"1http://x/", "", "", "null"},
		{"", "", "", "null"},
	} {
		if got := Scheme(s.url); got != s.scheme {
			t.Errorf("Scheme(%q) = %q, want %q", s.url, got, s.scheme)
		}
		if got := Host(s.url); got != s.host {
			t.Errorf("Host(%q) = %q, want %q", s.url, got, s.host)
		}
		if got := Origin(s.url); got != s.origin {
			t.Errorf("Origin(%q) = %q, want %q", s.url, got, s.origin)
		}
	}
}

func TestTarget(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"http://h":               "/",
		"http://h/":              "/",
		"http://h?q":             "/?q",
		"http://h/a/%zz?q=/#f":   "/a/%zz?q=/",
		"http://u:p@h:80/a//b/.": "/a//b/.",
		"data:,x":                "/",
	} {
		if got := Target(in); got != want {
			t.Errorf("Target(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestAccessorsAllocateNothing holds for URLs as Resolve returns them.
func TestAccessorsAllocateNothing(t *testing.T) {
	const u = "https://www.example.com:8443/a/b?c=d"
	for name, f := range map[string]func(string) string{
		"Host": Host, "Origin": Origin, "Scheme": Scheme, "Target": Target, "TrimFragment": TrimFragment,
	} {
		if n := testing.AllocsPerRun(100, func() { f(u) }); n != 0 {
			t.Errorf("%s allocates %v times, want none", name, n)
		}
	}
}

func FuzzAccessors(f *testing.F) {
	for _, b := range bases {
		f.Add(b)
	}
	f.Add("http://a@b:80@c:1/")
	f.Fuzz(func(t *testing.T, u string) {
		if len(u) > 500 {
			return // escaped, it may be too long to be parsed again
		}
		host, origin := Host(u), Origin(u)
		parsed := repaired(u)
		if parsed == nil {
			if host != "" || origin != "null" {
				t.Errorf("%q cannot be parsed but has host %q, origin %q", u, host, origin)
			}
			return
		}
		if strings.Contains(host, "xn--") {
			return // taken as it is, even if it means nothing
		}
		if want := parsed.Hostname(); host != want {
			t.Errorf("Host(%q) = %q, the parser says %q", u, host, want)
		}
		if want := parsed.Scheme() + "://" + parsed.Host(); origin != "null" && origin != want {
			t.Errorf("Origin(%q) = %q, the parser says %q", u, origin, want)
		}
		if clean, err := Resolve("", u); err == nil && Host(clean) != host {
			t.Errorf("Host(%q) = %q, but %q once it is resolved", u, host, Host(clean))
		}
	})
}
