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
// as it is. The zero value passes all on until [Mender.Begin]. It is not safe for
// concurrent use.
type Mender struct {
	state  func(m *Mender, dst []byte, eof bool) ([]byte, bool) // nil passes all on
	buf    []byte                                               // from at on, what is not decided on yet
	at     int
	head   bool // the answer is to HEAD
	later  bool // not the first response
	notes  *Note
	lines  lines
	chunks chunks
}

// Begin says that a response to a new request comes next, to HEAD or not. What
// is changed in it is put into notes.
func (m *Mender) Begin(head bool, notes *Note) {
	m.state, m.head, m.notes, m.lines = (*Mender).readHead, head, notes, lines{}
}

// Passes reports whether [Mender.Push] would give back what it gets.
func (m *Mender) Passes() bool { return m.state == nil }

// Push appends to dst what is decided of the bytes seen so far. The rest stays for
// later calls; with eof, at the end of the connection, nothing stays.
func (m *Mender) Push(dst, b []byte, eof bool) []byte {
	if m.at > 0 {
		m.buf, m.at = m.buf[:copy(m.buf, m.rest())], 0
	}
	m.buf = append(m.buf, b...)
	for more := true; more && m.state != nil && (len(m.rest()) > 0 || eof); {
		dst, more = m.state(m, dst, eof)
	}
	if m.state == nil || eof {
		dst = append(dst, m.rest()...)
		m.take(len(m.rest()))
	}
	return dst
}

func (m *Mender) rest() []byte { return m.buf[m.at:] }

// take removes the first n bytes of the rest.
func (m *Mender) take(n int) { m.at += n }

// readHead waits for the end of a head, mends it, and decides what follows it.
func (m *Mender) readHead(dst []byte, eof bool) ([]byte, bool) {
	if m.bare() {
		*m.notes |= NoHead
		m.state = nil
		return append(dst, "HTTP/1.0 200 OK\r\n\r\n"...), false
	}
	n := m.lines.end(m.rest())
	if n < 0 {
		if eof && m.lines.some { // half a line would be taken for a wrong one
			m.buf = m.buf[:m.at+m.lines.start]
		}
		if eof || len(m.rest()) > MaxHead {
			m.state = nil
		}
		return dst, false
	}
	m.later, m.lines = true, lines{}
	dst, h := mend(dst, m.rest()[:n])
	*m.notes |= h.notes
	m.take(n)
	switch {
	case h.status/100 == 1 && h.status != 101: // the head of the response is still to come
	case h.chunked && !m.head && h.status != 204 && h.status != 304:
		m.chunks = chunks{}
		m.state = (*Mender).readChunks
	default:
		m.state = nil
	}
	return dst, true
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
