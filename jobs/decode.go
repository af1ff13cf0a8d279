package jobs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

var errMalformed = errors.New("malformed operation")

// unknownOpError is an operation that may not be skipped.
type unknownOpError Kind

func (e unknownOpError) Error() string { return fmt.Sprintf("operation code 0x%02x", uint8(e)) }

// op is an operation with the parts that only this package sees.
type op struct {
	Op
	at       int // offset of the operation within the frame's operations
	id       uint64
	length   int64
	crc      uint32
	durable  uint64
	name     []byte
	marks    []feedMark
	version  uint32
	segment  uint32
	gen      uint32
	firstSeq uint64
	bodyCRC  uint32
	body     []byte
	bodyAt   int // offset of the body within the frame's operations
}

// decoder reads the operations of one frame. A failed read sets bad and
// returns zeros, so that an operation is checked once at its end.
type decoder struct {
	b   []byte
	pos int
	bad bool
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b[d.pos:])
	if n <= 0 {
		d.fail()
		return 0
	}
	d.pos += n
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b[d.pos:])
	if n <= 0 {
		d.fail()
		return 0
	}
	d.pos += n
	return v
}

// take returns the next n bytes.
func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)-d.pos) {
		d.fail()
		return nil
	}
	b := d.b[d.pos : d.pos+int(n)]
	d.pos += int(n)
	return b
}

func (d *decoder) fail() {
	d.bad = true
	d.pos = len(d.b)
}

func (d *decoder) bytes() []byte { return d.take(d.uvarint()) }

func (d *decoder) uint8() uint8 {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	if b := d.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// small reads a number of at most 32 bits.
func (d *decoder) small() uint32 {
	v := d.uvarint()
	if v > math.MaxUint32 {
		d.fail()
	}
	return uint32(v)
}

// size reads a length of a file.
func (d *decoder) size() int64 {
	v := d.uvarint()
	if v > math.MaxInt64 {
		d.fail()
		return 0
	}
	return int64(v)
}

func (d *decoder) addr() Addr {
	segment := d.small()
	return makeAddr(segment, d.small())
}

// next reads one operation into o, whose slices point into the frame. It
// returns false at the end of the frame. Operations that may be skipped come
// out with their code and nothing else.
func (d *decoder) next(o *op) (bool, error) {
	if d.pos >= len(d.b) {
		return false, nil
	}
	o.at = d.pos
	code := Kind(d.b[d.pos])
	d.pos++
	o.Op, o.body = Op{Kind: code}, nil
	switch code {
	case OpPush:
		d.record(o)
	case OpProvisional:
		o.Owner = d.addr()
		d.record(o)
	case OpAck, OpAttempt, OpRelease:
		o.Addr = d.addr()
	case OpTally:
		o.Addr, o.N = d.addr(), d.uvarint()
	case OpAdopt:
		o.Owner = d.addr()
	case OpSeen, OpUnseen:
		copy(o.Fingerprint[:], d.take(20))
	case OpMeta:
		o.Key = d.bytes()
		o.Value = d.bytes()
	case OpRound:
		o.Round = d.uvarint()
	default:
		if err := d.internal(o); err != nil {
			return false, err
		}
	}
	if d.bad {
		return false, fmt.Errorf("operation code 0x%02x: %w", uint8(code), errMalformed)
	}
	return true, nil
}

func (d *decoder) record(o *op) {
	d.recordHead(o)
	o.body = d.take(uint64(o.BodyLen))
}

// recordHead reads a record up to its body, which need not be there.
func (d *decoder) recordHead(o *op) {
	o.Addr = Addr(d.small()) // the reader adds the segment
	o.Flags = d.uint8()
	o.Priority = d.varint()
	o.NotBefore = d.varint()
	copy(o.Fingerprint[:], d.take(20))
	o.Slot = d.bytes()
	o.bodyCRC = d.uint32()
	o.BodyLen = int(d.small())
	o.bodyAt = d.pos
}

func (d *decoder) internal(o *op) error {
	switch o.Kind {
	case opHeader:
		d.header(o)
	case opFeed:
		o.id, o.length, o.crc = d.uvarint(), d.size(), d.uint32()
	case opFeedName:
		o.id, o.length, o.name = d.uvarint(), d.size(), d.bytes()
	case opMark:
		o.durable = d.uvarint()
		d.list(o, true)
	case opClose:
		d.list(o, false)
	case opSegment:
		o.segment = d.small()
	case opIndex:
		d.pos = len(d.b)
	case opFinished, opEnd, opReopened:
	default:
		if o.Kind&opSkip == 0 {
			return unknownOpError(o.Kind)
		}
		d.bytes()
	}
	return nil
}

func (d *decoder) header(o *op) {
	if string(d.take(uint64(len(magic)))) != magic {
		d.fail()
	}
	o.version, o.segment, o.gen, o.firstSeq = d.uint32(), d.uint32(), d.uint32(), d.uint64()
}

func (d *decoder) list(o *op, withCRC bool) {
	o.marks = o.marks[:0]
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		m := feedMark{id: d.uvarint(), length: d.size()}
		if withCRC {
			m.hasCRC, m.crc = d.uint8() != 0, d.uint32()
		}
		o.marks = append(o.marks, m)
	}
}
