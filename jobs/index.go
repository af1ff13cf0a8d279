package jobs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// An index stands behind the end frame of a segment, in a frame of its own, and
// says where its records are and in which queue, so that a job opens without
// reading them.
const (
	indexMagic   = "SKIX"
	indexTrailer = 8 // length of the frame, magic

	entrySegment = 1 << 0 // the record is of another segment than the one before
	entryGap     = 1 << 1 // its ordinal is not the next
	entryTime    = 1 << 2 // it has a not-before
	entryFlags   = 1 << 3 // it has flags
)

// indexEntry is a record as the index knows it.
type indexEntry struct {
	addr      Addr
	offset    int64
	place     int // index into the places
	flags     uint8
	notBefore int64
}

// indexPlace is where records wait.
type indexPlace struct {
	slot     string
	priority int64
}

// indexBuilder collects the records of one segment in order.
type indexBuilder struct {
	places  map[indexPlace]int
	list    []byte // of the places, encoded
	entries []byte
	count   int
	last    Addr
	offset  int64
	bytes   int64 // of the records
}

// add adds a record that takes a number of bytes.
func (b *indexBuilder) add(a Addr, offset, size int64, o *op) {
	b.bytes += size
	place, ok := b.places[indexPlace{string(o.Slot), o.Priority}]
	if !ok {
		if b.places == nil {
			b.places = map[indexPlace]int{}
		}
		place = len(b.places)
		b.places[indexPlace{string(o.Slot), o.Priority}] = place
		b.list = binary.AppendVarint(appendBytes(b.list, o.Slot), o.Priority)
	}
	b.entry(indexEntry{addr: a, offset: offset, place: place, flags: o.Flags, notBefore: o.NotBefore})
}

func (b *indexBuilder) entry(e indexEntry) {
	head := byte(0)
	expected := b.last.Ordinal() + 1
	if e.addr.Segment() != b.last.Segment() { // so it is for the first: no segment has the number 0
		head |= entrySegment
		expected = 0
	}
	if e.addr.Ordinal() != expected {
		head |= entryGap
	}
	if e.notBefore != 0 {
		head |= entryTime
	}
	if e.flags != 0 {
		head |= entryFlags
	}
	d := append(b.entries, head)
	if head&entrySegment != 0 {
		d = binary.AppendUvarint(d, uint64(e.addr.Segment()))
	}
	if head&entryGap != 0 {
		d = binary.AppendUvarint(d, uint64(e.addr.Ordinal()))
	}
	d = binary.AppendUvarint(d, uint64(e.offset-b.offset))
	d = binary.AppendUvarint(d, uint64(e.place))
	if head&entryTime != 0 {
		d = binary.AppendVarint(d, e.notBefore)
	}
	if head&entryFlags != 0 {
		d = append(d, e.flags)
	}
	b.entries, b.last, b.offset = d, e.addr, e.offset
	b.count++
}

// frame returns the frame that holds the index.
func (b *indexBuilder) frame() []byte {
	ops := []byte{byte(opIndex)}
	ops = binary.AppendUvarint(ops, uint64(len(b.places)))
	ops = append(ops, b.list...)
	ops = binary.AppendUvarint(ops, uint64(b.bytes))
	ops = binary.AppendUvarint(ops, uint64(b.count))
	ops = append(ops, b.entries...)
	ops = binary.LittleEndian.AppendUint32(ops, uint32(frameHead+len(ops)+indexTrailer))
	return appendFrame(nil, 0, append(ops, indexMagic...))
}

// buildIndex reads a segment that has ended, and returns the frame of its index.
func buildIndex(seg *segment) ([]byte, error) {
	var b indexBuilder
	err := seg.records(func(a Addr, offset int64, o *op) { b.add(a, offset, o.length, o) })
	return b.frame(), err
}

