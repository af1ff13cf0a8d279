package jobs

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
)

// feedState is what the journal knows of one feed.
type feedState struct {
	id     uint64
	name   string
	length int64 // committed
	mark   int64 // synced, at the last mark
	crc    uint32
	hasCRC bool
	closed int64 // length of the file at the clean close, with the feed's own end
}

// feedWrite is one step's addition to a feed that no mark covers yet.
type feedWrite struct {
	id       uint64
	from, to int64
	crc      uint32
	segment  int   // index of the segment that holds the step
	offset   int64 // of the step's frame
}

// scan is what the first pass over the journal finds.
type scan struct {
	ledger
	fsys      FS
	jobDir    string
	dir       string // of the segments
	flag      int    // with which segments are opened
	snap      *snapshot
	garbage   []string // files that the snapshot has made superfluous
	sealed    bool     // the last segment has ended
	broken    []segmentFile
	cutBytes  int64 // behind the last whole frame
	lastSeq   uint64
	durable   uint64 // the highest number that a mark vouches for
	round     uint64
	finished  bool
	clean     bool
	feeds     []*feedState // by id
	writes    []feedWrite
	frame     op
	rd        frameReader
	tailStart string // for the warning
}

// scanJournal reads the journal behind the newest snapshot, checks it, and leaves
// the segments of its valid part open.
func scanJournal(fsys FS, jobDir string, flag int) (*scan, error) {
	s := &scan{fsys: fsys, jobDir: jobDir, dir: filepath.Join(jobDir, queueDir), flag: flag}
	if err := s.run(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *scan) state() State {
	switch {
	case s.round == 0:
		return StateNew
	case s.finished:
		return StateFinished
	}
	return StateResumed
}

func (s *scan) run() error {
	files, snapshot, err := listQueue(s.fsys, s.dir)
	if err != nil {
		return err
	}
	next, from := uint32(1), int64(0)
	if snapshot {
		if s.snap, err = readSnapshot(s.fsys, s.dir); err != nil {
			return err
		}
		if files, err = s.begin(files); err != nil {
			return err
		}
		next, from = s.snap.segment, s.snap.offset
	}
	for i, f := range files {
		if f.first != next || f.packed() {
			return s.breakAt(files[i:], 0, segmentFile{first: next, name: filepath.Join(s.dir, segmentName(next, next, 1))})
		}
		seg, err := openSegment(s.fsys, f, s.flag)
		if err != nil {
			return err
		}
		s.segs = append(s.segs, seg)
		s.sealed = false
		err = s.segment(seg, f, from)
		whole := errors.Is(err, io.EOF) && (s.sealed || i == len(files)-1)
		if !whole || seg.size == 0 {
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errBadFrame) {
				return err
			}
			return s.breakAt(files[i:], s.rd.off, f)
		}
		next, from = next+1, 0
	}
	return nil
}

// segment reads the frames of one segment up to its end (io.EOF), or to the
// first bad frame, where the reader stands then (errBadFrame).
func (s *scan) segment(seg *segment, f segmentFile, from int64) error {
	if seg.size < from {
		return &DamageError{File: seg.name, Offset: seg.size, Reason: fmt.Sprintf("it ends here, although %d bytes were once synced", from)}
	}
	s.rd.reset(seg.file, seg.size, from)
	for {
		at := s.rd.off
		seq, ops, err := s.rd.next()
		if err != nil {
			return err
		}
		if !follows(s.lastSeq, seq) {
			s.rd.off = at
			return errBadFrame
		}
		if err := s.apply(ops, seq, f, at); err != nil {
			return s.explain(err, f, at)
		}
		s.lastSeq, seg.lastSeq = seq, seq
		if s.sealed {
			seg.end = s.rd.off
			return io.EOF
		}
	}
}

// explain turns an error of the decoder into one that names the place.
func (s *scan) explain(err error, f segmentFile, at int64) error {
	var unknown unknownOpError
	switch {
	case errors.As(err, &unknown):
		return &VersionError{File: f.name, What: unknown.Error()}
	case errors.Is(err, errMalformed):
		return &DamageError{File: f.name, Offset: at, Reason: err.Error()}
	}
	return err
}

func (s *scan) apply(ops []byte, seq uint64, f segmentFile, at int64) error {
	d := decoder{b: ops}
	o := &s.frame
	for i := 0; ; i++ {
		ok, err := d.next(o)
		if !ok || err != nil {
			return err
		}
		if (i == 0 && at == 0) != (o.Kind == opHeader) {
			return fmt.Errorf("header in the wrong place: %w", errMalformed)
		}
		s.clean = o.Kind == opClose
		switch o.Kind {
		case opHeader:
			if err := checkHeader(o, seq, f); err != nil {
				return err
			}
		case opFeedName:
			s.nameFeed(o)
		case opFeed:
			if err := s.feedWrite(o, at); err != nil {
				return err
			}
		case opMark, opClose:
			s.marks(o)
		case OpRound:
			s.round, s.finished = o.Round, false
		case opFinished:
			s.finished = true
		case opReopened:
			s.finished = false
		case opEnd:
			s.sealed = true
		}
	}
}

