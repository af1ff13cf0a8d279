package jobs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
)

const (
	snapshotFile  = "snapshot"
	snapshotMagic = "SKEINSNP"
)

// Snapshot takes what the owner of a job knows beside the pending records, so
// that a later run needs no frames from before it. It is handed back at
// recovery as operations, before anything else.
type Snapshot struct {
	ops     []byte
	seen    []uint64
	emitted []uint64
	reset   bool
}

// Set keeps a value, as [Tx.Set] does.
func (s *Snapshot) Set(key string, value []byte) { s.ops = appendMeta(s.ops, key, value) }

// Attempt keeps an attempt, as [Tx.Attempt] does.
func (s *Snapshot) Attempt(a Addr) { s.ops = appendAddr(append(s.ops, byte(OpAttempt)), a) }

// Tally gives a record a number; see [OpTally].
func (s *Snapshot) Tally(a Addr, n uint64) {
	s.ops = binary.AppendUvarint(appendAddr(append(s.ops, byte(OpTally)), a), n)
}

// Seen keeps fingerprints that were marked, or unmarked, since the snapshot
// before: the first 8 bytes of each as a big-endian number, in order. A zero
// stands before one that was unmarked. keys is the job's from here on.
func (s *Snapshot) Seen(keys []uint64) { s.seen = joined(s.seen, keys) }

// Emitted keeps numbers that tell what the crawl's start has emitted since the
// snapshot before, behind those that earlier snapshots have. words is the job's from
// here on.
func (s *Snapshot) Emitted(words []uint64) { s.emitted = joined(s.emitted, words) }

// joined returns a with b behind it, copying nothing if one of them is empty.
func joined(a, b []uint64) []uint64 {
	if len(a) == 0 {
		return b
	}
	return append(a, b...)
}

// ForgetEmitted drops what earlier snapshots have of them.
func (s *Snapshot) ForgetEmitted() { s.reset = true }

// snapshot is the state of a job as of one place in the journal.
type snapshot struct {
	segment  uint32 // in which the place is
	offset   int64  // of the place in the segment
	seq      uint64 // of the last frame before it
	round    uint64
	finished bool
	seen     wordRange
	emitted  wordRange
	feeds    []feedState
	files    []snapshotFileState
	open     map[Addr][]Addr
	ops      []byte // of the owner
}

// snapshotFileState is a segment as a snapshot knows it.
type snapshotFileState struct {
	first, last, gen uint32
	size             int64
	count            int // records
	live             bitmap
}

func (s *snapshot) append(dst []byte) []byte {
	dst = append(dst, snapshotMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, formatVersion)
	for _, n := range []uint64{uint64(s.segment), uint64(s.offset), s.seq, s.round} {
		dst = binary.AppendUvarint(dst, n)
	}
	dst = append(dst, boolByte(s.finished))
	dst = s.emitted.append(s.seen.append(dst))
	dst = binary.AppendUvarint(dst, uint64(len(s.feeds)))
	for i := range s.feeds {
		dst = s.feeds[i].append(dst)
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.files)))
	for i := range s.files {
		dst = s.files[i].append(dst)
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.open)))
	l := ledger{open: s.open}
	for _, owner := range l.owners() {
		dst = binary.AppendUvarint(appendAddr(dst, owner), uint64(len(s.open[owner])))
		for _, a := range s.open[owner] {
			dst = appendAddr(dst, a)
		}
	}
	return appendBytes(dst, s.ops)
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func (f *feedState) append(dst []byte) []byte {
	for _, n := range []uint64{f.id, uint64(f.length), uint64(f.mark), uint64(f.closed)} {
		dst = binary.AppendUvarint(dst, n)
	}
	dst = append(dst, boolByte(f.hasCRC))
	dst = binary.LittleEndian.AppendUint32(dst, f.crc)
	return appendString(dst, f.name)
}

func (f *snapshotFileState) append(dst []byte) []byte {
	for _, n := range []uint64{uint64(f.first), uint64(f.last), uint64(f.gen), uint64(f.size), uint64(f.count)} {
		dst = binary.AppendUvarint(dst, n)
	}
	for i := range (f.count + 63) / 64 {
		word := uint64(0)
		if i < len(f.live) {
			word = f.live[i]
		}
		dst = binary.LittleEndian.AppendUint64(dst, word)
	}
	return dst
}

// read fills the snapshot with what append wrote.
func (s *snapshot) read(d *decoder) {
	s.segment, s.offset, s.seq, s.round = d.small(), d.size(), d.uvarint(), d.uvarint()
	s.finished = d.uint8() != 0
	s.seen, s.emitted = d.wordRange(), d.wordRange()
	for n := d.count(); n > 0 && !d.bad; n-- {
		f := feedState{id: d.uvarint(), length: d.size(), mark: d.size(), closed: d.size(), hasCRC: d.uint8() != 0, crc: d.uint32()}
		f.name = string(d.bytes())
		s.feeds = append(s.feeds, f)
	}
	for n := d.count(); n > 0 && !d.bad; n-- {
		f := snapshotFileState{first: d.small(), last: d.small(), gen: d.small(), size: d.size(), count: int(d.small())}
		f.live = make(bitmap, min((f.count+63)/64, len(d.b)))
		for i := range f.live {
			f.live[i] = d.uint64()
		}
		s.files = append(s.files, f)
	}
	s.open = map[Addr][]Addr{}
	for n := d.count(); n > 0 && !d.bad; n-- {
		owner := d.addr()
		for k := d.count(); k > 0 && !d.bad; k-- {
			s.open[owner] = append(s.open[owner], d.addr())
		}
	}
	s.ops = d.bytes()
}

func readSnapshot(fsys FS, dir string) (*snapshot, error) {
	name := filepath.Join(dir, snapshotFile)
	b, err := readFile(fsys, name)
	if err != nil {
		return nil, err
	}
	ops, err := onlyFrame(b)
	if err != nil {
		return nil, &DamageError{File: name, Reason: err.Error()}
	}
	d := decoder{b: ops}
	if string(d.take(uint64(len(snapshotMagic)))) != snapshotMagic {
		return nil, &DamageError{File: name, Reason: "it is no snapshot"}
	}
	if v := d.uint32(); v != formatVersion {
		return nil, versionError(name, v)
	}
	var s snapshot
	s.read(&d)
	if d.bad || d.pos != len(d.b) || !s.coherent() {
		return nil, &DamageError{File: name, Offset: int64(d.pos), Reason: "malformed"}
	}
	return &s, nil
}

// coherent reports whether the parts of a snapshot that was read fit together.
func (s *snapshot) coherent() bool {
	n := len(s.files)
	return n > 0 && s.files[n-1].first == s.segment && s.seen.coherent() && s.emitted.coherent()
}

// onlyFrame returns the operations of the one frame that b holds.
func onlyFrame(b []byte) ([]byte, error) {
	if len(b) < frameHead || frameHead+int64(binary.LittleEndian.Uint32(b)) != int64(len(b)) {
		return nil, errors.New("its length is not what it says")
	}
	if binary.LittleEndian.Uint32(b[4:]) != frameChecksum(b) {
		return nil, errors.New("its checksum is wrong")
	}
	return b[frameHead:], nil
}

// write makes the snapshot the newest one, and returns its size in bytes.
func (s *snapshot) write(fsys FS, dir string) (int64, error) {
	name := filepath.Join(dir, snapshotFile)
	b := appendFrame(nil, s.seq, s.append(nil))
	if err := writeFileAtomic(fsys, name, b); err != nil {
		return 0, fmt.Errorf("write %s: %w", name, err)
	}
	return int64(len(b)), nil
}
