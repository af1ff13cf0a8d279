package referrer

import (
	"testing"
)

// The rows that the published vectors do not have; those of RP-01 to RP-10 are
// theirs.
func TestPolicies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ policy, from, to, want string }{
		{"scrapy-default", "s3://bucket/key", "https://a.test/", ""},
		{"unsafe-url", "file:///home/me/secret.html", "http://a.test/", ""},
		{"unsafe-url", "data:text/html,x", "http://a.test/", ""}, // RP-20
		{"origin", "data:text/html,x", "http://a.test/", ""},
		{"origin", "about:blank", "http://a.test/", ""},
		{"same-origin", "file:///a", "file:///b", ""},
		{"unsafe-url", "http://u:p@a.test/x?y=z@w#f", "http://b.test/", "http://a.test/x?y=z@w"},
		{"unsafe-url", "HTTP://A.test:80/x", "http://b.test/", "http://A.test/x"},
		{"unsafe-url", "http://a.test?q@x", "http://b.test/", "http://a.test?q@x"},
		{"unsafe-url", "http://[::1]:80/", "http://b.test/", "http://[::1]/"},
		{"unsafe-url", "http://[::80]/", "http://b.test/", "http://[::80]/"},
		{"unsafe-url", "", "http://b.test/", ""},
		{"unsafe-url", "http:", "http://b.test/", ""},
		{"same-origin", "http://a.test/x", "HTTP://A.TEST:80/y", "http://a.test/x"},
		{"same-origin", "ftps://a.test:990/x", "ftps://a.test/y", "ftps://a.test/x"},
		{"strict-origin", "ftps://a.test/x", "http://a.test/", ""},
	} {
		p, err := Policies.Lookup(tt.policy)
		if err != nil {
			t.Fatal(err)
		}
		if got := p(tt.from, tt.to); got != tt.want {
			t.Errorf("%s: %s → %s: %q, want %q", tt.policy, tt.from, tt.to, got, tt.want)
		}
	}
}

func TestStripAllocatesNothing(t *testing.T) {
	const u = "https://www.example.com/catalogue/page-2.html?x=1"
	if n := testing.AllocsPerRun(100, func() { strip(u) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// FuzzStrip proves that no URL gives away what nobody is to know.
func FuzzStrip(f *testing.F) {
	f.Add("http://user:password@example.com:80/p?q#f")
	f.Add("https://a@b@c/")
	f.Add("http:\\\\u:p@h\\x@y")
	f.Add("ftps://[::1]:990")
	f.Add("http://:80:80")
	f.Add("http://u@:80/")
	f.Fuzz(func(t *testing.T, u string) {
		got := strip(u)
		if got == "" {
			return
		}
		if again := strip(got); again != got {
			t.Errorf("%q becomes %q and that %q", u, got, again)
		}
		for i := len("http://"); i < len(got) && got[i] != '/' && got[i] != '?' && got[i] != '\\'; i++ {
			if got[i] == '@' {
				t.Errorf("%q becomes %q, which has a user", u, got)
			}
		}
	})
}
