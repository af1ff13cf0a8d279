package scheduler

import (
	"encoding/binary"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Sizes of a seen-set. A table holds 8 bytes a slot, grows by a half when four
// fifths of it are taken, and so costs between 10 and 15 bytes a fingerprint.
const (
	seenShardBits = 10
	seenShards    = 1 << seenShardBits
	seenFirstSize = 8
)

// SeenSet is a set of fingerprints in memory. It tells them apart by their
// first 64 bits: in a crawl of n URLs it takes n²/2⁶⁵ new ones for known, 3 in
// a million at 10 million. It costs up to 15 bytes a fingerprint and 24 KiB
// when empty, and grows shard by shard, so no single call is slow.
//
// The zero value is an empty set. All methods are safe for concurrent use; Has
// never waits. A SeenSet must not be copied.
type SeenSet struct {
	shards [seenShards]seenShard
	zero   atomic.Bool // the key 0, which marks a free slot in the tables
	count  atomic.Int64
	slots  atomic.Int64
}

// seenShard is a hash table with open addressing. Readers follow the pointer
// without a lock: a slot changes only from free to taken, and a table whose
// entries move is replaced by another.
type seenShard struct {
	mu    sync.Mutex // held by writers
	used  int        // taken slots
	table atomic.Pointer[seenTable]
}

type seenTable struct{ slots []uint64 }

// Add marks a fingerprint as seen and reports whether it was new. Of any number
// of concurrent calls for one fingerprint exactly one gets true.
func (s *SeenSet) Add(fp Fingerprint) (added bool) {
	key := seenKey(fp)
	if key == 0 {
		added = s.zero.CompareAndSwap(false, true)
	} else {
		added = s.shard(key).add(key, &s.slots)
	}
	if added {
		s.count.Add(1)
	}
	return added
}

// Has reports whether a fingerprint has been marked.
func (s *SeenSet) Has(fp Fingerprint) bool {
	key := seenKey(fp)
	if key == 0 {
		return s.zero.Load()
	}
	t := s.shard(key).table.Load()
	if t == nil {
		return false
	}
	_, found := t.find(key)
	return found
}

// Remove forgets a fingerprint, so that a URL that was dropped can be tried
// again, and reports whether it was there. It copies a thousandth of the set.
func (s *SeenSet) Remove(fp Fingerprint) (removed bool) {
	key := seenKey(fp)
	if key == 0 {
		removed = s.zero.CompareAndSwap(true, false)
	} else {
		removed = s.shard(key).remove(key)
	}
	if removed {
		s.count.Add(-1)
	}
	return removed
}

// Len returns the number of fingerprints in the set.
func (s *SeenSet) Len() int { return int(s.count.Load()) }

// Bytes returns about how many bytes of memory the set takes.
func (s *SeenSet) Bytes() int64 {
	return int64(unsafe.Sizeof(*s)) + 8*s.slots.Load()
}

// seenKey is uniformly distributed as it is: a piece of a SHA-1 sum.
func seenKey(fp Fingerprint) uint64 { return binary.BigEndian.Uint64(fp[:8]) }

func (s *SeenSet) shard(key uint64) *seenShard {
	return &s.shards[key>>(64-seenShardBits)]
}

func (sh *seenShard) add(key uint64, slots *atomic.Int64) bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	t := sh.table.Load()
	if t != nil {
		i, found := t.find(key)
		if found {
			return false
		}
		if 5*(sh.used+1) <= 4*len(t.slots) {
			atomic.StoreUint64(&t.slots[i], key)
			sh.used++
			return true
		}
	}
	bigger := t.resized(t.grownSize(), 0)
	i, _ := bigger.find(key)
	bigger.slots[i] = key
	slots.Add(int64(len(bigger.slots) - t.size()))
	sh.used++
	sh.table.Store(bigger)
	return true
}

func (sh *seenShard) remove(key uint64) bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	t := sh.table.Load()
	if t == nil {
		return false
	}
	if _, found := t.find(key); !found {
		return false
	}
	sh.used--
	sh.table.Store(t.resized(len(t.slots), key))
	return true
}

// find returns the slot of key, or the free slot where it belongs.
func (t *seenTable) find(key uint64) (slot int, found bool) {
	i := t.home(key)
	for {
		switch atomic.LoadUint64(&t.slots[i]) {
		case key:
			return i, true
		case 0:
			return i, false
		}
		if i++; i == len(t.slots) {
			i = 0
		}
	}
}

// home scales the bits that the choice of the shard has left over to the size
// of the table, which need not be a power of two.
func (t *seenTable) home(key uint64) int {
	high, _ := bits.Mul64(key<<seenShardBits, uint64(len(t.slots)))
	return int(high)
}

func (t *seenTable) size() int {
	if t == nil {
		return 0
	}
	return len(t.slots)
}

func (t *seenTable) grownSize() int {
	return max(seenFirstSize, t.size()+t.size()/2)
}

// resized returns a copy with n slots and without one key; 0 leaves out none.
func (t *seenTable) resized(n int, without uint64) *seenTable {
	fresh := &seenTable{slots: make([]uint64, n)}
	if t == nil {
		return fresh
	}
	for _, key := range t.slots {
		if key != 0 && key != without {
			i, _ := fresh.find(key)
			fresh.slots[i] = key
		}
	}
	return fresh
}
