package jobs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// salvage reads what can be read of a damaged job.
type salvage struct {
	fsys  FS
	dir   string
	snap  *snapshot // nil if there is none that can be read
	files []segmentFile
	lost  []string // sentences
}

func newSalvage(fsys FS, dir string) (*salvage, error) {
	s := &salvage{fsys: fsys, dir: dir}
	queue := filepath.Join(dir, queueDir)
	files, snapshot, err := listQueue(fsys, queue)
	if err != nil {
		return nil, err
	}
	s.files = files
	if !snapshot {
		if len(files) == 0 || files[0].packed() || files[0].first != 1 {
			s.lose("the snapshot is missing: what was handled before it may come again")
		}
		return s, nil
	}
	s.snap, err = readSnapshot(fsys, queue)
	if isDamage(err) {
		s.lose("%v: what was handled before it may come again", err)
		return s, nil
	}
	return s, err
}

func (s *salvage) lose(format string, args ...any) {
	s.lost = append(s.lost, fmt.Sprintf(format, args...))
}

// words reads what there is of a word log, and tells whether all of it is sound.
// What is damaged is taken too: a wrong fingerprint is one too many.
func (s *salvage) words(name string, r wordRange) (words []uint64, sound bool, err error) {
	log := newWordLog(s.fsys, s.dir, name, r)
	err = log.read(func([]byte) error { return nil })
	if err != nil && !isDamage(err) {
		return nil, false, err
	}
	if err != nil {
		s.lose("%v: pages may be crawled again", err)
	}
	b, rerr := readFile(s.fsys, log.name)
	if isNotExist(rerr) {
		return nil, err == nil, nil
	}
	if rerr != nil {
		return nil, false, rerr
	}
	for at := r.from; at+8 <= min(r.to, int64(len(b))); at += 8 {
		words = append(words, binary.BigEndian.Uint64(b[at:]))
	}
	return words, err == nil, nil
}

// provisional hands out the records that the snapshot has of steps in parts, and
// that can be read.
func (s *salvage) provisional(take func(a, owner Addr, o *op)) error {
	l := ledger{open: s.snap.open}
	wanted := map[Addr]Addr{}
	for _, owner := range l.owners() {
		for _, a := range l.open[owner] {
			wanted[a] = owner
		}
	}
	for _, f := range s.files {
		if len(wanted) == 0 {
			return nil
		}
		seg, err := openSegment(s.fsys, f, os.O_RDONLY)
		if err != nil {
			return err
		}
		quiet := salvage{fsys: s.fsys, dir: s.dir} // what can not be read was told before
		err = quiet.frames(f, seg, 0, 0, 0, func(_ uint64, ops []byte) error {
			return eachRecord(ops, f.first, func(a Addr, o *op) error {
				if owner, ok := wanted[a]; ok {
					delete(wanted, a)
					take(a, owner, o)
				}
				return nil
			})
		})
		if err = errors.Join(err, seg.file.Close()); err != nil {
			return err
		}
	}
	if len(wanted) > 0 {
		s.lose("%d requests of a step in parts can not be read", len(wanted))
	}
	return nil
}

// pending hands out the records that the snapshot has, and that can be read.
func (s *salvage) pending(take func(a Addr, o *op) error) error {
	if s.snap == nil {
		return nil
	}
	for i := range s.snap.files {
		l := &s.snap.files[i]
		name := filepath.Join(s.dir, queueDir, segmentName(l.first, l.last, l.gen))
		at := slices.IndexFunc(s.files, func(f segmentFile) bool { return f.name == name })
		if at < 0 {
			s.lose("%s is missing: %d requests", name, l.live.count())
			continue
		}
		end := int64(0)
		if l.first == s.snap.segment {
			end = s.snap.offset
		}
		if err := s.listed(s.files[at], l, end, take); err != nil {
			return err
		}
	}
	return nil
}

