package h1

import (
	"bytes"
	"slices"
	"strconv"
)

// framing is what a head says about where its body ends.
type framing struct {
	lengths []string // that differ, the first two
	codings []string // of the body besides chunked, in the order in which they were applied
	chunked bool
}

// addLength takes the value of a Content-Length. A list of equal numbers is that
// number (RFC 9110 §8.6). It reports whether the value is a length at all: else
// the body goes on to the end of the connection, as without.
func (f *framing) addLength(value []byte, h *head) bool {
	if bytes.IndexByte(value, ',') >= 0 {
		h.notes |= HeaderMended
	}
	lengths := f.lengths
	for one := range bytes.SplitSeq(value, []byte(",")) {
		one = bytes.TrimSpace(one)
		if !isLength(one) {
			return false
		}
		if len(lengths) < 2 && !slices.Contains(lengths, string(one)) {
			lengths = append(lengths, string(one))
		}
	}
	f.lengths = lengths
	return true
}

func isLength(b []byte) bool {
	_, err := strconv.ParseUint(string(b), 10, 63)
	return err == nil
}

// addCodings takes the value of a Transfer-Encoding. Chunked counts once. What else
// stands there was done to the body and becomes a Content-Encoding (RFC 9112 §7.2),
// which those who can decode it know; nobody has asked for it.
func (f *framing) addCodings(value []byte, h *head) {
	for coding := range bytes.SplitSeq(value, []byte(",")) {
		coding, _, _ = bytes.Cut(coding, []byte(";"))
		name := string(bytes.ToLower(bytes.TrimSpace(coding)))
		if name == "chunked" && !f.chunked {
			f.chunked = true
			continue
		}
		h.notes |= HeaderMended
		switch name {
		case "gzip", "x-gzip", "deflate":
			f.codings = append(f.codings, name)
		}
	}
}

// frame appends the lines that say where the body ends. Lengths that differ are
// left for the reader to refuse: who believes in one of them may be made to take
// the end of a body for a response (RFC 9112 §6.3). Chunks came with HTTP/1.1.
func (h *head) frame(dst []byte, f *framing) []byte {
	h.chunked, h.torn = f.chunked && !h.old, len(f.lengths) > 1 && !f.chunked
	h.length = -1
	if len(f.lengths) == 1 {
		h.length, _ = strconv.ParseInt(f.lengths[0], 10, 64) // it is one
	}
	for _, length := range f.lengths {
		dst = append(append(append(dst, "Content-Length: "...), length...), "\r\n"...)
	}
	for _, coding := range f.codings {
		dst = append(append(append(dst, "Content-Encoding: "...), coding...), "\r\n"...)
	}
	if h.chunked {
		dst = append(dst, "Transfer-Encoding: chunked\r\n"...)
	}
	return dst
}
