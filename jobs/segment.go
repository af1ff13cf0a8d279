package jobs

import (
	"cmp"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const queueDir = "requests.queue"

// segment is one file of the journal. A plain one holds all frames of one segment
// number, and a record's place in it is its ordinal. A packed one holds what is
// left of the records of several numbers.
type segment struct {
	first, last uint32
	gen         uint32
	name        string // path
	file        File
	size        int64    // with what is still in the buffer
	written     int64    // handed to the kernel
	end         int64    // behind the end frame, where the index begins; 0 before the end
	indexed     bool     // the index is in the file
	lastSeq     uint64   // of the frames found in it at open
	addrs       []Addr   // of a packed segment: of its records, in order
	offsets     []uint32 // by place: of the record in the file
	live        bitmap   // by place: the record is still needed
	alive       int      // number of them
	bytes       int64    // of all records
	dirty       bool     // written since the last sync
}

// bitmap is a set of small numbers.
type bitmap []uint64

func (b bitmap) has(i int) bool { return i>>6 < len(b) && b[i>>6]&(1<<(i&63)) != 0 }

func (b *bitmap) set(i int) {
	for len(*b) <= i>>6 {
		*b = append(*b, 0)
	}
	(*b)[i>>6] |= 1 << (i & 63)
}

func (b bitmap) clear(i int) { b[i>>6] &^= 1 << (i & 63) }

func (b bitmap) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// segmentFile is a segment as its file name tells.
type segmentFile struct {
	first, last, gen uint32
	name             string
}

func (f segmentFile) packed() bool { return f.gen > 1 }

func segmentName(first, last, gen uint32) string {
	if gen == 1 {
		return fmt.Sprintf("seg-%08d.g1.log", first)
	}
	return fmt.Sprintf("seg-%08d-%08d.g%d.log", first, last, gen)
}

// parseSegmentName reads what segmentName writes.
func parseSegmentName(name string) (f segmentFile, ok bool) {
	format, args := "seg-%d-%d.g%d.log", []any{&f.first, &f.last, &f.gen}
	if strings.Count(name, "-") == 1 {
		format, args = "seg-%d.g%d.log", []any{&f.first, &f.gen}
	}
	if _, err := fmt.Sscanf(name, format, args...); err != nil {
		return f, false
	}
	f.last = max(f.last, f.first)
	return f, name == segmentName(f.first, f.last, f.gen)
}

// listQueue returns the files of segments in order, and whether there is a
// snapshot.
func listQueue(fsys FS, dir string) (files []segmentFile, snapshot bool, err error) {
	names, err := fsys.List(dir)
	if isNotExist(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	for _, name := range names {
		if f, ok := parseSegmentName(name); ok {
			f.name = filepath.Join(dir, name)
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b segmentFile) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.gen, b.gen))
	})
	return files, slices.Contains(names, snapshotFile), nil
}

func openSegment(fsys FS, f segmentFile, flag int) (*segment, error) {
	file, err := fsys.OpenFile(f.name, flag, 0)
	if err != nil {
		return nil, err
	}
	size, err := file.Size()
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return &segment{first: f.first, last: f.last, gen: f.gen, name: f.name, file: file, size: size, written: size}, nil
}

// readWrite is how the segments of a job are opened that is to go on.
const readWrite = os.O_RDWR

// seal gives back the memory that growing has left unused.
func (s *segment) seal() { s.offsets = append(make([]uint32, 0, len(s.offsets)), s.offsets...) }

// add notes one more record, which is alive and takes a number of bytes.
func (s *segment) add(offset, size int64) {
	s.live.set(len(s.offsets))
	s.bytes += size
	s.offsets = append(s.offsets, uint32(offset))
	s.alive++
}

// place returns where in the segment a record is.
func (s *segment) place(a Addr) (int, bool) {
	if s.addrs != nil {
		return slices.BinarySearch(s.addrs, a)
	}
	n := int(a.Ordinal())
	return n, n < len(s.offsets)
}

// addr returns the address of the record in a place.
func (s *segment) addr(place int) Addr {
	if s.addrs != nil {
		return s.addrs[place]
	}
	return makeAddr(s.first, uint32(place))
}

// kill notes that a record is not needed any more.
func (s *segment) kill(place int) {
	if s.live.has(place) {
		s.live.clear(place)
		s.alive--
	}
}
