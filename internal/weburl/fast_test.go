package weburl

import (
	"math/rand/v2"
	"strings"
	"testing"
)

var bases = []string{
	page, "https://example.org/", "http://h:8080/a//b/", "http://user:pw@h.test/x/y;z", "file:///a/b",
	"mailto:x@y", "http://127.0.0.1/d/e", "foo://host/p/q", "https://xn--bcher-kva.example/a?b", "",
}

// sameAsParser fails if a scanner answers something else than the parser.
func sameAsParser(t *testing.T, baseURL, ref string) {
	t.Helper()
	base, err := NewBase(baseURL)
	if want, wantErr := parse("", trimEnds(baseURL)); err == nil && trimEnds(baseURL) != "" {
		if wantErr != nil || base.href != TrimFragment(want) {
			t.Errorf("NewBase(%q) = %q, the parser says %q, %v", baseURL, base.href, want, wantErr)
		}
	}
	if err != nil {
		return
	}
	ref = trimEnds(ref)
	if got, ok := base.fast(ref); ok {
		if want, err := parse(base.href, ref); err != nil || got != want {
			t.Errorf("%q in %q: scanner %q, parser %q, %v", ref, baseURL, got, want, err)
		}
	}
}

func TestFastEqualsParser(t *testing.T) {
	t.Parallel()
	answered := 0
	base, _ := NewBase(page)
	for _, s := range shapes {
		for _, b := range bases {
			sameAsParser(t, b, s.ref)
		}
		if _, ok := base.fast(s.ref); ok {
			answered++
		}
	}
	if answered < len(shapes)/2 {
		t.Errorf("the scanners answer %d of %d common shapes, want at least half", answered, len(shapes))
	}
}

// TestFastEqualsParserRandom puts pieces together that matter to a URL parser.
func TestFastEqualsParserRandom(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"http://", "https://", "HTTP:", "//", "/", "/", "/", ".", "..", "./", "../", "?", "#", ":", "@", "%", "%2e", "%2F", "a", "b.c",
		"example.com", "xn--a", "-", "_", "0", "1.2.3.4", "80", ":443", "[::1]", "x y", "'", "\"", "^", "|", "{", "`", "\\", "é", "=", "&", ";", "mailto:", "data:", "\x7f", "file:",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var ref strings.Builder
		for range 1 + rnd.IntN(7) {
			ref.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		sameAsParser(t, bases[rnd.IntN(len(bases))], ref.String())
	}
}

func FuzzResolve(f *testing.F) {
	for _, s := range shapes {
		f.Add(page, s.ref)
	}
	for _, b := range bases {
		f.Add(b, "../x")
		f.Add(b, "//y/z#f")
	}
	f.Add("http://-1", "0")
	f.Add("http:Xn--tp", "c:L")
	f.Add("https://xn--000aa-kxamply", "%00")
	f.Fuzz(func(t *testing.T, base, ref string) {
		if len(base)+len(ref) > 2000 || strings.Count(base+ref, "@") > maxRepairAt { // the scanners know no limits
			return
		}
		sameAsParser(t, base, ref)
		sameAsParser(t, "", base)
		got, err := Resolve(base, ref)
		if err != nil {
			return
		}
		if again, err := Resolve("", got); err == nil && again != got && Scheme(got) != "" && isSpecial(Scheme(got)) {
			t.Errorf("Resolve(%q, %q) = %q, which resolves to %q", base, ref, got, again)
		}
	})
}
