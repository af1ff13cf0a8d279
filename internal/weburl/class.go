package weburl

// Character classes. A byte that lacks the class of its component makes the
// scanners give up, so a class may be too narrow but never too wide.
const (
	// inPath: the WHATWG parser copies it unchanged in a path. "^" is left out
	// because the standard's path percent-encode set has changed there.
	inPath = 1 << iota
	// inQuery: copied unchanged in the query of a special URL.
	inQuery
	// inFragment: copied unchanged in a fragment.
	inFragment
	// inHost: lower-case letters, digits, "-", "_" and ".".
	inHost
	// inScheme: RFC 3986 scheme characters, either case.
	inScheme
	// unreserved: RFC 3986 unreserved characters.
	unreserved
	// pathSafe: what w3lib leaves alone in the last pass over a path.
	pathSafe
	// safest: what w3lib's safe_url_string leaves alone in paths and fragments.
	safest
	// safestQuery: the same in the query of a special URL.
	safestQuery
	// userSafe: what w3lib leaves alone in user names and passwords.
	userSafe
)

// classes maps a byte to its character classes. It is never written to after
// initialisation.
var classes = buildClasses()

func buildClasses() (t [256]uint16) {
	for c := byte('!'); c <= '~'; c++ {
		t[c] = inPath | inQuery | inFragment
	}
	without := func(class uint16, chars string) {
		for i := range len(chars) {
			t[chars[i]] &^= class
		}
	}
	without(inPath, "\"#<>?`{}^\\")
	without(inQuery, "\"#<>'")
	without(inFragment, "\"<>`")
	with := func(class uint16, chars string) {
		for i := range len(chars) {
			t[chars[i]] |= class
		}
	}
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	with(inHost, lower+digits+"-_.")
	with(inScheme, lower+upper+digits+"+-.")
	with(unreserved|pathSafe|safest|safestQuery|userSafe, lower+upper+digits+"-._~")
	with(pathSafe|safest|safestQuery, ":/?@!$&'()*+,;=%")
	without(safestQuery, "'")
	with(pathSafe, "[]|")
	with(userSafe, "!$&'()*+,")
	return t
}

// all reports whether every byte of s has the class.
func all(s string, class uint16) bool {
	for i := range len(s) {
		if classes[s[i]]&class == 0 {
			return false
		}
	}
	return true
}

// isASCII reports whether s has only bytes below 0x80.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

// unhex returns the value of a hexadecimal digit, or -1.
func unhex(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// escaped returns the byte that the escape at s[i:] stands for, or -1 if there
// is no whole escape.
func escaped(s string, i int) int {
	if i+2 >= len(s) || s[i] != '%' {
		return -1
	}
	hi, lo := unhex(s[i+1]), unhex(s[i+2])
	if hi < 0 || lo < 0 {
		return -1
	}
	return hi<<4 | lo
}

// appendEscape appends c as an upper-case percent escape.
func appendEscape(dst []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, '%', digits[c>>4], digits[c&15])
}

// appendQuoted appends s with every byte that lacks the class escaped.
func appendQuoted(dst []byte, s string, class uint16) []byte {
	for i := range len(s) {
		if c := s[i]; classes[c]&class != 0 {
			dst = append(dst, c)
		} else {
			dst = appendEscape(dst, c)
		}
	}
	return dst
}
