package jobs

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

const readAhead = 1 << 10 // enough for most records with their heads

// Read appends the body of a pushed and committed record to dst. It also finds
// what is still in the buffer. On an error dst is returned unchanged.
func (j *Job) Read(a Addr, dst []byte) ([]byte, error) {
	j.mu.Lock()
	seg, off, err := j.locate(a)
	if err != nil {
		j.mu.Unlock()
		return dst, err
	}
	if off >= seg.written {
		defer j.mu.Unlock()
		return j.readBuffer(seg, a, off, dst)
	}
	j.mu.Unlock()
	return readPush(seg, a, off, dst)
}

func (j *Job) locate(a Addr) (*segment, int64, error) {
	if j.phase == closed {
		return nil, 0, fmt.Errorf("read record %v: %w", a, ErrClosed)
	}
	i, k := int64(a.Segment())-1, int64(a.Ordinal())
	if i < 0 || i >= int64(len(j.segs)) || k >= int64(len(j.segs[i].offsets)) || j.segs[i].offsets[k] == 0 {
		return nil, 0, fmt.Errorf("read record %v: no such record", a)
	}
	return j.segs[i], int64(j.segs[i].offsets[k]), nil
}

func (j *Job) readBuffer(seg *segment, a Addr, off int64, dst []byte) ([]byte, error) {
	off -= seg.written
	frames := j.cur.frames
	if j.out != nil {
		if off < int64(len(j.out.frames)) {
			frames = j.out.frames
		} else {
			off -= int64(len(j.out.frames))
		}
	}
	var o op
	if !parsePush(frames[off:], a, &o) {
		return dst, &DamageError{File: seg.name, Offset: off + seg.written, Reason: "no record in the buffer"}
	}
	at := int(off) + o.bodyAt
	return append(dst, frames[at:at+o.BodyLen]...), nil
}

// parsePush reads the head of the push operation of a record at the beginning of b.
func parsePush(b []byte, a Addr, o *op) bool {
	d := decoder{b: b}
	switch Kind(d.uint8()) {
	case OpPush:
	case OpProvisional:
		d.addr()
	default:
		return false
	}
	d.recordHead(o)
	return !d.bad && uint32(o.Addr) == a.Ordinal()
}

// readPush reads from the file: mostly with one call, into the free space of
// dst.
func readPush(seg *segment, a Addr, off int64, dst []byte) ([]byte, error) {
	var o op
	for ahead := readAhead; ; ahead *= 4 {
		buf := slices.Grow(dst, ahead)[:len(dst)+ahead]
		got, err := seg.file.ReadAt(buf[len(dst):], off)
		if err != nil && !errors.Is(err, io.EOF) {
			return dst, fmt.Errorf("read record %v: %w", a, err)
		}
		chunk := buf[len(dst) : len(dst)+got]
		if !parsePush(chunk, a, &o) {
			if got == ahead && ahead < maxFrame { // a very long slot
				continue
			}
			return dst, &DamageError{File: seg.name, Offset: off, Reason: fmt.Sprintf("no record %v here", a)}
		}
		if end := o.bodyAt + o.BodyLen; end <= got {
			n := copy(chunk, chunk[o.bodyAt:end])
			return buf[:len(dst)+n], nil
		}
		return readBody(seg, a, off+int64(o.bodyAt), o.BodyLen, dst)
	}
}

func readBody(seg *segment, a Addr, off int64, n int, dst []byte) ([]byte, error) {
	buf := slices.Grow(dst, n)[:len(dst)+n]
	if got, err := seg.file.ReadAt(buf[len(dst):], off); got < n {
		return dst, fmt.Errorf("read record %v: %w", a, err)
	}
	return buf, nil
}
