package h1

import (
	"bytes"
	"slices"
	"strconv"
)

// head is what is known of a head that was mended.
type head struct {
	status  int
	old     bool // HTTP/1.0
	chunked bool
	length  int64 // of the body, -1 if that is not known
	torn    bool  // between lengths that differ
	notes   Note
}

// mend appends a whole head to dst in the form that net/http reads: without the
// lines that are no headers, and with a length that is one number.
func mend(dst, raw []byte) ([]byte, head) {
	var h head
	from := len(raw) - len(bytes.TrimLeft(raw, "\r\n"))
	line, rest := cutLine(raw[from:])
	if from > 0 {
		h.notes |= HeaderMended
	}
	dst = h.firstLine(dst, line)
	folds, rest := cutFolds(rest)
	if len(folds) > 0 { // what is folded under the first line is no header
		h.notes |= HeaderSkipped
	}
	var body framing
	for len(rest) > 0 {
		line, rest = cutLine(rest)
		if len(line) == 0 {
			break
		}
		folds, rest = cutFolds(rest)
		at, skip := len(dst), false
		if dst, skip = h.line(dst, line, folds, &body); skip {
			dst = dst[:at]
			h.notes |= HeaderSkipped
		}
	}
	dst = h.frame(dst, &body)
	return append(dst, "\r\n"...), h
}

// cutFolds returns the lines at the beginning of b that go on with the one before
// them (RFC 9112 §5.2), and what follows.
func cutFolds(b []byte) (folds, rest []byte) {
	rest = b
	for len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') {
		_, rest = cutLine(rest)
	}
	return b[:len(b)-len(rest)], rest
}

// cutLine returns the first line without what ends it, and what follows.
func cutLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

// firstLine appends the line with the status. The version may be in lower case,
// that of another protocol that answers like HTTP, or one that is not spoken
// without having been agreed on. What is no such line stays as it is.
func (h *head) firstLine(dst, line []byte) []byte {
	version, rest, _ := bytes.Cut(line, []byte(" "))
	rest = bytes.TrimLeft(rest, " ")
	code, _, _ := bytes.Cut(rest, []byte(" "))
	status, err := strconv.ParseUint(string(code), 10, 16)
	proto := protocol(version)
	if err != nil || len(code) != 3 || proto == "" {
		return append(append(dst, line...), "\r\n"...)
	}
	h.status, h.old = int(status), proto == "HTTP/1.0"
	if proto != string(version) {
		h.notes |= HeaderMended
	}
	dst = append(append(dst, proto...), ' ')
	return append(append(dst, rest...), "\r\n"...)
}

// protocol returns the version of HTTP/1 that a version stands for, "" for none.
func protocol(version []byte) string {
	name, number, _ := bytes.Cut(bytes.ToUpper(version), []byte("/"))
	switch {
	case string(name) == "ICY": // SHOUTcast
		return "HTTP/1.0"
	case string(name) != "HTTP" || len(number) > 3:
		return ""
	case len(number) == 0, number[0] == '0', string(number) == "1.0":
		return "HTTP/1.0"
	case number[0] < '0' || number[0] > '9':
		return ""
	}
	return "HTTP/1.1"
}

// line appends the line of a header with those folded under it, or says that it is
// to be skipped. Lines that say where the body ends are put into f instead.
func (h *head) line(dst, line, folds []byte, f *framing) (_ []byte, skip bool) {
	name, value, ok := bytes.Cut(line, []byte(":"))
	trimmed := bytes.TrimRight(name, " \t")
	if !ok || !isToken(trimmed) {
		return dst, true
	}
	if len(trimmed) < len(name) {
		h.notes |= HeaderMended
	}
	switch {
	case bytes.EqualFold(trimmed, []byte("Content-Length")):
		return dst, !f.addLength(unfolded(value, folds), h)
	case bytes.EqualFold(trimmed, []byte("Transfer-Encoding")):
		f.addCodings(unfolded(value, folds), h)
		return dst, false
	}
	dst = append(append(dst, trimmed...), ':')
	dst = append(h.value(dst, value), "\r\n"...)
	for len(folds) > 0 {
		value, folds = cutLine(folds)
		dst = append(h.value(dst, value), "\r\n"...)
	}
	return dst, false
}

// unfolded returns a value in one line.
func unfolded(value, folds []byte) []byte {
	if len(folds) == 0 {
		return bytes.TrimSpace(value)
	}
	all := slices.Concat(value, folds)
	for i, c := range all {
		if c == '\r' || c == '\n' {
			all[i] = ' '
		}
	}
	return bytes.TrimSpace(all)
}

// value appends the value of a header, in which no control characters may be.
func (h *head) value(dst, value []byte) []byte {
	at := len(dst)
	dst = append(dst, value...)
	for i, c := range dst[at:] {
		if c < ' ' && c != '\t' || c == 0x7f {
			dst[at+i] = ' '
			h.notes |= HeaderMended
		}
	}
	return dst
}

// isToken reports whether b may be the name of a header (RFC 9110 §5.6.2).
func isToken(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c >= 0x7f || bytes.IndexByte([]byte(`"(),/:;<=>?@[\]{}`), c) >= 0 {
			return false
		}
	}
	return len(b) > 0
}
