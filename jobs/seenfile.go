package jobs

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
)

const (
	seenFile  = "requests.seen"
	seenMagic = "SKEINSEE"
	seenHead  = 16 // magic, version u32, zero u32
)

// seenLog is the file of the fingerprints that the snapshots cover. It only grows:
// what lies behind the size that the newest snapshot names does not count.
type seenLog struct {
	fsys FS
	name string
	file File   // nil until something is written
	size int64  // of what counts, with the head; 0 if there is no file
	crc  uint32 // of what counts behind the head
}

func newSeenLog(fsys FS, jobDir string, size int64, crc uint32) *seenLog {
	return &seenLog{fsys: fsys, name: filepath.Join(jobDir, seenFile), size: size, crc: crc}
}

// append adds keys durably. It returns the new size and checksum, which count
// once a snapshot has them.
func (s *seenLog) append(keys []uint64) (size int64, crc uint32, err error) {
	if len(keys) == 0 {
		return s.size, s.crc, nil
	}
	if err := s.open(); err != nil {
		return 0, 0, err
	}
	b := make([]byte, 0, 8*len(keys)+seenHead)
	at := s.size
	if at == 0 {
		b = append(b, seenMagic...)
		b = binary.LittleEndian.AppendUint32(b, formatVersion)
		b = append(b, 0, 0, 0, 0)
	}
	head := len(b)
	for _, k := range keys {
		b = binary.BigEndian.AppendUint64(b, k)
	}
	if _, err := s.file.WriteAt(b, at); err != nil {
		return 0, 0, fmt.Errorf("write %s: %w", s.name, err)
	}
	if err := s.file.Sync(); err != nil {
		return 0, 0, fmt.Errorf("sync %s: %w", s.name, err)
	}
	return at + int64(len(b)), crc32.Update(s.crc, crcTable(), b[head:]), nil
}

// open opens the file for writing, and makes its directory entry durable.
func (s *seenLog) open() error {
	if s.file != nil {
		return nil
	}
	f, err := s.fsys.OpenFile(s.name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open %s: %w", s.name, err)
	}
	s.file = f
	if err := s.fsys.SyncDir(filepath.Dir(s.name)); err != nil {
		return fmt.Errorf("sync the directory of %s: %w", s.name, err)
	}
	return nil
}

func (s *seenLog) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// read hands the keys to visit in large pieces.
func (s *seenLog) read(visit func(Op) error) error {
	if s.size == 0 {
		return nil
	}
	f, err := s.fsys.OpenFile(s.name, os.O_RDONLY, 0)
	if isNotExist(err) {
		return &DamageError{File: s.name, Reason: "it is missing, although the snapshot needs it"}
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if size, err := f.Size(); err != nil || size < s.size {
		return s.damage(size, err, "it has become shorter")
	}
	head := make([]byte, seenHead)
	if _, err := f.ReadAt(head, 0); err != nil || string(head[:8]) != seenMagic {
		return s.damage(0, err, "it does not begin as it should")
	}
	if v := binary.LittleEndian.Uint32(head[8:]); v != formatVersion {
		return versionError(s.name, v)
	}
	return s.readKeys(f, visit)
}

func (s *seenLog) readKeys(f File, visit func(Op) error) error {
	crc := uint32(0)
	var r keyReader
	buf := make([]byte, readChunk)
	for at := int64(seenHead); at < s.size; {
		part := buf[:min(int64(len(buf)), s.size-at)]
		if n, err := f.ReadAt(part, at); n < len(part) {
			return s.damage(at+int64(n), err, "it ends")
		}
		crc = crc32.Update(crc, crcTable(), part)
		if err := r.take(part, visit); err != nil {
			return err
		}
		at += int64(len(part))
	}
	if crc != s.crc {
		return s.damage(seenHead, nil, "its checksum is wrong")
	}
	return nil
}

func (s *seenLog) damage(at int64, err error, reason string) error {
	if err != nil {
		return fmt.Errorf("read %s: %w", s.name, err)
	}
	return &DamageError{File: s.name, Offset: at, Reason: reason}
}

// keyReader tells keys that were marked from those that were unmarked.
type keyReader struct{ zero bool }

// take hands out the keys in b, whose length is a multiple of 8.
func (r *keyReader) take(b []byte, visit func(Op) error) error {
	from := 0
	for at := 0; at < len(b); at += 8 {
		key := binary.BigEndian.Uint64(b[at:])
		if !r.zero && key != 0 {
			continue
		}
		if err := visitKeys(b[from:at], visit); err != nil {
			return err
		}
		from = at + 8
		if r.zero {
			o := Op{Kind: OpUnseen}
			copy(o.Fingerprint[:], b[at:at+8])
			if err := visit(o); err != nil {
				return err
			}
		}
		r.zero = !r.zero
	}
	return visitKeys(b[from:], visit)
}

func visitKeys(b []byte, visit func(Op) error) error {
	if len(b) == 0 {
		return nil
	}
	return visit(Op{Kind: OpSeenKeys, Value: b})
}
