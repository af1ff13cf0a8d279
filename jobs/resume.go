package jobs

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
)

// begin takes the snapshot's state as the beginning of the scan, opens the
// segments before its place, and returns the files from that place on.
func (s *scan) begin(files []segmentFile) ([]segmentFile, error) {
	snap := s.snap
	s.lastSeq, s.durable = snap.seq, snap.seq
	s.round, s.finished = snap.round, snap.finished
	for i := range snap.feeds {
		s.restoreFeed(snap.feeds[i])
	}
	s.open = snap.open
	for i := range snap.files {
		if err := s.openListed(&snap.files[i], files); err != nil {
			return nil, err
		}
	}
	var rest []segmentFile
	for _, f := range files {
		switch {
		case f.first >= snap.segment && !f.packed():
			rest = append(rest, f)
		case !slices.ContainsFunc(snap.files, func(l snapshotFileState) bool { return l.first == f.first && l.gen == f.gen }):
			s.garbage = append(s.garbage, f.name)
		}
	}
	return rest, nil
}

func (s *scan) restoreFeed(f feedState) {
	for uint64(len(s.feeds)) <= f.id && f.id < maxFeeds {
		s.feeds = append(s.feeds, nil)
	}
	if f.id < uint64(len(s.feeds)) {
		s.feeds[f.id] = &f
	}
}

// openListed opens a segment that the snapshot names. The last one is only looked
// for: the scan opens it.
func (s *scan) openListed(l *snapshotFileState, files []segmentFile) error {
	name := filepath.Join(s.dir, segmentName(l.first, l.last, l.gen))
	if !slices.ContainsFunc(files, func(f segmentFile) bool { return f.name == name }) {
		return &DamageError{File: name, Reason: "the segment is gone, although the snapshot needs it"}
	}
	if l.first == s.snap.segment {
		return nil
	}
	seg, err := openSegment(s.fsys, segmentFile{l.first, l.last, l.gen, name}, s.flag)
	if err != nil {
		return err
	}
	s.segs = append(s.segs, seg)
	if seg.size != l.size {
		return &DamageError{File: name, Offset: min(seg.size, l.size), Reason: fmt.Sprintf("it has %d bytes, not %d", seg.size, l.size)}
	}
	return nil
}

// replay is the second pass: it notes where the records are, and hands out all
// operations: those of the snapshot, and then those behind it.
func (s *scan) replay(visit func(Op) error) error {
	segs, from := s.segs, int64(0)
	if s.snap != nil {
		if err := s.replaySnapshot(visit); err != nil {
			return err
		}
		segs, from = s.segs[len(s.snap.files)-1:], s.snap.offset
	}
	var rd frameReader
	for _, seg := range segs {
		rd.reset(seg.file, seg.readable(), from)
		if err := s.replaySegment(seg, &rd, visit); err != nil {
			return err
		}
		from = 0
	}
	return nil
}

// readable returns where the frames of a segment end.
func (s *segment) readable() int64 {
	if s.end > 0 {
		return s.end
	}
	return s.size
}

// replaySegment hands out the operations from where the reader stands.
func (s *scan) replaySegment(seg *segment, rd *frameReader, visit func(Op) error) error {
	var o op
	for {
		at := rd.off
		seq, ops, err := rd.next()
		if errors.Is(err, io.EOF) {
			seg.seal()
			return nil
		}
		if err != nil {
			return seg.damage(at, err)
		}
		if uint32(seq) == 0 { // a run begins
			s.voidAll()
		}
		if err := s.replayFrame(seg, at+frameHead, ops, &o, visit); err != nil {
			return err
		}
	}
}

func (s *scan) replayFrame(seg *segment, at int64, ops []byte, o *op, visit func(Op) error) error {
	d := decoder{b: ops}
	for {
		ok, err := d.next(o)
		if !ok || err != nil {
			return err
		}
		switch o.Kind {
		case OpPush, OpProvisional:
			if uint64(o.Addr) != uint64(len(seg.offsets)) {
				return &DamageError{File: seg.name, Offset: at, Reason: fmt.Sprintf("record %d is not the next", o.Addr)}
			}
			o.Addr = makeAddr(seg.first, uint32(o.Addr))
			seg.add(at+int64(o.at), int64(o.bodyAt+o.BodyLen-o.at))
			s.take(o.Kind, o.Addr, o.Owner)
		case OpAck, OpRelease, OpAdopt:
			s.take(o.Kind, o.Addr, o.Owner)
		case OpAttempt, OpSeen, OpUnseen, OpMeta, OpRound:
		default:
			continue
		}
		if err := visit(o.Op); err != nil {
			return err
		}
	}
}

