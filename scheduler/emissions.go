package scheduler

import (
	"encoding/binary"
	"slices"

	"github.com/skeincrawl/skein/jobs"
)

// emissions are hashes of what Start has emitted in this round. A Start that was
// cut short is called again, and what it emits once more is passed over; if
// nothing got a response, it is to run as if it never had.
type emissions struct {
	all      chunks // in memory until some request of this run is answered
	answered bool
	fresh    []uint64 // what no snapshot has
	reset    bool     // what earlier snapshots have does not count any more

	void map[uint64]int // hash -> what was added before this place does not count
}

// add notes something that was emitted.
func (e *emissions) add(hashes ...uint64) {
	if !e.answered {
		e.all.add(hashes...)
	}
	e.fresh = append(e.fresh, hashes...)
}

// know takes what a snapshot has.
func (e *emissions) know(words []byte) {
	for ; len(words) >= 8; words = words[8:] {
		e.all.add(binary.BigEndian.Uint64(words))
	}
}

// forget drops all of it.
func (e *emissions) forget() {
	e.all, e.fresh, e.reset, e.void = nil, nil, true, nil
}

// remove voids all that was emitted of a hash up to now: its URL was dropped. It
// takes effect with prune.
func (e *emissions) remove(hash uint64) {
	if e.void == nil {
		e.void = map[uint64]int{}
	}
	e.void[hash] = e.all.length()
}

// prune takes off what is void.
func (e *emissions) prune() {
	if len(e.void) == 0 {
		return
	}
	kept := slices.Concat(e.all...)
	i := -1
	kept = slices.DeleteFunc(kept, func(h uint64) bool { i++; return i < e.void[h] })
	e.forget()
	e.add(kept...)
}

// settle drops what is not needed any more: none of it once Start has ended and a
// request was answered.
func (e *emissions) settle(answered, ended bool) {
	if answered && !e.answered {
		e.answered, e.all = true, nil
	}
	if e.answered && ended {
		e.forget()
	}
}

// accepted returns what an interrupted Start had emitted.
func (e *emissions) accepted() *Accepted {
	hashes := slices.Concat(e.all...)
	if len(hashes) == 0 {
		return nil
	}
	return &Accepted{hashes: hashes, left: len(hashes)}
}

// snapshot keeps what no snapshot has.
func (e *emissions) snapshot(s *jobs.Snapshot) {
	if e.reset {
		s.ForgetEmitted()
	}
	s.Emitted(e.fresh)
	e.fresh, e.reset = nil, false
}

// chunks is a list of numbers that grows without being copied.
type chunks [][]uint64

const chunkLength = 8192

func (c chunks) length() int {
	if len(c) == 0 {
		return 0
	}
	return (len(c)-1)*chunkLength + len(c[len(c)-1])
}

func (c *chunks) add(numbers ...uint64) {
	for _, n := range numbers {
		last := len(*c) - 1
		if last < 0 || len((*c)[last]) == chunkLength {
			*c = append(*c, make([]uint64, 0, chunkLength))
			last++
		}
		(*c)[last] = append((*c)[last], n)
	}
}
