package scheduler

import (
	"math/rand/v2"
	"strings"
	"time"
)

// layers of the frontier: memory is emptied before disk, whatever the priority.
const (
	memory = iota
	disk
	layers
)

// slot is what the frontier knows of one downloader slot while it has requests
// or someone waiting in it.
type slot struct {
	name    string
	waiters line
	timer   time.Time // for which it is in the timer heap; zero for none
	queues  [layers]slotQueue
	nodes   [layers]node
}

func (s *slot) queued() int { return s.queues[memory].n + s.queues[disk].n }

// levels is how many trees a readySet has.
const levels = 16

// sortKey is the place of a slot among those that can start a request.
type sortKey struct {
	rank  int64
	order int64
	name  string
	level uint8 // rank, as far as it goes
	later bool
}

// key returns the place of a slot that has requests in a layer.
func (f *Local) key(s *slot, layer int) sortKey {
	t := f.pick(SlotView{s: s, layer: layer, active: f.slots.Active(s.name)})
	return sortKey{level: uint8(min(max(t.Rank, 0), levels-1)), rank: t.Rank, later: t.Later, order: t.Order, name: s.name}
}

// alike reports whether two keys differ in the name at most.
func (k sortKey) alike(o sortKey) bool {
	return k.rank == o.rank && k.later == o.later && k.order == o.order && k.level == o.level
}

func (k sortKey) compare(o sortKey) int {
	switch {
	case k.level != o.level:
		return cmp64(int64(k.level), int64(o.level))
	case k.rank != o.rank:
		return cmp64(k.rank, o.rank)
	case k.later != o.later:
		if o.later {
			return -1
		}
		return 1
	case k.order != o.order:
		return cmp64(k.order, o.order)
	}
	return strings.Compare(k.name, o.name)
}

func cmp64(a, b int64) int {
	if a < b {
		return -1
	}
	return 1
}

// node places a slot in a readySet.
type node struct {
	left, right *slot
	prev, next  *slot // in the order of the keys, within the level
	weight      uint32
	key         sortKey
	in          bool
	stale       bool // the slot belongs further back, or not in the set
}

// readySet is the set of slots that have a request in one layer and may start
// it, in the order of their keys: for each level a treap whose nodes lie in the
// slots. All operations take O(log n) steps. Few slots have active downloads, so
// with a level of their own they move in and out of a small tree.
//
// A slot that a lease makes worse, or unready, stays where it is and is only
// marked stale. Most often its download ends before its turn comes again, and
// nothing has to move. Who picks a stale slot puts it right and picks again.
type readySet struct {
	layer  int
	roots  [levels]*slot
	firsts [levels]*slot
}

func (r *readySet) node(s *slot) *node { return &s.nodes[r.layer] }

// put inserts a slot, or moves it to its new place if that is before its old
// one, or marks it stale.
func (r *readySet) put(s *slot, key sortKey) {
	n := r.node(s)
	if n.in {
		c := key.compare(n.key)
		if n.stale = c > 0; c >= 0 {
			return
		}
		r.remove(s)
	}
	r.insert(s, key)
}

// hide marks a slot that may not start a request.
func (r *readySet) hide(s *slot) { r.node(s).stale = true }

func (r *readySet) insert(s *slot, key sortKey) {
	n := r.node(s)
	*n = node{key: key, in: true, weight: rand.Uint32()}
	r.link(s)
	at := &r.roots[key.level]
	for *at != nil {
		an := r.node(*at)
		if an.weight < n.weight {
			break
		}
		if key.compare(an.key) < 0 {
			at = &an.left
		} else {
			at = &an.right
		}
	}
	n.left, n.right = r.split(*at, key)
	*at = s
}

func (r *readySet) remove(s *slot) {
	n := r.node(s)
	if !n.in {
		return
	}
	at := &r.roots[n.key.level]
	for *at != s {
		if an := r.node(*at); n.key.compare(an.key) < 0 {
			at = &an.left
		} else {
			at = &an.right
		}
	}
	*at = r.merge(n.left, n.right)
	r.unlink(s)
	*n = node{}
}

// link puts a slot into the list of its level.
func (r *readySet) link(s *slot) {
	n := r.node(s)
	before, after := r.around(n.key)
	n.prev, n.next = before, after
	if before == nil {
		r.firsts[n.key.level] = s
	} else {
		r.node(before).next = s
	}
	if after != nil {
		r.node(after).prev = s
	}
}

func (r *readySet) unlink(s *slot) {
	n := r.node(s)
	if n.prev == nil {
		r.firsts[n.key.level] = n.next
	} else {
		r.node(n.prev).next = n.next
	}
	if n.next != nil {
		r.node(n.next).prev = n.prev
	}
}

// split divides a tree into what is before key and what is not.
func (r *readySet) split(t *slot, key sortKey) (left, right *slot) {
	if t == nil {
		return nil, nil
	}
	n := r.node(t)
	if n.key.compare(key) < 0 {
		n.right, right = r.split(n.right, key)
		return t, right
	}
	left, n.left = r.split(n.left, key)
	return left, t
}

// merge joins two trees, everything in a being before everything in b.
func (r *readySet) merge(a, b *slot) *slot {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	na, nb := r.node(a), r.node(b)
	if na.weight > nb.weight {
		na.right = r.merge(na.right, b)
		return a
	}
	nb.left = r.merge(a, nb.left)
	return b
}

// first returns the slot with the lowest key, nil if there is none.
func (r *readySet) first() *slot {
	for _, s := range r.firsts {
		if s != nil {
			return s
		}
	}
	return nil
}

// around returns the slots of the key's level between which the key belongs.
func (r *readySet) around(key sortKey) (before, after *slot) {
	for t := r.roots[key.level]; t != nil; {
		if n := r.node(t); n.key.compare(key) > 0 {
			after, t = t, n.left
		} else {
			before, t = t, n.right
		}
	}
	return before, after
}

// turn returns the slot whose turn it is, nil if there is none, or a stale one
// that has to be put right before that can be told: of the slots with the lowest
// key the next by name after last, the one picked before, which may be nil.
func (r *readySet) turn(last *slot) *slot {
	first := r.first()
	if first == nil || last == nil || r.node(first).stale {
		return first
	}
	key := r.node(first).key
	if second := r.node(first).next; second == nil || !key.alike(r.node(second).key) {
		return first
	}
	next := r.node(last).next
	if n := r.node(last); !n.in || !n.key.alike(key) {
		key.name = last.name
		_, next = r.around(key)
	}
	if next != nil && key.alike(r.node(next).key) {
		return next
	}
	return first
}
