package h1

import (
	"bytes"
	"strconv"
)

// head is what is known of a head that was mended.
type head struct {
	status  int
	old     bool // HTTP/1.0
	chunked bool
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
	body, skipped := framing{}, true // what is folded under the first line is no header
	for len(rest) > 0 {
		line, rest = cutLine(rest)
		switch {
		case len(line) == 0:
			rest = nil
		case line[0] != ' ' && line[0] != '\t':
			at := len(dst)
			if dst, skipped = h.line(dst, line, &body); skipped {
				dst = dst[:at]
				h.notes |= HeaderSkipped
			}
		case skipped:
			h.notes |= HeaderSkipped
		default:
			dst = append(h.value(dst, line), "\r\n"...)
		}
	}
	dst = h.frame(dst, &body)
	return append(dst, "\r\n"...), h
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

// line appends the line of a header, or says that it is to be skipped. Lines that
// say where the body ends are put into f instead.
func (h *head) line(dst, line []byte, f *framing) (_ []byte, skip bool) {
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
		return dst, !f.addLength(bytes.TrimSpace(value), h)
	case bytes.EqualFold(trimmed, []byte("Transfer-Encoding")):
		f.addCodings(value, h)
		return dst, false
	}
	dst = append(append(dst, trimmed...), ':')
	return append(h.value(dst, value), "\r\n"...), false
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
