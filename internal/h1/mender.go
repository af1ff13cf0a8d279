package h1

import "bytes"

// MaxHead is the most bytes that a [Mender] keeps of a head that has not ended.
// What is longer goes on as it came: its reader has a limit of its own.
const MaxHead = 1 << 20

// A Note tells what had to be changed in a response.
type Note uint8

// The changes.
const (
	// HeaderSkipped: a line of the head was left out, since it is no header.
	HeaderSkipped Note = 1 << iota

	// HeaderMended: the first line or the value of a header was changed.
	HeaderMended

	// ChunksMended: the lines between the chunks of the body were changed.
	ChunksMended

	// NoHead: there was no head, as in HTTP/0.9, and one was made up.
	NoHead
)

// A Mender turns the bytes that a server sends on a connection, one response
// after the other, into such as net/http reads. What needs no change goes through
// as it is; what follows a response and belongs to none is left out. The zero value
// passes all on until [Mender.Begin]. It is not safe for concurrent use.
type Mender struct {
	phase  phase
	buf    []byte // from at on, what is not decided on yet
	at     int
	left   int64 // of the body, while its length is known
	extra  bool  // there was something behind a response
	head   bool  // the answer is to HEAD
	later  bool  // not the first response
	notes  *Note
	lines  lines
	chunks chunks
}

// A phase is where in a response a mender is.
type phase uint8

const (
	passing  phase = iota // what ends with the connection, or is no response
	inHead                // of the response, or of one before it (1xx)
	inBody                // with a length
	inChunks              // of a chunked body
	ended                 // behind a response
)

// Begin says that a response to a new request comes next, to HEAD or not. What
// is changed in it is put into notes.
func (m *Mender) Begin(head bool, notes *Note) {
	m.phase, m.head, m.notes, m.lines = inHead, head, notes, lines{}
}

// Extra reports whether the server has sent something behind a response to which
// there was no request, or is likely to. What the next response on the connection is
// can not be told then.
func (m *Mender) Extra() bool { return m.extra }

// Pass counts n bytes that are passed on as they are. It reports false if
// [Mender.Push] has to look at them first.
func (m *Mender) Pass(n int) bool {
	switch {
	case m.phase == passing:
		return true
	case m.phase != inBody || int64(n) > m.left:
		return false
	}
	m.count(n)
	return true
}

// count takes n bytes off a body with a length.
func (m *Mender) count(n int) {
	if m.left -= int64(n); m.left == 0 {
		m.phase = ended
	}
}

// Push appends to dst what is decided of the bytes seen so far. The rest stays for
// later calls; with eof, at the end of the connection, nothing stays.
func (m *Mender) Push(dst, b []byte, eof bool) []byte {
	if m.at > 0 {
		m.buf, m.at = m.buf[:copy(m.buf, m.rest())], 0
	}
	m.buf = append(m.buf, b...)
	for more := true; more && (len(m.rest()) > 0 || eof); {
		dst, more = m.step(dst, eof)
	}
	if eof {
		dst = append(dst, m.rest()...)
		m.take(len(m.rest()))
	}
	return dst
}

// step takes what it can of the rest, and reports whether it may go on.
func (m *Mender) step(dst []byte, eof bool) ([]byte, bool) {
	switch m.phase {
	case inHead:
		return m.readHead(dst, eof)
	case inChunks:
		return m.readChunks(dst, eof)
	case ended:
		m.extra = m.extra || len(m.rest()) > 0
		m.take(len(m.rest()))
		return dst, false
	case inBody:
		n := int(min(m.left, int64(len(m.rest()))))
		dst = append(dst, m.rest()[:n]...)
		m.take(n)
		m.count(n)
		return dst, n > 0
	}
	dst = append(dst, m.rest()...)
	m.take(len(m.rest()))
	return dst, false
}

func (m *Mender) rest() []byte { return m.buf[m.at:] }

// take removes the first n bytes of the rest.
func (m *Mender) take(n int) { m.at += n }

// readHead waits for the end of a head, mends it, and decides what follows it.
func (m *Mender) readHead(dst []byte, eof bool) ([]byte, bool) {
	if m.bare() {
		*m.notes |= NoHead
		m.phase = passing
		return append(dst, "HTTP/1.0 200 OK\r\n\r\n"...), true
	}
	n := m.lines.end(m.rest())
	if n < 0 {
		if eof && m.lines.some { // half a line would be taken for a wrong one
			m.buf = m.buf[:m.at+m.lines.start]
		}
		if eof || len(m.rest()) > MaxHead {
			m.phase = passing
		}
		return dst, m.phase == passing
	}
	m.later, m.lines = true, lines{}
	dst, h := mend(dst, m.rest()[:n])
	*m.notes |= h.notes
	m.take(n)
	m.expect(&h)
	return dst, true
}

// expect decides what follows a head (RFC 9112 §6.3).
func (m *Mender) expect(h *head) {
	switch {
	case h.status == 0 || h.status == 101 || h.torn: // its reader will say that it is no response
		m.phase = passing
	case h.status/100 == 1: // the head of the response is still to come
	case m.head && h.chunked: // servers that say so in vain may send the chunks, too
		m.phase, m.extra = ended, true
	case m.head || h.status == 204 || h.status == 304 || h.length == 0 && !h.chunked:
		m.phase = ended
	case h.chunked:
		m.phase, m.chunks = inChunks, chunks{}
	case h.length > 0:
		m.phase, m.left = inBody, h.length
	default:
		m.phase = passing
	}
}

// bare reports whether what comes first on the connection is a page without a
// head. Anything but markup is not taken for one: it may be another protocol.
func (m *Mender) bare() bool {
	if m.later || m.lines.some {
		return false
	}
	begin := m.rest()[:min(len(m.rest()), 16)]
	return bytes.HasPrefix(bytes.TrimLeft(begin, "\r\n\t "), []byte("<"))
}

// lines is how far a head was searched for its end. No byte is looked at twice,
// however few come at a time.
type lines struct {
	start, seen int
	some        bool // a line that is not blank was there
}

// end returns the length of a head with the blank line that ends it, or -1. Blank
// lines before the first line do not end it (RFC 9112 §2.2).
func (l *lines) end(b []byte) int {
	for {
		n := bytes.IndexByte(b[l.seen:], '\n')
		if n < 0 {
			l.seen = len(b)
			return -1
		}
		l.seen += n + 1
		blank := l.seen-l.start <= 2 && len(bytes.Trim(b[l.start:l.seen], "\r\n")) == 0
		if blank && l.some {
			return l.seen
		}
		l.some, l.start = l.some || !blank, l.seen
	}
}
