package weburl

import (
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for _, s := range []struct{ seed, want string }{
		{"http://example.com", "http://example.com/"},
		{"  https://example.com/a b \r\n", "https://example.com/a%20b"},
		{"example.com", "http://example.com/"},
		{"example.com/x?y#z", "http://example.com/x?y#z"},
		{"example.com:8080/x", "http://example.com:8080/x"},
		{"example.com:", "http://example.com/"},
		{"192.168.2.2:6688", "http://192.168.2.2:6688/"},
		{"localhost", "http://localhost/"},
		{"localhost:3000", "http://localhost:3000/"},
		{"localhost/index.html", "http://localhost/index.html"},
		{"intranet:80/x", "http://intranet/x"},
		{"[::1]:8000/", "http://[::1]:8000/"},
		{"//example.com/x", "http://example.com/x"},
		{"user:pw@example.com/x", "http://user:pw@example.com/x"},
		{"user:80@example.com", "http://user:80@example.com/"},
		{"bücher.example", "http://xn--bcher-kva.example/"},
		{"HTTP:example.com", "http://example.com/"},
		{`http:\\example.com\x`, "http://example.com/x"},
		{"ftp://example.com/x", "ftp://example.com/x"},
		{"file:///tmp/x.html", "file:///tmp/x.html"},
		{"data:text/html,<p>x", "data:text/html,<p>x"},
		{"data:,user@host", "data:,user@host"},
		{"about:blank", "about:blank"},
		{"s3://bucket/key", "s3://bucket/key"},
	} {
		if got, err := Clean(s.seed); err != nil || got != s.want {
			t.Errorf("Clean(%q) = %q, %v; want %q", s.seed, got, err, s.want)
		}
	}
}

func TestCleanRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []struct{ seed, why string }{
		{"", "empty"},
		{" \t", "empty"},
		{"/tmp/x.html", "a path"},
		{"./x.html", "a path"},
		{"../x.html", "a path"},
		{"#top", "a path"},
		{"mailto:a@example.com", `scheme "mailto"`},
		{"javascript:void(0)", `scheme "javascript"`},
		{`C:\x.html`, `scheme "c"`},
		{"http://h:99999/", "outside the range"},
		{"http://h:80a/", "not a number"},
		{"example.com:99999", "outside the range"},
		{"example.com:http", "not a number"},
		{"http://a b/", "forbidden"},
		{"two words", "forbidden"},
		{"http://", "host"},
		{"http://[::1/", "IPv6"},
	} {
		got, err := Clean(s.seed)
		if err == nil || !strings.Contains(err.Error(), s.why) {
			t.Errorf("Clean(%q) = %q, %v; want an error with %q", s.seed, got, err, s.why)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"example.com:80/x", "//h", "u:p@h", "a.b:c", "data:,x", " http://h/#f "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, seed string) {
		if len(seed) > 2000 {
			return
		}
		got, err := Clean(seed)
		if err == nil && Scheme(got) == "" {
			t.Errorf("Clean(%q) = %q, which has no scheme", seed, got)
		}
	})
}
