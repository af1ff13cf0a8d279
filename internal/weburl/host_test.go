package weburl

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// The rules of UTS 46 as the WHATWG standard applies them: no bound on lengths,
// no STD3, and the mapping of newer versions of Unicode.
func TestHostNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("1", 70)
	for in, want := range map[string]string{
		long + "a.":        long + "a.",
		long + "é":         "xn--" + long + "-9eg",
		"≠.example":        "xn--1ch.example",
		"=\u0338.example":  "xn--1ch.example",
		"⑷.example":        "(4).example",
		"a\u115Fb.example": "ab.example",
		"\u3164":           "",
		"XN--ASCII-":       "xn--ascii-",
		"xn--zzzzzzzzz":    "xn--zzzzzzzzz",
		"é.xn--zzzzzzzzz":  "",
		"b%C3%BCcher":      "xn--bcher-kva",
		"%ff":              "",
		"a%2Fb":            "",
		"℀.example":        "",
		"x":                "x",
		"x61":              "x61",
		"１２７．1":            "127.0.0.1",
		"1.2.3.0xg":        "1.2.3.0xg",
		"a.0x":             "",
		"1.2.3.4.5":        "",
	} {
		if got := Host("https://" + in + "/"); got != want {
			t.Errorf("Host of %q = %q, want %q", in, got, want)
		}
	}
}

func TestOpaqueSpaces(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a:b  ?c ": "a:b %20?c",
		"a:b #c d": "a:b%20#c%20d",
		"a:b c":    "a:b c",
		"a:/b ?c":  "a:/b%20?c",
		"a:b? c":   "a:b?%20c",
	} {
		if got, err := Resolve("", in); err != nil || got != want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
}

// WHATWG Encoding Standard §10.2.2 and §12.2.2.
func TestQueryInEncoding(t *testing.T) {
	t.Parallel()
	jp := Base{}.InEncoding(japanese.ISO2022JP)
	gb := Base{}.InEncoding(simplifiedchinese.GB18030)
	for _, tt := range []struct {
		base Base
		want string
	}{
		{jp, "http://h/?a=%26%2365533%3B&b=%1B$B$%22$$%1B(B&c=%26%238364%3B"},
		{gb, "http://h/?a=%0E&b=%A4%A2%A4%A4&c=%A2%E3"},
	} {
		if got, err := tt.base.Resolve("http://h/?a=\x0e&b=あい&c=€"); err != nil || got != tt.want {
			t.Errorf("got %q, %v; want %q", got, err, tt.want)
		}
	}
	for enc, want := range map[encoding.Encoding]string{
		japanese.ISO2022JP: `%1B(J~%1B(B\%1B$B!]%1B(B%1B(J\%1B(B`,
		japanese.ShiftJIS:  `~\%81|\`,
		japanese.EUCJP:     `~\%A1%DD\`,
	} {
		base := Base{}.InEncoding(enc)
		if got, err := base.Resolve("http://h/?\u203E\\\u2212\u00A5"); err != nil || got != "http://h/?"+want {
			t.Errorf("%v: got %q, %v; want %q", enc, got, err, want)
		}
	}
	if got, err := gb.Resolve("http://h/?\uE5E5あ"); err != nil || got != "http://h/?%26%2358853%3B%A4%A2" {
		t.Errorf("got %q, %v", got, err)
	}
}
