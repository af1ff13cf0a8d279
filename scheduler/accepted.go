package scheduler

import (
	"encoding/binary"
	"slices"
)

// Accepted is a multiset of hashes: what an interrupted Start had emitted. Its
// methods work on a nil Accepted, which is empty. It is used by one goroutine.
type Accepted struct {
	hashes []uint64 // sorted once taken from
	taken  []bool
	left   int
}

// Len returns how many hashes are left.
func (a *Accepted) Len() int {
	if a == nil {
		return 0
	}
	return a.left
}

// Take takes a hash off once, and reports whether it was there.
func (a *Accepted) Take(h uint64) bool {
	if a.Len() == 0 {
		return false
	}
	if a.taken == nil {
		slices.Sort(a.hashes)
		a.taken = make([]bool, len(a.hashes))
	}
	for i, _ := slices.BinarySearch(a.hashes, h); i < len(a.hashes) && a.hashes[i] == h; i++ {
		if !a.taken[i] {
			a.taken[i] = true
			a.left--
			return true
		}
	}
	return false
}

// HashOf returns the part of a fingerprint that a multiset and the duplicate
// filter keep: its first 64 bits.
func HashOf(fp Fingerprint) uint64 { return seenKey(fp) }

// unhash returns a fingerprint with a hash, as good as any for a set.
func unhash(h uint64) (fp Fingerprint) {
	binary.BigEndian.PutUint64(fp[:], h)
	return fp
}