func checkHeader(o *op, seq uint64, f segmentFile) error {
	if o.version != formatVersion {
		return versionError(f.name, o.version)
	}
	if o.segment != f.first || o.gen != f.gen || o.firstSeq != seq {
		return fmt.Errorf("the header is of segment %d generation %d: %w", o.segment, o.gen, errMalformed)
	}
	return nil
}

func (s *scan) nameFeed(o *op) {
	for uint64(len(s.feeds)) <= o.id && o.id < maxFeeds {
		s.feeds = append(s.feeds, nil)
	}
	if o.id < uint64(len(s.feeds)) {
		s.feeds[o.id] = &feedState{id: o.id, name: string(o.name), length: o.length, mark: o.length, closed: o.length}
		s.dropWrites(o.id, -1)
	}
}

func (s *scan) feed(id uint64) *feedState {
	if id < uint64(len(s.feeds)) {
		return s.feeds[id]
	}
	return nil
}

func (s *scan) feedWrite(o *op, at int64) error {
	f := s.feed(o.id)
	if f == nil || o.length < f.length {
		return fmt.Errorf("feed %d: %w", o.id, errMalformed)
	}
	s.writes = append(s.writes, feedWrite{
		id: o.id, from: f.length, to: o.length, crc: o.crc,
		segment: len(s.segs) - 1, offset: at,
	})
	f.length, f.closed = o.length, o.length
	return nil
}

func (s *scan) marks(o *op) {
	if o.Kind == opMark {
		s.durable = max(s.durable, o.durable)
	}
	for _, m := range o.marks {
		f := s.feed(m.id)
		switch {
		case f == nil:
		case o.Kind == opClose:
			f.closed = m.length
		default:
			f.mark, f.crc, f.hasCRC = m.length, m.crc, m.hasCRC
			s.dropWrites(m.id, m.length)
		}
	}
}

// dropWrites forgets the writes to a feed that end at or before a length; -1
// means all of them.
func (s *scan) dropWrites(id uint64, upTo int64) {
	kept := s.writes[:0]
	for _, w := range s.writes {
		if w.id != id || upTo >= 0 && w.to > upTo {
			kept = append(kept, w)
		}
	}
	s.writes = kept
}

// breakAt ends the valid part of the journal at an offset of the first of the
// files, or says that it is damaged there. The place named in the error is of
// file at, which differs from the first if a segment is missing.
func (s *scan) breakAt(files []segmentFile, off int64, at segmentFile) error {
	for i, f := range files {
		from := int64(0)
		if i == 0 {
			from = off
		}
		size, err := s.searchMark(f, from)
		if err != nil {
			return err
		}
		if s.durable > s.lastSeq {
			return &DamageError{
				File: at.name, Offset: off,
				Reason: fmt.Sprintf("no valid frame here, although number %d was once synced (last good one: %d)", s.durable, s.lastSeq),
			}
		}
		s.cutBytes += size - from
	}
	s.tailStart = fmt.Sprintf("%s offset %d", at.name, off)
	s.broken = files[1:]
	if at.first != files[0].first || off == 0 { // nothing of the first file is valid either
		s.broken = files
	}
	n := len(s.segs)
	if n == 0 || s.segs[n-1].first != files[0].first || s.segs[n-1].gen != files[0].gen {
		return nil
	}
	s.segs[n-1].size = off
	if off == 0 {
		_ = s.segs[n-1].file.Close()
		s.segs = s.segs[:n-1]
		s.sealed = n > 1
	}
	return nil
}

// cut removes what is behind the valid part from the disk. The order is that
// in which a crash half way leaves the same picture for the next time.
func (s *scan) cut() error {
	for _, f := range slices.Backward(s.broken) {
		if err := s.fsys.Remove(f.name); err != nil {
			return fmt.Errorf("cut journal: %w", err)
		}
	}
	if len(s.broken) > 0 {
		if err := s.fsys.SyncDir(s.dir); err != nil {
			return fmt.Errorf("cut journal: sync %s: %w", s.dir, err)
		}
	}
	s.broken = nil
	if len(s.segs) == 0 {
		return nil
	}
	last := s.segs[len(s.segs)-1]
	if last.size == last.written {
		return nil
	}
	if err := last.file.Truncate(last.size); err != nil {
		return fmt.Errorf("cut journal: %w", err)
	}
	last.written = last.size
	if err := last.file.Sync(); err != nil {
		return fmt.Errorf("cut journal: sync %s: %w", last.name, err)
	}
	return nil
}

// cutAt ends the valid part at a frame, and cuts.
func (s *scan) cutAt(segment int, offset int64) (cutBytes int64, err error) {
	for _, seg := range s.segs[segment+1:] {
		cutBytes += seg.size
		s.broken = append(s.broken, segmentFile{first: seg.first, last: seg.last, gen: seg.gen, name: seg.name})
		_ = seg.file.Close()
	}
	last := s.segs[segment]
	cutBytes += last.size - offset
	last.size = offset
	s.segs = s.segs[:segment+1]
	return cutBytes, s.cut()
}
