package weburl

import (
	"strings"
	"testing"
)

// canonical has the reference's cases CAN-01 to CAN-32 that need no options,
// and places where the scanner hands over.
var canonical = []struct{ id, url, want string }{
	{"CAN-01", "http://www.example.com", "http://www.example.com/"},
	{"CAN-02", "http://www.example.com/do?c=1&b=2&a=3", "http://www.example.com/do?a=3&b=2&c=1"},
	{"CAN-03", "http://www.example.com/do?c=3&b=5&b=2&a=50", "http://www.example.com/do?a=50&b=2&b=5&c=3"},
	{"CAN-04", "http://www.example.com/do?&a=1", "http://www.example.com/do?a=1"},
	{"CAN-05", "http://www.example.com/do?b=&a=2", "http://www.example.com/do?a=2&b="},
	{"CAN-06", "http://www.example.com/do?b=&c&a=2", "http://www.example.com/do?a=2&b=&c="},
	{"CAN-07", "http://www.example.com/do?1750,4", "http://www.example.com/do?1750%2C4="},
	{"CAN-08", "http://www.example.com/do?q=a space", "http://www.example.com/do?q=a+space"},
	{"CAN-08", "http://www.example.com/do?q=a+space", "http://www.example.com/do?q=a+space"},
	{"CAN-08", "http://www.example.com/do?q=a%20space", "http://www.example.com/do?q=a+space"},
	{"CAN-09", "http://www.example.com/résumé", "http://www.example.com/r%C3%A9sum%C3%A9"},
	{"CAN-13", "http://exa\tmple.com/a\r\nb?q=a\tb", "http://example.com/ab?q=ab"},
	{"CAN-14", "http://www.example.com/r%c3%a9/a%a3do", "http://www.example.com/r%C3%A9/a%A3do"},
	{"CAN-15", "https://example.com/a%23b%2cc#bash", "https://example.com/a%23b,c"},
	{"CAN-16", "http://www.example.com/a %20do", "http://www.example.com/a%20%20do"},
	{"CAN-17", "http://www.example.com/do?price(£)=500", "http://www.example.com/do?price%28%C2%A3%29=500"},
	{"CAN-18", "http://user:pass@www.example.com:443/do?a=1", "http://user:pass@www.example.com:443/do?a=1"},
	{"CAN-19", "http://www.example.com/do?a=1#frag", "http://www.example.com/do?a=1"},
	{"CAN-20", "sftp://UsEr:PaSsWoRd@www.EXAMPLE.com/", "sftp://UsEr:PaSsWoRd@www.example.com/"},
	{"CAN-21", "http://www.bücher.de?q=bücher", "http://www.xn--bcher-kva.de/?q=b%C3%BCcher"},
	{"CAN-22", "http://はじめよう.みんな/?query=サ&maxResults=5", "http://xn--p8j9a0d9c9a.xn--q9jyb4c/?maxResults=5&query=%E3%82%B5"},
	{"CAN-23", "http://foo.com/AC%2FDC+rocks%3f/?yeah=1", "http://foo.com/AC%2FDC+rocks%3F/?yeah=1"},
	{"CAN-24", "http://www.example.com:/do", "http://www.example.com/do"},
	{"CAN-25", "http://EXAMPLE.com:80/a/../b//c?x=&y", "http://example.com:80/a/../b//c?x=&y="},
	{"CAN-26", "http://e.com/%7euser/%2Fa%3fb%25c?q=a+b%20c&Q=%c3%a9", "http://e.com/~user/%2Fa%3Fb%c?Q=%C3%A9&q=a+b+c"},
	{"CAN-27", "http://e.com/?a=1;b=2", "http://e.com/?a=1%3Bb%3D2"},
	{"CAN-28", "http://e.com?b=2&a=1&a=0", "http://e.com/?a=0&a=1&b=2"},
	{"CAN-29", "http://e.com/|a[1]?a[]=1|2", "http://e.com/|a[1]?a%5B%5D=1%7C2"},
	{"CAN-30", `HTTP://E.com/\x`, "http://e.com//x"},
	{"CAN-32", "http://[::1]/", "http://[::1]/"},
	{"params", "http://e.com/a;x/b;p=[%7e]", "http://e.com/a;x/b;p=%5B%7e%5D"},
	{"params", "http://e.com/a;", "http://e.com/a"},
	{"params", "foo://h/a;%7e", "foo://h/a;~"},
	{"order", "http://e.com/?a=%7B&a=%5B", "http://e.com/?a=%5B&a=%7B"},
	{"order", "http://e.com/?a+=1&a%21=1", "http://e.com/?a+=1&a%21=1"},
	{"order", "http://e.com/?a-=1&a=2", "http://e.com/?a=2&a-=1"},
	{"query", "http://e.com/?", "http://e.com/"},
	{"query", "http://e.com/?&&", "http://e.com/"},
	{"query", "http://e.com/?a=b=c", "http://e.com/?a=b%3Dc"},
	{"path", "http://e.com/%%2fa%2", "http://e.com/%%2Fa%2"},
	{"port", "http://e.com:0080/", "http://e.com:80/"},
	{"port", " http://e.com:99999/ ", "http://e.com:99999/"},
	{"host", "http://[v6a.IP]/", "http://v6a.ip/"},
	{"host", "http://[1.2.3.4]/", "http://[1.2.3.4]/"},
	{"host", "http://straße.de/", "http://strasse.de/"},
	{"host", "http://a。b/", "http://a.b/"},
	{"host", "http://é。b./", "http://xn--9ca.b./"},
	{"opaque", "data:,", "data:,"},
	{"opaque", "mailto:x?b=1&a=2", "mailto:x?a=2&b=1"},
	{"relative", "?b=1", "/?b=1"},
	{"relative", "http:/x", "http:///x"},
	{"relative", "//H/x", "//h/x"},
	{"empty", "", "/"},
}

