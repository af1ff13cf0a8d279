package faultfs

import "io/fs"

// Kind is a kind of operation, for counting and for faults.
type Kind string

// The kinds of operations. Any stands for all of them.
const (
	Any      Kind = ""
	Open     Kind = "open"
	Create   Kind = "create"
	Read     Kind = "read"
	Write    Kind = "write"
	Sync     Kind = "sync"
	SyncDir  Kind = "syncdir"
	Truncate Kind = "truncate"
	Rename   Kind = "rename"
	Remove   Kind = "remove"
	Mkdir    Kind = "mkdir"
	Lock     Kind = "lock"
)

// faults counts operations and says which fail. Its FS guards it.
type faults struct {
	counts map[Kind]int
	fails  []fault
	space  int64 // bytes that may still be written; negative is unlimited
}

type fault struct {
	kind Kind
	n    int // counts down to 0
	err  error
	cut  func(kind Kind, name string) // instead of an error
}

func newFaults() faults { return faults{counts: map[Kind]int{}, space: -1} }

// FailAt makes the n-th operation of a kind from now, counting from 1, fail
// with an error, and have no effect.
func (f *FS) FailAt(kind Kind, n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults.fails = append(f.faults.fails, fault{kind: kind, n: n, err: err})
}

// CutAt cuts the power at the n-th operation of a kind from now, counting from 1,
// before it has an effect: from then on Crash returns what was left at that
// moment. Who uses the FS does not notice. told is called with the operation; it
// must not use the FS.
func (f *FS) CutAt(kind Kind, n int, told func(kind Kind, name string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults.fails = append(f.faults.fails, fault{kind: kind, n: n, cut: func(kind Kind, name string) {
		f.left = f.kept()
		told(kind, name)
	}})
}

// LimitBytes makes the disk full (ENOSPC) after n more bytes are written; the
// write that meets the limit is cut short. What is removed or cut off makes room
// again. A negative n lifts the limit.
func (f *FS) LimitBytes(n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults.space = n
}

// Count returns how many operations of a kind there were.
func (f *FS) Count(kind Kind) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.faults.counts[kind]
}

func (f *faults) check(kind Kind, name string) error {
	f.counts[kind]++
	f.counts[Any]++
	var err error
	for i := range f.fails {
		x := &f.fails[i]
		if x.kind != kind && x.kind != Any {
			continue
		}
		x.n--
		switch {
		case x.n != 0:
		case x.cut != nil:
			x.cut(kind, name)
		default:
			err = &fs.PathError{Op: string(kind), Path: name, Err: x.err}
		}
	}
	return err
}

// room returns how many of n bytes may be written.
func (f *faults) room(n int) int {
	if f.space < 0 {
		return n
	}
	n = int(min(int64(n), f.space))
	f.space -= int64(n)
	return n
}

// free gives back the room of n bytes.
func (f *faults) free(n int) {
	if f.space >= 0 {
		f.space += int64(max(n, 0))
	}
}
