package scheduler

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skeincrawl/skein/internal/weburl"
)

func TestFingerprintKnown(t *testing.T) {
	t.Parallel()
	header := http.Header{"A": {"B"}}
	for _, s := range []struct {
		id, method, url, body, want string
		opts                        []FingerprintOption
	}{
		{"FP-01", "GET", "http://example.org", "", "7873d70c33756a15fed7649ba909e064bf9c5844", nil},
		{"FP-02", "GET", "https://example.org", "", "c03485502caa9106f874b4bd2ad9e98a3a6dc36c", nil},
		{"FP-03", "GET", "https://example.org?a", "", "47adb8436b191ced83382c01c4de3beea594610c", nil},
		{"FP-04", "GET", "https://example.org?a=b", "", "02344d59628ac21ebc3ed6ac2ada9c46c1727f17", nil},
		{"FP-05", "GET", "https://example.org?a=b&a", "", "742be82afb84e3761a7d8870c0cc42d79dfe7a96", nil},
		{"FP-06", "GET", "https://example.org?a=b&a=c", "", "da1e63d09c087360b49be2b652f86befea5147ef", nil},
		{"FP-07", "POST", "https://example.org", "", "9dcd410f54023acaa07d90da0542de648a4e371d", nil},
		{"FP-08", "GET", "https://example.org", "a", "c3347a3ed8998bda3705729949a8a0783ba4315f", nil},
		{"FP-09", "post", "https://example.org", "a", "3560e27934d09deee0ba74778751e84fd738fce7", nil},
		{"FP-10", "", "https://example.org#a", "", "c03485502caa9106f874b4bd2ad9e98a3a6dc36c", nil},
		{"FP-11", "", "https://example.org#a", "", "5dc71ff2af4732bca4fa990a3333da189481552e", []FingerprintOption{IncludeHeaders(header, "A")}},
		{"FP-12", "", "https://example.org#a", "", "3c1aeb8579de57fbdc7188eeaf17dd0cbf48181f", []FingerprintOption{KeepFragments()}},
		{"FP-13", "", "https://example.org#a", "", "c1ef7e949b53c18309dc7a389fdc7b1116492e11", []FingerprintOption{KeepFragments(), IncludeHeaders(header, "a")}},
		{"FP-14", "", "https://example.org/ab", "", "4ee56cb812406977e2f31b70eaff702175e28ac6", nil},
		{"FP-14", "", "https://example.org/a", "b", "5f4e4f76bc6f2436fc579fb234679fbbdda832c5", nil},
		{"FP-15", "", "http://www.example.com/query?id=111&cat=222", "", "8fcf173c15d0d14f77c0c9a61209caf224e90164", nil},
		{"FP-15", "", "http://www.example.com/query?cat=222&id=111", "", "8fcf173c15d0d14f77c0c9a61209caf224e90164", nil},
		{"FP-16", "", "http://example.com", "", "cebe46deeab7ee5915824a38cf73ee6f7eb0aba5", nil},
		{"FP-16", "", "http://example.com/", "", "cebe46deeab7ee5915824a38cf73ee6f7eb0aba5", nil},
		{"FP-17", "POST", "http://example.com/", "a=1", "f5a2f223e4d94b1dfd8c72bcb1a426d1f43b96a1", nil},
		{"FP-18", "", "http://example.com/b?b=1&a=2", "", "950286946db4b16106891a48bc40dc6cb002471e", []FingerprintOption{VerbatimURL()}},
		{"FP-19", "", "data:,", "", "89a0c290ca69edc783d6c12bd1cd4e78c3fe59de", nil},
	} {
		t.Run(s.id, func(t *testing.T) {
			t.Parallel()
			if got := FingerprintOf(s.method, s.url, []byte(s.body), s.opts...); got.String() != s.want {
				t.Errorf("fingerprint of %q %q %q = %s, want %s", s.method, s.url, s.body, got, s.want)
			}
		})
	}
}