func (s *scan) replaySnapshot(visit func(Op) error) error {
	keys := keyReader{visit: visit}
	if err := newWordLog(s.fsys, s.jobDir, seenFile, s.snap.seen).read(keys.take); err != nil {
		return err
	}
	emitted := func(b []byte) error { return visitWords(OpEmitted, b, visit) }
	if err := newWordLog(s.fsys, s.jobDir, emittedFile, s.snap.emitted).read(emitted); err != nil {
		return err
	}
	if err := replayOps(s.snap.ops, visit); err != nil {
		return err
	}
	last := len(s.snap.files) - 1
	for i := range last {
		if err := s.replayIndex(s.segs[i], &s.snap.files[i], visit); err != nil {
			return err
		}
	}
	if err := s.replayBegun(s.segs[last], &s.snap.files[last], visit); err != nil {
		return err
	}
	return s.replayOpen(visit)
}

// replayOps hands out the operations that the owner has put into the snapshot.
func replayOps(ops []byte, visit func(Op) error) error {
	var o op
	d := decoder{b: ops}
	for {
		ok, err := d.next(&o)
		if !ok || err != nil {
			return err
		}
		if err := visit(o.Op); err != nil {
			return err
		}
	}
}

// replayIndex hands out the pending records of a segment that has ended.
func (s *scan) replayIndex(seg *segment, l *snapshotFileState, visit func(Op) error) error {
	seg.live, seg.alive = l.live, l.live.count()
	var slot []byte
	err := seg.readIndex(func(place int, e indexEntry, p indexPlace) error {
		if !l.live.has(place) || s.provisional(e.addr) {
			return nil
		}
		slot = append(slot[:0], p.slot...)
		return visit(Op{Kind: OpPending, Addr: e.addr, Flags: e.flags, Priority: p.priority, NotBefore: e.notBefore, Slot: slot})
	})
	if err == nil && len(seg.offsets) != l.count {
		return seg.badIndex()
	}
	return err
}

// replayBegun hands out the pending records of the segment in which the snapshot
// has its place, up to there.
func (s *scan) replayBegun(seg *segment, l *snapshotFileState, visit func(Op) error) error {
	part := &segment{first: seg.first, gen: 1, name: seg.name, file: seg.file, end: s.snap.offset}
	var verr error
	err := part.records(func(a Addr, offset int64, o *op) {
		seg.add(offset, o.length)
		if verr != nil || !l.live.has(int(a.Ordinal())) || s.provisional(a) {
			return
		}
		verr = visit(Op{Kind: OpPending, Addr: a, Flags: o.Flags, Priority: o.Priority, NotBefore: o.NotBefore, Slot: o.Slot})
	})
	if err == nil && len(seg.offsets) != l.count {
		err = &DamageError{File: seg.name, Offset: s.snap.offset, Reason: fmt.Sprintf("it has %d records up to here, not %d", len(seg.offsets), l.count)}
	}
	seg.live, seg.alive = l.live, l.live.count()
	if verr != nil {
		return verr
	}
	return err
}

// replayOpen hands out the records that waited for their adoption.
func (s *scan) replayOpen(visit func(Op) error) error {
	var buf []byte
	for _, owner := range s.owners() {
		for _, a := range s.open[owner] {
			seg, place, ok := s.find(a)
			if !ok {
				return &DamageError{File: filepath.Join(s.dir, snapshotFile), Reason: fmt.Sprintf("there is no record %v", a)}
			}
			var o op
			var err error
			if buf, err = readRecord(seg, a, int64(seg.offsets[place]), buf[:0], &o); err != nil {
				return err
			}
			o.Kind, o.Addr, o.Owner = OpProvisional, a, owner
			if err := visit(o.Op); err != nil {
				return err
			}
		}
	}
	return nil
}