// records reads the frames of a segment and calls f for each record in them.
func (s *segment) records(f func(a Addr, offset int64, o *op)) error {
	var rd frameReader
	var o op
	rd.reset(s.file, s.end, 0)
	for {
		at := rd.off
		_, ops, err := rd.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return s.damage(at, err)
		}
		d := decoder{b: ops}
		for id := s.first; ; {
			ok, err := d.next(&o)
			if err != nil {
				return s.damage(at, err)
			}
			if !ok {
				break
			}
			switch o.Kind {
			case opEnd:
				return nil // what follows is the index
			case opSegment:
				id = o.segment
			case OpPush, OpProvisional:
				o.length = int64(o.bodyAt + o.BodyLen - o.at)
				f(makeAddr(id, uint32(o.Addr)), at+frameHead+int64(o.at), &o)
			}
		}
	}
}

// damage says where a segment could not be read that was good before.
func (s *segment) damage(at int64, err error) error {
	if errors.Is(err, errBadFrame) || errors.Is(err, errMalformed) {
		return &DamageError{File: s.name, Offset: at, Reason: "a frame has become unreadable: " + err.Error()}
	}
	return fmt.Errorf("read %s: %w", s.name, err)
}

// readIndex reads the index of a segment, calls f for each entry, and notes where
// the records are.
func (s *segment) readIndex(f func(place int, e indexEntry, p indexPlace) error) error {
	d, err := s.indexOps()
	if err != nil {
		return err
	}
	places := d.places()
	s.bytes = d.size()
	n := d.count()
	s.offsets = make([]uint32, 0, n)
	if s.gen > 1 {
		s.addrs = make([]Addr, 0, n)
	}
	var e indexEntry
	for i := range n {
		before := e.addr
		d.entry(&e)
		if d.bad || e.place >= len(places) || e.addr <= before || !s.holds(e.addr, i) {
			return s.badIndex()
		}
		s.offsets = append(s.offsets, uint32(e.offset))
		if s.gen > 1 {
			s.addrs = append(s.addrs, e.addr)
		}
		if err := f(i, e, places[e.place]); err != nil {
			return err
		}
	}
	if d.bad {
		return s.badIndex()
	}
	s.indexed = true
	return nil
}

// holds reports whether a record may be in a place of the segment.
func (s *segment) holds(a Addr, place int) bool {
	if s.gen == 1 {
		return a == makeAddr(s.first, uint32(place))
	}
	return a.Segment() >= s.first && a.Segment() <= s.last
}

// count reads how many there are of what takes at least a byte each.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.b)-d.pos) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) places() []indexPlace {
	places := make([]indexPlace, d.count())
	for i := range places {
		places[i] = indexPlace{string(d.bytes()), d.varint()}
	}
	return places
}

// entry reads what indexBuilder.entry writes. e is the entry before.
func (d *decoder) entry(e *indexEntry) {
	head := d.uint8()
	segment, ordinal := e.addr.Segment(), e.addr.Ordinal()+1
	if head&entrySegment != 0 {
		segment, ordinal = d.small(), 0
	}
	if head&entryGap != 0 {
		ordinal = d.small()
	}
	e.addr = makeAddr(segment, ordinal)
	e.offset += int64(d.small())
	e.place = int(d.small())
	e.notBefore, e.flags = 0, 0
	if head&entryTime != 0 {
		e.notBefore = d.varint()
	}
	if head&entryFlags != 0 {
		e.flags = d.uint8()
	}
}

// indexOps finds the index by the trailer at the end of the file.
func (s *segment) indexOps() (*decoder, error) {
	trailer := make([]byte, indexTrailer)
	if s.size < int64(len(trailer)) {
		return nil, s.badIndex()
	}
	if _, err := s.file.ReadAt(trailer, s.size-indexTrailer); err != nil {
		return nil, fmt.Errorf("read %s: %w", s.name, err)
	}
	start := s.size - int64(binary.LittleEndian.Uint32(trailer))
	if string(trailer[4:]) != indexMagic || start < 0 {
		return nil, s.badIndex()
	}
	var rd frameReader
	rd.reset(s.file, s.size, start)
	_, ops, err := rd.next()
	if errors.Is(err, errBadFrame) || err == nil && (rd.off != s.size || ops[0] != byte(opIndex)) {
		return nil, s.badIndex()
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.name, err)
	}
	s.end = start
	return &decoder{b: ops, pos: 1}, nil
}

func (s *segment) badIndex() error {
	return &DamageError{File: s.name, Offset: s.size, Reason: "no valid index at the end"}
}
