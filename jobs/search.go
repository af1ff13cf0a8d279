package jobs

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// searchMark tries every offset of a file from the given one for an intact
// frame with a later number than the last good one that holds a sync mark, and
// raises s.durable to what it vouches for. It returns the size of the file.
func (s *scan) searchMark(f segmentFile, from int64) (int64, error) {
	file, err := s.fsys.OpenFile(f.name, os.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	size, err := file.Size()
	if err != nil {
		return 0, err
	}
	var rd frameReader
	rd.reset(file, size, from)
	for rd.off < size && s.durable <= s.lastSeq {
		err := s.tryFrame(&rd)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, errBadFrame) {
			return 0, err
		}
	}
	return size, nil
}

// tryFrame looks at the next offsets until it finds an intact frame, takes its
// marks and moves behind it, or until the bytes in memory are used up.
func (s *scan) tryFrame(rd *frameReader) error {
	window, err := rd.peek(min(readChunk, rd.size-rd.off))
	if err != nil {
		return err
	}
	if len(window) < frameHead {
		return io.EOF
	}
	last := len(window) - frameHead
	for i := 0; i <= last; i++ {
		n := int64(binary.LittleEndian.Uint32(window[i:]))
		seq := binary.LittleEndian.Uint64(window[i+8:])
		if n == 0 || n > maxFrame || frameHead+n > rd.size-rd.off-int64(i) || !s.plausible(seq) {
			continue
		}
		rd.off += int64(i)
		start := rd.off
		seq, ops, err := rd.next()
		if err == nil && s.takeMarks(ops, seq) {
			return nil
		}
		if err != nil && !errors.Is(err, errBadFrame) {
			return err
		}
		rd.off = start + 1
		return nil
	}
	rd.off += int64(last) + 1
	return nil
}

// plausible keeps the checksum, which is dear, from being tried everywhere.
func (s *scan) plausible(seq uint64) bool {
	const runs = 1 << 16
	return seq > s.lastSeq && seq>>32 <= s.lastSeq>>32+runs
}

// takeMarks reads the marks of a frame found behind the damage and tells
// whether it is a frame indeed.
func (s *scan) takeMarks(ops []byte, seq uint64) bool {
	d := decoder{b: ops}
	durable := uint64(0)
	for {
		ok, err := d.next(&s.frame)
		if err != nil {
			return false
		}
		if !ok {
			break
		}
		if s.frame.Kind == opMark && s.frame.durable < seq {
			durable = max(durable, s.frame.durable)
		}
	}
	s.durable = max(s.durable, durable)
	return true
}
