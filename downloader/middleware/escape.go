package middleware

import "unicode/utf8"

// escapeBytes escapes the bytes of a Location header that are not UTF-8 as they
// came: servers send names of files in any encoding, and know them again only
// by these bytes.
func escapeBytes(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, len(s)+16)
	for i := range len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			b = append(b, c)
		} else {
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(b)
}
