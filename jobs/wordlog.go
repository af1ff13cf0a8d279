package jobs

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
)

const (
	seenFile    = "requests.seen"
	emittedFile = "start.emitted"
	wordMagic   = "SKEINW64"
	wordHead    = 16 // magic, version u32, zero u32
)

// wordRange is the part of a word log that counts. The zero value is none.
type wordRange struct {
	from, to int64  // offsets in the file; from is at least wordHead if there is anything
	crc      uint32 // of the part
}

func (r wordRange) append(dst []byte) []byte {
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(r.from)), uint64(r.to))
	return binary.LittleEndian.AppendUint32(dst, r.crc)
}

func (d *decoder) wordRange() wordRange {
	return wordRange{from: d.size(), to: d.size(), crc: d.uint32()}
}

func (r wordRange) coherent() bool {
	return r.from == 0 && r.to == 0 || r.from >= wordHead && r.to >= r.from && (r.to-r.from)%8 == 0
}

// wordLog is a file of 64-bit numbers that the snapshots cover. What a snapshot
// names is never written over: what is new goes behind it.
type wordLog struct {
	fsys FS
	name string
	file File // nil until something is written
	wordRange
}

func newWordLog(fsys FS, jobDir, name string, r wordRange) *wordLog {
	return &wordLog{fsys: fsys, name: filepath.Join(jobDir, name), wordRange: r}
}

// append adds words durably, and forgets those before if reset is set. It returns
// the new range, which counts once a snapshot has it.
func (l *wordLog) append(words []uint64, reset bool) (wordRange, error) {
	r := l.wordRange
	if reset {
		r.from, r.crc = r.to, 0
	}
	if len(words) == 0 {
		if r.from == r.to {
			r = wordRange{}
		}
		return r, nil
	}
	if err := l.open(); err != nil {
		return r, err
	}
	b := make([]byte, 0, wordHead+8*len(words))
	at := r.to
	if at == 0 {
		b = append(b, wordMagic...)
		b = binary.LittleEndian.AppendUint32(b, formatVersion)
		b = append(b, 0, 0, 0, 0)
		r.from, r.to = wordHead, wordHead
	}
	head := len(b)
	for _, w := range words {
		b = binary.BigEndian.AppendUint64(b, w)
	}
	if _, err := l.file.WriteAt(b, at); err != nil {
		return r, fmt.Errorf("write %s: %w", l.name, err)
	}
	if err := l.file.Sync(); err != nil {
		return r, fmt.Errorf("sync %s: %w", l.name, err)
	}
	r.to += int64(len(b) - head)
	r.crc = crc32.Update(r.crc, crcTable(), b[head:])
	return r, nil
}

// open opens the file for writing, and makes its directory entry durable.
func (l *wordLog) open() error {
	if l.file != nil {
		return nil
	}
	f, err := l.fsys.OpenFile(l.name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open %s: %w", l.name, err)
	}
	l.file = f
	if err := l.fsys.SyncDir(filepath.Dir(l.name)); err != nil {
		return fmt.Errorf("sync the directory of %s: %w", l.name, err)
	}
	return nil
}

// settle takes the range that a durable snapshot has. A file of which nothing
// counts any more is removed.
func (l *wordLog) settle(r wordRange) error {
	had := l.wordRange
	l.wordRange = r
	if r.to > 0 || had.to == 0 {
		return nil
	}
	if err := l.close(); err != nil {
		return err
	}
	return removeIfThere(l.fsys, l.name)
}

func (l *wordLog) close() error {
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return f.Close()
}

// read hands the words to take in large pieces.
func (l *wordLog) read(take func(b []byte) error) error {
	if l.to == 0 {
		return nil
	}
	f, err := l.fsys.OpenFile(l.name, os.O_RDONLY, 0)
	if isNotExist(err) {
		return &DamageError{File: l.name, Reason: "it is missing, although the snapshot needs it"}
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if size, err := f.Size(); err != nil || size < l.to {
		return l.damage(size, err, "it has become shorter")
	}
	head := make([]byte, wordHead)
	if _, err := f.ReadAt(head, 0); err != nil || string(head[:8]) != wordMagic {
		return l.damage(0, err, "it does not begin as it should")
	}
	if v := binary.LittleEndian.Uint32(head[8:]); v != formatVersion {
		return versionError(l.name, v)
	}
	return l.readWords(f, take)
}

func (l *wordLog) readWords(f File, take func(b []byte) error) error {
	crc := uint32(0)
	buf := make([]byte, readChunk)
	for at := l.from; at < l.to; {
		part := buf[:min(int64(len(buf)), l.to-at)]
		if n, err := f.ReadAt(part, at); n < len(part) {
			return l.damage(at+int64(n), err, "it ends")
		}
		crc = crc32.Update(crc, crcTable(), part)
		if err := take(part); err != nil {
			return err
		}
		at += int64(len(part))
	}
	if crc != l.crc {
		return l.damage(l.from, nil, "its checksum is wrong")
	}
	return nil
}

func (l *wordLog) damage(at int64, err error, reason string) error {
	if err != nil {
		return fmt.Errorf("read %s: %w", l.name, err)
	}
	return &DamageError{File: l.name, Offset: at, Reason: reason}
}

// keyReader tells keys that were marked from those that were unmarked.
type keyReader struct {
	zero  bool
	visit func(Op) error
}

// take hands out the keys in b, whose length is a multiple of 8.
func (r *keyReader) take(b []byte) error {
	from := 0
	for at := 0; at < len(b); at += 8 {
		key := binary.BigEndian.Uint64(b[at:])
		if !r.zero && key != 0 {
			continue
		}
		if err := visitWords(OpSeenKeys, b[from:at], r.visit); err != nil {
			return err
		}
		from = at + 8
		if r.zero {
			o := Op{Kind: OpUnseen}
			copy(o.Fingerprint[:], b[at:at+8])
			if err := r.visit(o); err != nil {
				return err
			}
		}
		r.zero = !r.zero
	}
	return visitWords(OpSeenKeys, b[from:], r.visit)
}

func visitWords(kind Kind, b []byte, visit func(Op) error) error {
	if len(b) == 0 {
		return nil
	}
	return visit(Op{Kind: kind, Value: b})
}
