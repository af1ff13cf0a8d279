package scheduler

import (
	"crypto/sha1"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/skeincrawl/skein/internal/weburl"
)

// FingerprinterName is the name by which jobs know [FingerprintOf].
const FingerprinterName = "sha1"

// Fingerprint identifies a request: two requests with the same fingerprint ask
// for the same resource. It is a SHA-1 sum, equal to that of Scrapy's
// default fingerprinter.
type Fingerprint [sha1.Size]byte

// String returns the fingerprint in lower-case hexadecimal digits, as Scrapy
// writes it.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// FingerprintOption changes what enters a fingerprint.
type FingerprintOption func(*fingerprintConfig)

type fingerprintConfig struct {
	header    http.Header
	names     []string
	fragments bool
	verbatim  bool
}

// IncludeHeaders makes the named headers part of the fingerprint. The order and
// the letter case of the names do not matter; a name that the header lacks is
// as good as none.
func IncludeHeaders(header http.Header, names ...string) FingerprintOption {
	return func(c *fingerprintConfig) { c.header, c.names = header, names }
}

// KeepFragments makes the fragment of the URL part of the fingerprint.
func KeepFragments() FingerprintOption {
	return func(c *fingerprintConfig) { c.fragments = true }
}

// VerbatimURL takes the URL byte for byte, fragment included, and not in its
// canonical form.
func VerbatimURL() FingerprintOption {
	return func(c *fingerprintConfig) { c.verbatim = true }
}

// FingerprintOf returns the fingerprint of a request: the SHA-1 of a JSON
// object of body, headers, method and canonical URL, as Scrapy computes it. An
// empty method is GET. Without options and body it does not allocate.
func FingerprintOf(method, url string, body []byte, opts ...FingerprintOption) Fingerprint {
	if len(opts) > 0 {
		return fingerprintWith(method, url, body, opts)
	}
	return fingerprint(method, url, body, fingerprintConfig{})
}

// fingerprintWith is apart because the options make the configuration escape.
func fingerprintWith(method, url string, body []byte, opts []FingerprintOption) Fingerprint {
	var c fingerprintConfig
	for _, opt := range opts {
		opt(&c)
	}
	return fingerprint(method, url, body, c)
}

// hashPiece is the length of body in bytes above which it is hashed piece by
// piece, so that no copy of it in hexadecimal digits is made.
const hashPiece = 256

func fingerprint(method, url string, body []byte, c fingerprintConfig) Fingerprint {
	if len(body) > hashPiece {
		return fingerprintLarge(method, url, body, &c)
	}
	var stack [768]byte
	buf := append(stack[:0], bodyKey...)
	buf = hex.AppendEncode(buf, body)
	return sha1.Sum(appendRest(buf, method, url, &c))
}

// bodyKey begins the JSON object, up to the digits of the body.
const bodyKey = `{"body": "`

func fingerprintLarge(method, url string, body []byte, c *fingerprintConfig) Fingerprint {
	h := sha1.New()
	h.Write([]byte(bodyKey))
	var digits [2 * hashPiece]byte
	for piece := range slices.Chunk(body, hashPiece) {
		h.Write(digits[:hex.Encode(digits[:], piece)])
	}
	h.Write(appendRest(nil, method, url, c))
	return Fingerprint(h.Sum(nil))
}

// appendRest appends all that follows the digits of the body.
func appendRest(dst []byte, method, url string, c *fingerprintConfig) []byte {
	dst = append(dst, `", "headers": {`...)
	dst = appendHeaders(dst, c)
	dst = append(dst, `}, "method": `...)
	if method == "" {
		method = http.MethodGet
	}
	dst = appendJSONString(dst, strings.ToUpper(method))
	dst = append(dst, `, "url": `...)
	if c.verbatim {
		dst = appendJSONString(dst, url)
	} else {
		dst = appendCanonicalURL(dst, url, c.fragments)
	}
	return append(dst, '}')
}

// appendCanonicalURL writes the canonical form in place and goes over it again
// only if JSON has to escape something in it, as in hosts that are no names.
func appendCanonicalURL(dst []byte, url string, fragments bool) []byte {
	start := len(dst)
	dst = append(dst, '"')
	dst = weburl.AppendCanonical(dst, url, fragments)
	if plainJSON(dst[start+1:]) {
		return append(dst, '"')
	}
	return appendJSONString(dst[:start], string(dst[start+1:]))
}

// appendHeaders appends the included headers in the order of their names in
// hexadecimal digits, which is that of the names in lower case.
func appendHeaders(dst []byte, c *fingerprintConfig) []byte {
	names := make([]string, 0, len(c.names))
	for _, name := range c.names {
		names = append(names, strings.ToLower(name))
	}
	slices.Sort(names)
	separator := ""
	for _, name := range slices.Compact(names) {
		values, ok := headerValues(c.header, name)
		if !ok {
			continue
		}
		dst = append(append(dst, separator...), '"')
		dst = hex.AppendEncode(dst, []byte(name))
		dst = append(dst, `": [`...)
		for i, v := range values {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(dst, '"')
			dst = hex.AppendEncode(dst, []byte(v))
			dst = append(dst, '"')
		}
		dst = append(dst, ']')
		separator = ", "
	}
	return dst
}

// headerValues looks a name up in any letter case.
func headerValues(header http.Header, name string) (values []string, ok bool) {
	if values, ok = header[http.CanonicalHeaderKey(name)]; ok {
		return values, true
	}
	for key, values := range header {
		if strings.EqualFold(key, name) {
			return values, true
		}
	}
	return nil, false
}

// plainJSON reports whether s can stand in a JSON string as it is.
func plainJSON[T string | []byte](s T) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// appendJSONString appends s as Python's json.dumps writes it: in ASCII, with
// escapes in lower-case digits. What is not UTF-8 becomes U+FFFD.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	if plainJSON(s) {
		return append(append(dst, s...), '"')
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		dst = appendJSONRune(dst, r)
		i += size
	}
	return append(dst, '"')
}

func appendJSONRune(dst []byte, r rune) []byte {
	if i := strings.IndexRune("\"\\\n\r\t\f\b", r); i >= 0 {
		return append(dst, '\\', `"\nrtfb`[i])
	}
	switch {
	case r >= ' ' && r <= '~':
		return append(dst, byte(r))
	case r > 0xFFFF:
		high, low := utf16.EncodeRune(r)
		return appendUnicodeEscape(appendUnicodeEscape(dst, high), low)
	}
	return appendUnicodeEscape(dst, r)
}

func appendUnicodeEscape(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
