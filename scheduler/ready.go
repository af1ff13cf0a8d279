package scheduler

import (
	"cmp"
	"slices"
	"strings"
)

// sortKey is the place of a slot among those that can start a request.
type sortKey struct {
	rank  int64
	order int64
	name  string
	later bool
}

// key returns the place of requests that are not empty.
func (f *Local) key(b *backlog) sortKey {
	t := f.pick(SlotView{b: b, active: f.slots.Active(b.slot.name)})
	return sortKey{rank: t.Rank, later: t.Later, order: t.Order, name: b.slot.name}
}

// alike reports whether two keys differ in the name at most.
func (k *sortKey) alike(o *sortKey) bool {
	return k.rank == o.rank && k.later == o.later && k.order == o.order
}

func (k *sortKey) compare(o *sortKey) int {
	switch {
	case k.rank != o.rank:
		return cmp.Compare(k.rank, o.rank)
	case k.later != o.later:
		if o.later {
			return -1
		}
		return 1
	case k.order != o.order:
		return cmp.Compare(k.order, o.order)
	}
	return strings.Compare(k.name, o.name)
}

// readySet is the set of slots that have a request in one layer and may start
// it, in the order of their keys: a B+ tree, since a search in it looks at few
// places in memory. Adding takes O(log n) steps, as does a turn after a slot that
// is not in the set; the rest takes constant time, on average.
//
// A slot that a lease makes worse, or unready, stays where it is and is only
// marked stale. Most often its download ends before its turn comes again, and
// nothing has to move. Who picks a stale slot puts it right and picks again.
type readySet struct {
	layer int
	root  *block
	front *block // the first leaf
}

// fanOut is how many children a block has before it is split.
const fanOut = 32

// block is a node of the tree. Only the root may be empty; sparse ones are not
// joined.
type block struct {
	up    *block
	lots  []*backlog // of a leaf, in the order of their keys
	kids  []*block   // of another block, at least two if it is the root
	least sortKey    // parts what is here from what is to the left; of no use in first children
}

// put inserts a backlog, or moves it to its new place if that is before its old
// one, or marks it stale.
func (r *readySet) put(b *backlog, key sortKey) {
	if b.at != nil {
		c := key.compare(&b.key)
		if b.stale = c > 0; c >= 0 {
			return
		}
		r.remove(b)
	}
	r.insert(b, key)
}

func (r *readySet) insert(b *backlog, key sortKey) {
	if r.root == nil {
		r.root = &block{lots: make([]*backlog, 0, fanOut)}
		r.front = r.root
	}
	leaf, i := r.find(&key)
	b.key, b.stale, b.at = key, false, leaf
	if leaf.lots = slices.Insert(leaf.lots, i, b); len(leaf.lots) == fanOut {
		r.split(leaf)
	}
}

// find returns where a key belongs: a leaf, and how many in it are before it.
func (r *readySet) find(key *sortKey) (*block, int) {
	b := r.root
	for b.kids != nil {
		b = b.kids[b.under(key)]
	}
	i, j := 0, len(b.lots)
	for i < j {
		if mid := (i + j) / 2; b.lots[mid].key.compare(key) < 0 {
			i = mid + 1
		} else {
			j = mid
		}
	}
	return b, i
}

// under returns the child under which a key belongs.
func (b *block) under(key *sortKey) int {
	i, j := 1, len(b.kids)
	for i < j {
		if mid := (i + j) / 2; b.kids[mid].least.compare(key) <= 0 {
			i = mid + 1
		} else {
			j = mid
		}
	}
	return i - 1
}

// split moves the second half of a full block into a new one beside it.
func (r *readySet) split(left *block) {
	right, up := left.cut(), left.up
	if up == nil {
		up = &block{kids: append(make([]*block, 0, fanOut), left)}
		r.root, left.up = up, up
	}
	right.up = up
	if up.kids = slices.Insert(up.kids, slices.Index(up.kids, left)+1, right); len(up.kids) == fanOut {
		r.split(up)
	}
}

// cut returns a new block with the second half of a full one.
func (b *block) cut() *block {
	const half = fanOut / 2
	if b.kids == nil {
		right := &block{lots: append(make([]*backlog, 0, fanOut), b.lots[half:]...), least: b.lots[half].key}
		for _, lot := range right.lots {
			lot.at = right
		}
		b.lots = slices.Delete(b.lots, half, fanOut)
		return right
	}
	right := &block{kids: append(make([]*block, 0, fanOut), b.kids[half:]...), least: b.kids[half].least}
	for _, kid := range right.kids {
		kid.up = right
	}
	b.kids = slices.Delete(b.kids, half, fanOut)
	return right
}

// remove takes a backlog out, if it is in.
func (r *readySet) remove(b *backlog) {
	leaf := b.at
	if leaf == nil {
		return
	}
	b.at = nil
	i := slices.Index(leaf.lots, b)
	if leaf.lots = slices.Delete(leaf.lots, i, i+1); len(leaf.lots) == 0 {
		r.drop(leaf)
	}
}

// drop takes an empty block out, unless it is the root.
func (r *readySet) drop(b *block) {
	if b == r.front && b.up != nil {
		r.front = b.right()
	}
	for ; b.up != nil && len(b.kids) == 0; b = b.up {
		i := slices.Index(b.up.kids, b)
		b.up.kids = slices.Delete(b.up.kids, i, i+1)
	}
	for len(r.root.kids) == 1 {
		r.root = r.root.kids[0]
		r.root.up = nil
	}
}

// right returns the leaf after this one, nil if it is the last.
func (b *block) right() *block {
	for ; b.up != nil; b = b.up {
		if i := slices.Index(b.up.kids, b) + 1; i < len(b.up.kids) {
			for b = b.up.kids[i]; b.kids != nil; {
				b = b.kids[0]
			}
			return b
		}
	}
	return nil
}

// entry returns entry i of a leaf, which may be one too many: then it is the first
// of the next leaf, or nil.
func (b *block) entry(i int) *backlog {
	if i < len(b.lots) {
		return b.lots[i]
	}
	if b = b.right(); b != nil {
		return b.lots[0]
	}
	return nil
}

// first returns the backlog with the lowest key, nil if there is none.
func (r *readySet) first() *backlog {
	if r.front == nil || len(r.front.lots) == 0 {
		return nil
	}
	return r.front.lots[0]
}

// after returns the backlog with the lowest key above this one.
func (r *readySet) after(key *sortKey) *backlog {
	leaf, i := r.find(key)
	if i < len(leaf.lots) && leaf.lots[i].key == *key {
		i++
	}
	return leaf.entry(i)
}

// turn returns the slot whose turn it is, nil if there is none, or a stale one
// that has to be put right before that can be told: of the slots with the lowest
// key the next by name after last, the one picked before, which may be nil.
func (r *readySet) turn(last *slot) *backlog {
	first := r.first()
	if first == nil || last == nil || first.stale {
		return first
	}
	var next *backlog
	if b := last.lots[r.layer]; b != nil && b.at != nil && b.key.alike(&first.key) {
		next = b.at.entry(slices.Index(b.at.lots, b) + 1)
	} else {
		key := first.key
		key.name = last.name
		next = r.after(&key)
	}
	if next != nil && next.key.alike(&first.key) {
		return next
	}
	return first
}