// listed hands out the records of one file that the snapshot names, up to an
// offset; 0 is all.
func (s *salvage) listed(f segmentFile, l *snapshotFileState, end int64, take func(a Addr, o *op) error) error {
	seg, err := openSegment(s.fsys, f, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer seg.file.Close() //nolint:errcheck // nothing was written
	if f.packed() {
		if err := seg.readIndex(func(int, indexEntry, indexPlace) error { return nil }); err != nil {
			seg.addrs = nil // which of the records are needed can not be told: all of them
		}
	}
	open := ledger{open: s.snap.open}
	found := 0
	err = s.frames(f, seg, 0, end, 0, func(_ uint64, ops []byte) error {
		return eachRecord(ops, f.first, func(a Addr, o *op) error {
			place, known := int(a.Ordinal()), true
			if f.packed() {
				place, known = slices.BinarySearch(seg.addrs, a)
			}
			if known && !l.live.has(place) || open.provisional(a) {
				return nil
			}
			found++
			return take(a, o)
		})
	})
	if n := s.wanted(f, seg, l); err == nil && found < n {
		s.lose("%s: %d of %d requests can not be read", f.name, n-found, n)
	}
	return err
}

// wanted returns how many records of a file are pending.
func (s *salvage) wanted(f segmentFile, seg *segment, l *snapshotFileState) (n int) {
	open := ledger{open: s.snap.open}
	for place := range l.count {
		a := makeAddr(f.first, uint32(place))
		if f.packed() && place < len(seg.addrs) {
			a = seg.addrs[place]
		}
		if l.live.has(place) && !open.provisional(a) {
			n++
		}
	}
	return n
}

// eachRecord calls f for the records in the operations of a frame.
func eachRecord(ops []byte, id uint32, f func(a Addr, o *op) error) error {
	var o op
	d := decoder{b: ops}
	for {
		ok, err := d.next(&o)
		if !ok || err != nil {
			return err
		}
		switch o.Kind {
		case opSegment:
			id = o.segment
		case OpPush, OpProvisional:
			if err := f(makeAddr(id, uint32(o.Addr)), &o); err != nil {
				return err
			}
		}
	}
}

// tail hands out the frames behind the snapshot, with the segment that they are
// in; without a snapshot all frames.
func (s *salvage) tail(take func(segment uint32, seq uint64, ops []byte) error) error {
	last, from, segment := uint64(0), int64(0), uint32(0)
	if s.snap != nil {
		last, from, segment = s.snap.seq, s.snap.offset, s.snap.segment
	}
	for _, f := range s.files {
		if f.first < segment || s.snap != nil && f.packed() {
			continue
		}
		if f.first != segment {
			from = 0
		}
		seg, err := openSegment(s.fsys, f, os.O_RDONLY)
		if err != nil {
			return err
		}
		err = s.frames(f, seg, from, 0, last, func(seq uint64, ops []byte) error {
			if !f.packed() {
				last = seq
			}
			return take(f.first, seq, ops)
		})
		if err = errors.Join(err, seg.file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// frames hands out the frames of a file between two offsets whose numbers are
// above one, and passes over what is none.
func (s *salvage) frames(f segmentFile, seg *segment, from, to int64, above uint64, take func(seq uint64, ops []byte) error) error {
	if to == 0 || to > seg.size {
		to = seg.size
	}
	var rd frameReader
	rd.reset(seg.file, to, from)
	for ended := false; !ended; {
		at := rd.off
		seq, ops, err := rd.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errBadFrame):
			if err := rd.resync(above); err != nil {
				return err
			}
			s.lose("%s: %d bytes at offset %d are no valid record", f.name, rd.off-at, at)
			continue
		case err != nil:
			return err
		}
		if ended = endsSegment(ops); seq <= above && above > 0 && !f.packed() {
			continue // of an earlier life
		}
		if err := take(seq, ops); err != nil && !errors.Is(err, errMalformed) {
			return err
		}
	}
	return nil
}

// endsSegment reports whether a frame has the end operation: what follows is the
// index.
func endsSegment(ops []byte) bool {
	if ops[len(ops)-1] != byte(opEnd) {
		return false
	}
	var o op
	d := decoder{b: ops}
	for {
		ok, err := d.next(&o)
		if err != nil {
			return false
		}
		if !ok {
			return o.Kind == opEnd
		}
	}
}

// resync moves to the next offset at which a valid frame begins whose number is
// above one, or to the end.
func (r *frameReader) resync(above uint64) error {
	for r.off++; r.off < r.size; r.off++ {
		head, err := r.peek(frameHead)
		if errors.Is(err, errBadFrame) { // too short for a frame
			break
		}
		if err != nil {
			return err
		}
		n := int64(binary.LittleEndian.Uint32(head))
		seq := binary.LittleEndian.Uint64(head[8:])
		if n == 0 || n > maxFrame || frameHead+n > r.size-r.off || seq <= above && above > 0 || seq>>32 > 1<<20 {
			continue
		}
		frame, err := r.peek(frameHead + n)
		if err != nil {
			return err
		}
		if binary.LittleEndian.Uint32(frame[4:]) == frameChecksum(frame) {
			return nil
		}
	}
	r.off = r.size
	return nil
}