func TestFingerprintPairs(t *testing.T) {
	t.Parallel()
	header := http.Header{"Accept-Language": {"en"}, "X-Id": {"1", "2"}, "lower-case": {"x"}}
	const page = "http://www.example.com/"
	get := func(url string, opts ...FingerprintOption) Fingerprint {
		return FingerprintOf("GET", url, nil, opts...)
	}
	for _, s := range []struct {
		id    string
		a, b  Fingerprint
		equal bool
	}{
		{"FP-20", get(page + "?78132,199"), get(page + "?78160,199"), false},
		{"FP-21", get(page, IncludeHeaders(header, "x-ID", "Accept-Language")), get(page, IncludeHeaders(header, "accept-language", "X-Id")), true},
		{"FP-21 a name twice", get(page, IncludeHeaders(header, "X-Id", "x-id")), get(page, IncludeHeaders(header, "X-Id")), true},
		{"FP-21 a key in lower case", get(page, IncludeHeaders(header, "Lower-Case")), get(page), false},
		{"FP-22", get(page, IncludeHeaders(header, "Missing")), get(page), true},
		{"FP-23", get(page+"?a=1&b=2", VerbatimURL()), get(page+"?b=2&a=1", VerbatimURL()), false},
		{"FP-24", get(page+"test#fragment", VerbatimURL()), get(page+"test", VerbatimURL()), false},
		{"FP-24 fragments", get(page+"test#fragment", VerbatimURL()), get(page+"test#fragment", VerbatimURL(), KeepFragments()), true},
	} {
		if (s.a == s.b) != s.equal {
			t.Errorf("%s: %s and %s, want equal %v", s.id, s.a, s.b, s.equal)
		}
	}
}

// plain computes a fingerprint by the formula, with encoding/json's strings.
func plain(t *testing.T, method, url string, body []byte) string {
	t.Helper()
	object := `{"body": "` + hex.EncodeToString(body) + `", "headers": {}, "method": ` +
		ascii(t, method) + `, "url": ` + ascii(t, url) + `}`
	sum := sha1.Sum([]byte(object))
	return hex.EncodeToString(sum[:])
}

// ascii writes s as JSON in the ASCII of Python's json.dumps.
func ascii(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	var out []byte
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		if r < utf8.RuneSelf && r != 0x7F {
			out = append(out, byte(r))
		} else {
			out = appendJSONRune(out, r)
		}
	}
	return string(out)
}

func TestFingerprintBodies(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, hashPiece - 1, hashPiece, hashPiece + 1, 3*hashPiece + 7, 1 << 20} {
		body := bytes.Repeat([]byte{0xAB}, n)
		want := plain(t, "POST", "http://h/", body)
		if got := FingerprintOf("POST", "http://h/", body).String(); got != want {
			t.Errorf("body of %d bytes: %s, want %s", n, got, want)
		}
	}
}

// TestJSONString has what Python 3 writes for these strings.
func TestJSONString(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"GET":                `"GET"`,
		"a\"b\\c/":           `"a\"b\\c/"`,
		"\n\r\t\f\b\x00\x1f": `"\n\r\t\f\b\u0000\u001f"`,
		"\x7f":               `"\u007f"`,
		"é€":                 `"\u00e9\u20ac"`,
		"😀":                  `"\ud83d\ude00"`,
		"\xff":               `"\ufffd"`,
		"<&>":                `"<&>"`,
	} {
		if got := string(appendJSONString(nil, in)); got != want {
			t.Errorf("appendJSONString(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestFingerprintAllocatesNothing(t *testing.T) {
	const url = "https://www.example.com/catalogue/a-light-in-the-attic_1000/index.html?page=2"
	if n := testing.AllocsPerRun(100, func() { FingerprintOf("GET", url, nil) }); n != 0 {
		t.Errorf("FingerprintOf allocates %v times, want none", n)
	}
}

func FuzzFingerprint(f *testing.F) {
	f.Add("GET", "http://h/?b&a", []byte(nil))
	f.Add("é", "http://.é/\"", []byte("x"))
	f.Fuzz(func(t *testing.T, method, url string, body []byte) {
		if method == "" || !utf8.ValidString(url) || strings.ToUpper(method) != method || !utf8.ValidString(method) {
			return
		}
		if got, want := FingerprintOf(method, url, body).String(), plain(t, method, weburl.Canonicalize(url, false), body); got != want {
			t.Errorf("FingerprintOf(%q, %q, %q) = %s, want %s", method, url, body, got, want)
		}
		if got, want := FingerprintOf(method, url, body, VerbatimURL()).String(), plain(t, method, url, body); got != want {
			t.Errorf("verbatim: FingerprintOf(%q, %q, %q) = %s, want %s", method, url, body, got, want)
		}
	})
}

func BenchmarkFingerprint(b *testing.B) {
	for _, s := range []struct{ name, url string }{
		{"path", "https://www.example.com/catalogue/a-light-in-the-attic_1000/index.html"},
		{"query", "https://www.example.com/catalogue/page.html?page=2&sort=name"},
		{"sort", "https://www.example.com/catalogue/page.html?sort=name&page=2"},
	} {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				FingerprintOf("GET", s.url, nil)
			}
		})
	}
}
