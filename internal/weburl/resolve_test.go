package weburl

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
)

const page = "http://example.com/catalogue/books/page-1.html?sort=name"

// shapes are references in the forms that pages use, and what they mean in page.
var shapes = []struct{ ref, want string }{
	{"", page},
	{"#top", page + "#top"},
	{"?page=2", "http://example.com/catalogue/books/page-1.html?page=2"},
	{"?page=2#x", "http://example.com/catalogue/books/page-1.html?page=2#x"},
	{"page-2.html", "http://example.com/catalogue/books/page-2.html"},
	{"a/b/c?d=/../e#../f", "http://example.com/catalogue/books/a/b/c?d=/../e#../f"},
	{"./x", "http://example.com/catalogue/books/x"},
	{".", "http://example.com/catalogue/books/"},
	{"..", "http://example.com/catalogue/"},
	{"../", "http://example.com/catalogue/"},
	{"../../x/./y/../z", "http://example.com/x/z"},
	{"../../../../x", "http://example.com/x"},
	{"a/..?q", "http://example.com/catalogue/books/?q"},
	{".hidden/..x/...", "http://example.com/catalogue/books/.hidden/..x/..."},
	{"a//../b", "http://example.com/catalogue/books/a/b"},
	{"%2e%2E/x", "http://example.com/catalogue/x"},
	{"/", "http://example.com/"},
	{"/a/b.html?q=1&r=%zz", "http://example.com/a/b.html?q=1&r=%zz"},
	{"/../a/./b/..", "http://example.com/a/"},
	{"/..//x", "http://example.com//x"},
	{"//cdn.example.net/lib.js", "http://cdn.example.net/lib.js"},
	{"//cdn.example.net", "http://cdn.example.net/"},
	{"//example.com", "http://example.com/"},
	{"https://example.org/", "https://example.org/"},
	{"https://example.org", "https://example.org/"},
	{"https://example.org?q", "https://example.org/?q"},
	{"https://example.org#f", "https://example.org/#f"},
	{"https://example.org:8443/a/../b", "https://example.org:8443/b"},
	{"https://example.org:443/", "https://example.org/"},
	{"http://example.com:80/x", "http://example.com/x"},
	{"http://a_b.example.org/", "http://a_b.example.org/"},
	{"http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"},
	{"HTTP://EXAMPLE.ORG/A", "http://example.org/A"},
	{"http:x", "http://example.com/catalogue/books/x"},
	{"http://127.0.0.1:8000/x", "http://127.0.0.1:8000/x"},
	{" \n/a b\t/c ", "http://example.com/a%20b/c"},
	{"/ä?ö#ü", "http://example.com/%C3%A4?%C3%B6#%C3%BC"},
	{"/a?b='c'", "http://example.com/a?b=%27c%27"},
	{"/a^b", "http://example.com/a%5Eb"},
	{"/it's|{x}", "http://example.com/it's|%7Bx%7D"},
	{"mailto:a@example.com?subject=x", "mailto:a@example.com?subject=x"},
	{"tel:+1-2", "tel:+1-2"},
	{"javascript:void(0)", "javascript:void(0)"},
	{"javascript:go('a b')", "javascript:go('a b')"},
	{"data:text/plain,x#y#z", "data:text/plain,x#y#z"},
	{"a:b", "a:b"},
	{"a%3ab", "http://example.com/catalogue/books/a%3ab"},
	{"x/a:b", "http://example.com/catalogue/books/x/a:b"},
	{":80", "http://example.com/catalogue/books/:80"},
	{"ftp://example.org/x", "ftp://example.org/x"},
}

func TestResolve(t *testing.T) {
	t.Parallel()
	base, err := NewBase(page + "#fragment")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range shapes {
		got, err := base.Resolve(s.ref)
		if err != nil || got != s.want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", s.ref, got, err, s.want)
		}
		if got, _ := Resolve(page, s.ref); got != s.want {
			t.Errorf("Resolve(page, %q) = %q, want %q", s.ref, got, s.want)
		}
	}
}