func TestCanonicalize(t *testing.T) {
	t.Parallel()
	for _, s := range canonical {
		t.Run(s.id, func(t *testing.T) {
			if got := Canonicalize(s.url, false); got != s.want {
				t.Errorf("Canonicalize(%q) = %q, want %q", s.url, got, s.want)
			}
			if got := string(AppendCanonical([]byte("x"), s.url, false)); got != "x"+s.want {
				t.Errorf("AppendCanonical(x, %q) = %q, want x%q", s.url, got, s.want)
			}
		})
	}
}

// TestKeepFragments proves CAN-19 and the spelling of a fragment.
func TestKeepFragments(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"http://h/do?a=1#frag": "http://h/do?a=1#frag",
		"http://h#a b[":        "http://h/#a%20b%5B",
		"http://h/#":           "http://h/",
		"http://h":             "http://h/",
	} {
		if got := Canonicalize(in, true); got != want {
			t.Errorf("Canonicalize(%q, true) = %q, want %q", in, got, want)
		}
	}
}

func TestCanonicalizeAllocatesNothing(t *testing.T) {
	for _, u := range []string{
		"https://www.example.com:8443/a/b%20c/?a=1&b=%2F&c=x+y",
		"http://www.example.com/a#fragment",
	} {
		if n := testing.AllocsPerRun(100, func() { Canonicalize(u, false) }); n != 0 {
			t.Errorf("Canonicalize(%q) allocates %v times, want none", u, n)
		}
	}
}

// sameAsRules fails if the scanner answers something else than the full rules.
// Idempotence (CAN-31) holds but for "%25" in paths.
func sameAsRules(t *testing.T, u string) {
	t.Helper()
	for _, keep := range []bool{false, true} {
		full := string(appendCanonical(nil, u, keep))
		if got := Canonicalize(u, keep); got != full {
			t.Errorf("Canonicalize(%q, %v) = %q, the rules say %q", u, keep, got, full)
		}
	}
	p, err := split(u)
	if err != nil || p.scheme != "http" || strings.Contains(u, "%") || !isASCII(u) {
		return
	}
	once := Canonicalize(u, false)
	if twice := Canonicalize(once, false); twice != once && p.host != "" {
		t.Errorf("Canonicalize(%q) = %q, and again %q", u, once, twice)
	}
}

func FuzzCanonicalize(f *testing.F) {
	for _, s := range canonical {
		f.Add(s.url)
	}
	f.Fuzz(func(t *testing.T, u string) { sameAsRules(t, u) })
}
