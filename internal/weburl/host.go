package weburl

import (
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// lookup is the processing of UTS 46 with the flags of the WHATWG URL Standard
// §3.3 for "beStrict is false".
var lookup = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(), idna.CheckJoiners(true),
	idna.CheckHyphens(false), idna.StrictDomainName(false), idna.VerifyDNSLength(false))

// The full parser asks for more of a name than the standard does, and takes a
// label of many digits and a letter for a number. So it gets a name that we have
// put into its final form in a disguise, and we take that off again. What is no
// name, or a wrong one, it sees as it is: it reads addresses, and says what is
// amiss.

// disguise is what the parser gets to see of a host.
func disguise(u *whatwg.Url, host string) string {
	if !u.IsSpecialScheme() || host == "" || host[0] == '[' {
		return host
	}
	if name, ok := domainToASCII(decodePercent(host)); ok && !endsInNumber(name) {
		return mask + hex.EncodeToString([]byte(name))
	}
	return host
}

// mask begins a name in disguise. It keeps it from being a number.
const mask = "x"

// undisguise returns the host behind a disguise.
func undisguise(_ *whatwg.Url, host string) string {
	if coded, ok := strings.CutPrefix(host, mask); ok {
		if name, err := hex.DecodeString(coded); err == nil {
			return string(name)
		}
	}
	return host
}

// domainToASCII puts a name into the form in which it is looked up (WHATWG URL
// §3.3). ASCII is taken as it is, also where a label "xn--…" means nothing:
// browsers look it up all the same.
func domainToASCII(domain string) (string, bool) {
	if isASCII(domain) {
		domain = strings.ToLower(domain)
	} else {
		if !utf8.ValidString(domain) {
			return "", false
		}
		ascii, err := lookup.ToASCII(newer(domain))
		if err != nil {
			return "", false
		}
		domain = ascii
	}
	return domain, domain != "" && allowedDomain(domain)
}

// newer applies what UTS 46 has added to its mapping since the tables of
// x/net/idna: more capitals have a small form, more characters are ignored.
func newer(domain string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x10A0 && r <= 0x10C5, r == 'Ӏ', r == 'Ⅎ', r == 'Ↄ', r == 'ẞ':
			return unicode.ToLower(r)
		case r >= 0x115F && r <= 0x1160, r >= 0x17B4 && r <= 0x17B5, r == 0x180E, r >= 0x2061 && r <= 0x2063,
			r >= 0x206A && r <= 0x206F, r == 0x3164, r == 0xFFA0, r >= 0x1D173 && r <= 0x1D17A:
			return -1
		}
		return r
	}, norm.NFC.String(domain))
}

// allowedDomain reports whether a name in ASCII has none of the forbidden domain
// code points (WHATWG URL §3.2).
func allowedDomain(domain string) bool {
	for i := range len(domain) {
		if c := domain[i]; c <= ' ' || c > '~' || strings.IndexByte("#%/:<>?@[\\]^|", c) >= 0 {
			return false
		}
	}
	return true
}

// endsInNumber reports whether a name is to be read as an IPv4 address (WHATWG
// URL §3.5, ends in a number checker).
func endsInNumber(domain string) bool {
	domain = strings.TrimSuffix(domain, ".")
	last := domain[strings.LastIndexByte(domain, '.')+1:]
	if digits, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// decodePercent decodes the escapes of a host.
func decodePercent(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	dst := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if v := escaped(s, i); v >= 0 {
			dst = append(dst, byte(v))
			i += 2
		} else {
			dst = append(dst, s[i])
		}
	}
	return string(dst)
}