// TestResolveLikeBrowser has the references that net/url refuses or takes for
// a path on the same host.
func TestResolveLikeBrowser(t *testing.T) {
	t.Parallel()
	for _, s := range []struct{ ref, want string }{
		{"/a%zz", "http://h.test/a%zz"},
		{"///b.test/x", "http://b.test/x"},
		{`\\b.test\x`, "http://b.test/x"},
		{"http://h/%3C%=u%%3E", "http://h/%3C%=u%%3E"},
		{"http://h/%", "http://h/%"},
		{"\nhttp://h/a\tb", "http://h/ab"},
		{`https:\\h\x`, "https://h/x"},
		{"https:///h/x", "https://h/x"},
		{"https:h/x", "https://h/x"},
		{"http://0x7f.1/", "http://127.0.0.1/"},
		{"http://2130706433/", "http://127.0.0.1/"},
		{"http://[::FFFF:1]:80/", "http://[::ffff:1]/"},
		{"http://BÜCHER.example/", "http://xn--bcher-kva.example/"},
		{"http://xn--a/", "http://xn--a/"},
		{"/caf\xe9 x", "http://h.test/caf%EF%BF%BD%20x"},
	} {
		got, err := Resolve("http://h.test/dir/page", s.ref)
		if err != nil || got != s.want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", s.ref, got, err, s.want)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	t.Parallel()
	for _, s := range []struct{ base, ref, reason string }{
		{"http://h/", "http://h:80a/", "port is not a number"},
		{"http://h/", "http://h:99999/", "outside the range"},
		{"http://h/", "http://a b/", "forbidden domain code point"},
		{"", "page.html", "missing a scheme"},
		{"mailto:x", "page.html", "missing a scheme"},
		{"page.html", "http://h/", "missing a scheme"},
		{"http://h/", "/é" + strings.Repeat("a", maxRepair), "bytes long"},
		{"http://h/", "data:é" + strings.Repeat("a", maxRepairData), "bytes long"},
		{"http://h/", "http://u:" + strings.Repeat("@", 101) + "h/", "at signs"},
	} {
		got, err := Resolve(s.base, s.ref)
		var bad *Error
		if !errors.As(err, &bad) || !strings.Contains(bad.Reason, s.reason) {
			t.Errorf("Resolve(%q, %.40q) = %q, %v; want an *Error with %q", s.base, s.ref, got, err, s.reason)
			continue
		}
		if len(bad.Error()) > 1000 {
			t.Errorf("the error of %.40q is %d bytes long", s.ref, len(bad.Error()))
		}
	}
}

// TestLongReference proves that the limit of the parser is not one of the scanners.
func TestLongReference(t *testing.T) {
	t.Parallel()
	long := "/" + strings.Repeat("a/b/../", maxRepair)
	if got, err := Resolve("http://h/", long); err != nil || len(got) < maxRepair {
		t.Errorf("Resolve of %d clean bytes: %d bytes, %v", len(long), len(got), err)
	}
}

func TestInEncoding(t *testing.T) {
	t.Parallel()
	base, err := NewBase("http://h/dir/")
	if err != nil {
		t.Fatal(err)
	}
	base = base.InEncoding(charmap.Windows1252)
	for _, s := range []struct{ ref, want string }{
		{"é?q=é#é", "http://h/dir/%C3%A9?q=%E9#%C3%A9"},
		{"?q=é&r=я", "http://h/dir/?q=%E9&r=%26%231103%3B"},
		{"x#?é", "http://h/dir/x#?%C3%A9"},
		{"https://h?é", "https://h/?%E9"},
		{"ws://h?é", "ws://h/?%C3%A9"},
		{"foo://h?é", "foo://h?%C3%A9"},
	} {
		if got, err := base.Resolve(s.ref); err != nil || got != s.want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", s.ref, got, err, s.want)
		}
	}
}

func TestTrimFragment(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"http://h/a#b#c": "http://h/a", "http://h/a": "http://h/a", "#": ""} {
		if got := TrimFragment(in); got != want {
			t.Errorf("TrimFragment(%q) = %q, want %q", in, got, want)
		}
	}
}
