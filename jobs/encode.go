package jobs

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	formatVersion = 2
	frameHead     = 16      // len32 crc32c seq64
	maxFrame      = 1 << 30 // of operations in one frame, so that offsets fit into 32 bits
	markWindow    = 64 << 10
	maxFeeds      = 1 << 16 // a higher number is no number of a feed
	magic         = "SKEINJNL"
)

func crcTable() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func frameChecksum(frame []byte) uint32 {
	table := crcTable()
	c := crc32.Update(0, table, frame[:4])
	return crc32.Update(c, table, frame[8:])
}

// appendFrame appends one frame holding ops, which must not be empty.
func appendFrame(dst []byte, seq uint64, ops []byte) []byte {
	at := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(ops)))
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint64(dst, seq)
	dst = append(dst, ops...)
	binary.LittleEndian.PutUint32(dst[at+4:], frameChecksum(dst[at:]))
	return dst
}

func appendHeader(dst []byte, segment, generation uint32, firstSeq uint64) []byte {
	dst = append(dst, byte(opHeader))
	dst = append(dst, magic...)
	dst = binary.LittleEndian.AppendUint32(dst, formatVersion)
	dst = binary.LittleEndian.AppendUint32(dst, segment)
	dst = binary.LittleEndian.AppendUint32(dst, generation)
	return binary.LittleEndian.AppendUint64(dst, firstSeq)
}

func appendString(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

func appendBytes(dst, b []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	return append(dst, b...)
}

func appendAddr(dst []byte, a Addr) []byte {
	dst = binary.AppendUvarint(dst, uint64(a.Segment()))
	return binary.AppendUvarint(dst, uint64(a.Ordinal()))
}

func appendRecord(dst []byte, ordinal uint32, r *Record) []byte {
	dst = binary.AppendUvarint(dst, uint64(ordinal))
	dst = append(dst, r.Flags)
	dst = binary.AppendVarint(dst, r.Priority)
	dst = binary.AppendVarint(dst, r.NotBefore)
	dst = append(dst, r.Fingerprint[:]...)
	dst = appendString(dst, r.Slot)
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(r.Body, crcTable()))
	return appendBytes(dst, r.Body)
}

func appendFeed(dst []byte, id uint64, length int64, crc uint32) []byte {
	dst = append(dst, byte(opFeed))
	dst = binary.AppendUvarint(dst, id)
	dst = binary.AppendUvarint(dst, uint64(length))
	return binary.LittleEndian.AppendUint32(dst, crc)
}

func appendFeedName(dst []byte, id uint64, base int64, name string) []byte {
	dst = append(dst, byte(opFeedName))
	dst = binary.AppendUvarint(dst, id)
	dst = binary.AppendUvarint(dst, uint64(base))
	return appendString(dst, name)
}

// feedMark is a feed's line in a sync mark or in a clean close.
type feedMark struct {
	id     uint64
	length int64
	hasCRC bool
	crc    uint32 // of the markWindow bytes before length
}

func appendMark(dst []byte, durable uint64, marks []feedMark) []byte {
	dst = append(dst, byte(opMark))
	dst = binary.AppendUvarint(dst, durable)
	dst = binary.AppendUvarint(dst, uint64(len(marks)))
	for _, m := range marks {
		dst = binary.AppendUvarint(dst, m.id)
		dst = binary.AppendUvarint(dst, uint64(m.length))
		if m.hasCRC {
			dst = append(dst, 1)
		} else {
			dst = append(dst, 0)
		}
		dst = binary.LittleEndian.AppendUint32(dst, m.crc)
	}
	return dst
}

func appendClose(dst []byte, ends []feedMark) []byte {
	dst = append(dst, byte(opClose))
	dst = binary.AppendUvarint(dst, uint64(len(ends)))
	for _, m := range ends {
		dst = binary.AppendUvarint(dst, m.id)
		dst = binary.AppendUvarint(dst, uint64(m.length))
	}
	return dst
}

func appendRound(dst []byte, round uint64) []byte {
	dst = append(dst, byte(OpRound))
	return binary.AppendUvarint(dst, round)
}

func appendMeta(dst []byte, key string, value []byte) []byte {
	return appendBytes(appendString(append(dst, byte(OpMeta)), key), value)
}
