package jobs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

const (
	packFile  = "pack.tmp"
	packFrame = 8 << 10 // operations in one frame of a packed segment: a damage costs a frame
)

// pack rewrites segments of which little is needed, and joins small neighbours,
// so that disk and files stay bounded. What it writes counts from the next
// snapshot on, and only then the old files go. It reports whether it wrote anything.
func (j *Job) pack(c *capture) (packed bool, err error) {
	n := len(c.segs) - 1 // the last one takes frames
	for from := 0; from < n; {
		to := c.group(from, n, j.opt.SegmentSize)
		if to > from {
			if err := j.packGroup(c, from, to); err != nil || j.quitting() {
				return packed, err
			}
			packed = true
		}
		from = max(to, from+1)
	}
	return packed, nil
}

func (j *Job) quitting() bool {
	select {
	case <-j.quit:
		return true
	default:
		return false
	}
}

// group returns the end of the group of segments, beginning with one, that are
// worth to be rewritten as one; it is from if there is none. Neighbours are joined
// when they are of about one size, so that nothing is rewritten too often.
func (c *capture) group(from, n int, target int64) (to int) {
	total := c.needed(from)
	wasteful := total*2 < c.segs[from].size
	to = from + 1
	for ; to < n; to++ {
		next := c.needed(to)
		if total+next > target || next*2 >= c.segs[to].size && (total > 2*next || total+next > target/2) {
			break
		}
		total += next
	}
	if to == from+1 && !wasteful {
		return from
	}
	return to
}

// needed estimates how many bytes of a segment are still needed.
func (c *capture) needed(i int) int64 {
	seg, f := c.segs[i], &c.snap.files[i]
	return seg.bytes * int64(f.live.count()) / max(int64(f.count), 1)
}

// packGroup writes what is needed of some neighbours into one new segment, and
// puts it in their place.
func (j *Job) packGroup(c *capture, from, to int) error {
	old := c.segs[from:to]
	p := &packer{first: old[0].first, last: old[len(old)-1].last, seq: 1}
	for _, seg := range old {
		p.gen = max(p.gen, seg.gen+1)
	}
	seg, err := j.writePacked(p, old, c.snap.files[from:to])
	if err != nil {
		return fmt.Errorf("pack journal segments %d to %d: %w", p.first, p.last, err)
	}
	if seg == nil { // the job is being closed
		return nil
	}
	j.swap(old, seg)
	for _, s := range old {
		j.keep.obsolete = append(j.keep.obsolete, s.name)
	}
	return j.closeFiles(old)
}

// writePacked returns the new segment, open, or nil if the job is being closed.
func (j *Job) writePacked(p *packer, old []*segment, files []snapshotFileState) (*segment, error) {
	tmp := filepath.Join(j.queue(), packFile)
	var err error
	if p.file, err = j.fsys.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
		return nil, err
	}
	p.ops = appendHeader(nil, p.first, p.gen, p.seq)
	for i := 0; i < len(old) && err == nil && !j.quitting(); i++ {
		err = p.addAll(old[i], files[i].live, j.quitting)
	}
	quit := j.quitting()
	if err == nil && !quit {
		err = p.end()
	}
	if err = errors.Join(err, p.file.Close()); err != nil {
		return nil, err
	}
	if quit {
		return nil, j.fsys.Remove(tmp)
	}
	return p.install(j.fsys, j.queue())
}

// swap puts a packed segment in the place of those that it was made of.
func (j *Job) swap(old []*segment, seg *segment) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for place, a := range seg.addrs {
		if s, at, ok := j.find(a); ok && s.live.has(at) {
			seg.live.set(place)
			seg.alive++
		}
	}
	for _, s := range old {
		j.keep.gone += s.size
	}
	i := slices.Index(j.segs, old[0])
	j.segs = slices.Replace(slices.Clone(j.segs), i, i+len(old), seg)
}

// packer writes a packed segment.
type packer struct {
	first, last, gen uint32
	file             File
	size             int64 // of what is in the file
	seq              uint64
	ops              []byte
	segment          uint32 // of the last record in ops
	index            indexBuilder
	addrs            []Addr
	offsets          []uint32
	ended            int64
}

// addAll takes the records of a segment that are alive.
func (p *packer) addAll(seg *segment, live bitmap, quitting func() bool) error {
	var o op
	var raw []byte
	for place := range seg.offsets {
		if !live.has(place) {
			continue
		}
		a := seg.addr(place)
		var err error
		if raw, err = readRecord(seg, a, int64(seg.offsets[place]), raw[:0], &o); err != nil {
			return err
		}
		p.add(a, raw, &o)
		if len(p.ops) < packFrame {
			continue
		}
		if err := p.flush(); err != nil || quitting() {
			return err
		}
	}
	return nil
}

// add takes a push operation as it is.
func (p *packer) add(a Addr, raw []byte, o *op) {
	if a.Segment() != p.segment {
		p.segment = a.Segment()
		p.ops = binary.AppendUvarint(append(p.ops, byte(opSegment)), uint64(p.segment))
	}
	at := p.size + frameHead + int64(len(p.ops))
	p.ops = append(p.ops, raw...)
	p.index.add(a, at, int64(len(raw)), o)
	p.addrs, p.offsets = append(p.addrs, a), append(p.offsets, uint32(at))
}

// flush writes a frame.
func (p *packer) flush() error {
	err := p.write(appendFrame(nil, p.seq, p.ops))
	p.ops = p.ops[:0]
	p.seq++
	p.segment = 0
	return err
}

func (p *packer) write(b []byte) error {
	_, err := p.file.WriteAt(b, p.size)
	p.size += int64(len(b))
	return err
}

// end writes the end frame and the index, and makes all of it durable.
func (p *packer) end() error {
	p.ops = append(p.ops, byte(opEnd))
	if err := p.flush(); err != nil {
		return err
	}
	p.ended = p.size
	if err := p.write(p.index.frame()); err != nil {
		return err
	}
	return p.file.Sync()
}

// install gives the segment its name and opens it.
func (p *packer) install(fsys FS, dir string) (*segment, error) {
	name := filepath.Join(dir, segmentName(p.first, p.last, p.gen))
	if err := fsys.Rename(filepath.Join(dir, packFile), name); err != nil {
		return nil, err
	}
	if err := fsys.SyncDir(dir); err != nil {
		return nil, err
	}
	seg, err := openSegment(fsys, segmentFile{p.first, p.last, p.gen, name}, readWrite)
	if err != nil {
		return nil, err
	}
	seg.end, seg.indexed, seg.bytes = p.ended, true, p.index.bytes
	seg.addrs, seg.offsets = p.addrs, p.offsets
	return seg, nil
}
