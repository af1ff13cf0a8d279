package jobs

import (
	"errors"
	"fmt"
	"hash/crc32"
)

// Verified is what [Verify] found.
type Verified struct {
	Segments int
	Records  int     // that are still needed, all of which were read
	Problems []error // each names a file and an offset
}

// Verify reads everything in a job directory and checks it: every frame, every
// record, the snapshot and what it names. A crawl that goes on meanwhile does no
// harm. An error means that the directory could not be read at all.
func Verify(fsys FS, dir string) (Verified, error) {
	var r Verified
	v, err := Look(fsys, dir)
	if isDamage(err) {
		r.found(err)
		return r, nil
	}
	if err != nil {
		return r, err
	}
	defer v.Close() //nolint:errcheck // nothing was written
	err = v.Visit(func(Op) error { return nil })
	if err != nil && !isDamage(err) {
		return r, err
	}
	r.found(err)
	for _, seg := range v.scan.segs {
		if err := r.segment(seg, err == nil); err != nil {
			return r, err
		}
	}
	return r, nil
}

func isDamage(err error) bool {
	damage := new(DamageError)
	return errors.As(err, &damage)
}

// segment checks the frames and the records of a segment, and its index if that
// was read.
func (r *Verified) segment(seg *segment, indexed bool) error {
	r.Segments++
	whole := segment{first: seg.first, gen: seg.gen, name: seg.name, file: seg.file, end: seg.readable()}
	err := whole.records(func(a Addr, offset int64, o *op) {
		place, ok := seg.place(a)
		switch {
		case indexed && (!ok || int64(seg.offsets[place]) != offset):
			r.problem(seg, offset, fmt.Sprintf("record %v is not where the index says", a))
		case crc32.Checksum(o.body, crcTable()) != o.bodyCRC:
			r.problem(seg, offset, fmt.Sprintf("the checksum of record %v is wrong", a))
		case seg.live.has(place):
			r.Records++
		}
	})
	if isDamage(err) {
		r.found(err)
		return nil
	}
	return err
}

// found notes a damage, once.
func (r *Verified) found(err error) {
	damage := new(DamageError)
	if !errors.As(err, &damage) {
		return
	}
	for _, p := range r.Problems {
		other := new(DamageError)
		if errors.As(p, &other) && other.File == damage.File && other.Offset == damage.Offset {
			return
		}
	}
	r.Problems = append(r.Problems, damage)
}

func (r *Verified) problem(seg *segment, offset int64, reason string) {
	r.found(&DamageError{File: seg.name, Offset: offset, Reason: reason})
}
