package h1

import (
	"bytes"
	"strconv"
)

// maxLine bounds a line between chunks, in bytes.
const maxLine = 4 << 10

// chunks is the place in a chunked body.
type chunks struct {
	left  int64 // bytes of the chunk that are to come
	after bool  // a chunk has ended, and its line break is to come
	last  bool  // the last chunk was there: trailers are to come
	spent int   // bytes of trailers
}

// readChunks brings the lines between chunks into the form of RFC 9112 §7.1. The
// trailers are left out.
func (m *Mender) readChunks(dst []byte, eof bool) ([]byte, bool) {
	c := &m.chunks
	switch {
	case c.left > 0:
		n := int(min(c.left, int64(len(m.rest()))))
		dst = append(dst, m.rest()[:n]...)
		m.take(n)
		c.left -= int64(n)
		c.after = c.left == 0
		return dst, n > 0
	case c.after:
		return m.afterChunk(dst, eof)
	}
	n := bytes.IndexByte(m.rest(), '\n') + 1
	switch {
	case n > 0:
		dst = m.chunkLine(dst, m.rest()[:n])
		m.take(n)
		return dst, true
	case eof && c.last: // all data is there
		*m.notes |= ChunksMended
		m.take(len(m.rest()))
		m.phase = ended
		return append(dst, "\r\n"...), false
	case eof || len(m.rest()) > maxLine:
		m.phase = passing
	}
	return dst, m.phase == passing
}

// afterChunk takes the line break behind a chunk, which may be a bare LF.
func (m *Mender) afterChunk(dst []byte, eof bool) ([]byte, bool) {
	switch n := len(m.rest()); {
	case n == 0, n == 1 && m.rest()[0] == '\r' && !eof:
		return dst, false
	case bytes.HasPrefix(m.rest(), []byte("\r\n")):
		m.take(2)
	case m.rest()[0] == '\n':
		*m.notes |= ChunksMended
		m.take(1)
	default: // this is no chunked body: the reader will say so
		m.phase = passing
		return dst, true
	}
	m.chunks.after = false
	return append(dst, "\r\n"...), true
}

// chunkLine takes the line before a chunk, or one of the trailers. Extensions of
// chunks are left out. What is no such line goes on as it came.
func (m *Mender) chunkLine(dst, raw []byte) []byte {
	c := &m.chunks
	line, _ := cutLine(raw)
	if c.last {
		c.spent += len(raw)
		switch {
		case len(line) == 0:
			m.phase = ended
			return append(dst, "\r\n"...)
		case c.spent > MaxHead:
			m.phase = passing
			return append(dst, raw...)
		}
		return dst
	}
	if !bytes.HasSuffix(raw, []byte("\r\n")) {
		*m.notes |= ChunksMended
	}
	number, _, _ := bytes.Cut(line, []byte(";"))
	number = bytes.Trim(number, " \t")
	size, err := strconv.ParseInt(string(number), 16, 64)
	if err != nil || number[0] == '+' || number[0] == '-' {
		m.phase = passing
		return append(dst, raw...)
	}
	c.left, c.last = size, size == 0
	return append(append(dst, number...), "\r\n"...)
}
