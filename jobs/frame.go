package jobs

import (
	"encoding/binary"
	"errors"
	"io"
)

const readChunk = 256 << 10

var errBadFrame = errors.New("bad frame")

// frameReader reads the frames of one file through a reused buffer.
type frameReader struct {
	f    io.ReaderAt
	size int64
	off  int64 // of the next frame
	buf  []byte
	base int64 // offset of buf[0] in the file
}

func (r *frameReader) reset(f io.ReaderAt, size, off int64) {
	r.f, r.size, r.off = f, size, off
	r.base, r.buf = off, r.buf[:0]
}

// next returns the next frame, whose operations are valid until the following
// call. At the end of the file it returns io.EOF. It returns errBadFrame,
// without moving, if what follows is no frame.
func (r *frameReader) next() (seq uint64, ops []byte, err error) {
	if r.off >= r.size {
		return 0, nil, io.EOF
	}
	head, err := r.peek(frameHead)
	if err != nil {
		return 0, nil, err
	}
	n := int64(binary.LittleEndian.Uint32(head))
	if n == 0 || n > maxFrame {
		return 0, nil, errBadFrame
	}
	frame, err := r.peek(frameHead + n)
	if err != nil {
		return 0, nil, err
	}
	if binary.LittleEndian.Uint32(frame[4:]) != frameChecksum(frame) {
		return 0, nil, errBadFrame
	}
	r.off += int64(len(frame))
	return binary.LittleEndian.Uint64(frame[8:]), frame[frameHead:], nil
}

// peek returns the n bytes at the present offset.
func (r *frameReader) peek(n int64) ([]byte, error) {
	if n > r.size-r.off {
		return nil, errBadFrame
	}
	at := r.off - r.base
	if at+n <= int64(len(r.buf)) {
		return r.buf[at : at+n], nil
	}
	rest := copy(r.buf[:cap(r.buf)], r.buf[at:])
	want := max(n, min(readChunk, r.size-r.off))
	if int64(cap(r.buf)) < want {
		grown := make([]byte, want)
		copy(grown, r.buf[:rest])
		r.buf = grown
	}
	r.buf, r.base = r.buf[:want], r.off
	got, err := r.f.ReadAt(r.buf[rest:], r.off+int64(rest))
	if got < len(r.buf)-rest {
		r.buf = r.buf[:0]
		if err == nil || errors.Is(err, io.EOF) { // the file has shrunk
			return nil, errBadFrame
		}
		return nil, err
	}
	return r.buf[:n], nil
}

// follows tells whether seq may come after last: the next number, or the first
// of a later run. The upper half of a sequence number counts runs, so that a
// frame left over from an earlier run never continues a later one.
func follows(last, seq uint64) bool {
	return seq == last+1 || seq > last && uint32(seq) == 0
}
