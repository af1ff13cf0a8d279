package jobs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

const queueDir = "requests.queue"

// segment is one file of the journal.
type segment struct {
	id      uint32
	name    string // path
	file    File
	size    int64    // with what is still in the buffer
	written int64    // handed to the kernel
	lastSeq uint64   // of the frames found in it at open
	offsets []uint32 // ordinal to the offset of its push; 0 is none
	dirty   bool     // written since the last sync
}

// segmentFile is a segment as found in the directory.
type segmentFile struct {
	id, gen uint32
	name    string
}

func segmentName(id, gen uint32) string { return fmt.Sprintf("seg-%08d.g%d.log", id, gen) }

// listSegments returns the segments in order. Of several generations of one
// segment the highest counts: a rewritten segment appears by a rename, whole.
func listSegments(fsys FS, dir string) ([]segmentFile, error) {
	names, err := fsys.List(dir)
	if isNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var files []segmentFile
	for _, name := range names {
		var f segmentFile
		if _, err := fmt.Sscanf(name, "seg-%d.g%d.log", &f.id, &f.gen); err != nil || name != segmentName(f.id, f.gen) {
			continue
		}
		f.name = filepath.Join(dir, name)
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b segmentFile) int {
		if a.id != b.id {
			return int(int64(a.id) - int64(b.id))
		}
		return int(int64(b.gen) - int64(a.gen))
	})
	return slices.CompactFunc(files, func(a, b segmentFile) bool { return a.id == b.id }), nil
}

func openSegment(fsys FS, f segmentFile) (*segment, error) {
	file, err := fsys.OpenFile(f.name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	size, err := file.Size()
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return &segment{id: f.id, name: f.name, file: file, size: size, written: size}, nil
}

// seal gives back the memory that growing has left unused.
func (s *segment) seal() { s.offsets = append(make([]uint32, 0, len(s.offsets)), s.offsets...) }

// place notes where the push with this ordinal lies.
func (s *segment) place(ordinal uint32, offset int64) {
	for uint32(len(s.offsets)) < ordinal {
		s.offsets = append(s.offsets, 0)
	}
	if uint32(len(s.offsets)) == ordinal {
		s.offsets = append(s.offsets, uint32(offset))
		return
	}
	s.offsets[ordinal] = uint32(offset)
}
