package jobs

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

const readAhead = 1 << 10 // enough for most records with their heads

// Read appends the body of a pushed and committed record to dst. It also finds
// what is still in the buffer. On an error dst is returned unchanged; a record
// that is not what was written is a [DamageError].
func (j *Job) Read(a Addr, dst []byte) ([]byte, error) {
	j.readers.RLock()
	defer j.readers.RUnlock()
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
	return readBody(seg, a, off, dst)
}

func (j *Job) locate(a Addr) (*segment, int64, error) {
	if j.phase == closed {
		return nil, 0, fmt.Errorf("read record %v: %w", a, ErrClosed)
	}
	seg, place, ok := j.find(a)
	if !ok {
		return nil, 0, fmt.Errorf("read record %v: no such record", a)
	}
	return seg, int64(seg.offsets[place]), nil
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

// readBody appends the body of a record, read from the file mostly with one call.
func readBody(seg *segment, a Addr, off int64, dst []byte) ([]byte, error) {
	var o op
	b, err := readRecord(seg, a, off, dst, &o)
	if err != nil {
		return dst, err
	}
	body := b[len(dst)+o.bodyAt:]
	if crc32.Checksum(body, crcTable()) != o.bodyCRC {
		return dst, &DamageError{File: seg.name, Offset: off, Reason: fmt.Sprintf("the checksum of record %v is wrong", a)}
	}
	n := copy(b[len(dst):], body)
	return b[:len(dst)+n], nil
}

// readRecord appends the whole push operation of a record, and reads its head
// into o.
func readRecord(seg *segment, a Addr, off int64, dst []byte, o *op) ([]byte, error) {
	base := len(dst)
	for ahead := readAhead; ; ahead *= 4 {
		buf := slices.Grow(dst, ahead)[:base+ahead]
		got, err := seg.file.ReadAt(buf[base:], off)
		if err != nil && !errors.Is(err, io.EOF) {
			return dst, fmt.Errorf("read record %v: %w", a, err)
		}
		if !parsePush(buf[base:base+got], a, o) {
			if got == ahead && ahead < maxFrame { // a very long slot
				continue
			}
			return dst, &DamageError{File: seg.name, Offset: off, Reason: fmt.Sprintf("no record %v here", a)}
		}
		n := o.bodyAt + o.BodyLen
		if n <= got {
			return buf[:base+n], nil
		}
		buf = slices.Grow(buf[:base+got], n-got)[:base+n]
		more, err := seg.file.ReadAt(buf[base+got:], off+int64(got))
		switch {
		case more == n-got:
			return buf, nil
		case errors.Is(err, io.EOF):
			return dst, &DamageError{File: seg.name, Offset: off, Reason: fmt.Sprintf("record %v goes beyond the end", a)}
		default:
			return dst, fmt.Errorf("read record %v: %w", a, err)
		}
	}
}
