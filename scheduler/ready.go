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
	queues  [layers]slotQueue
	nodes   [layers]node
	waiters []*waiter
	timer   time.Time // for which it is in the timer heap; zero for none
}

func (s *slot) queued() int { return s.queues[memory].n + s.queues[disk].n }

// sortKey is the place of a slot among those that can start a request.
type sortKey struct {
	rank  int64 // fewest active downloads, or highest priority
	start bool
	order int64
	name  string
}

func (k sortKey) compare(o sortKey) int {
	switch {
	case k.rank != o.rank:
		return cmp64(k.rank, o.rank)
	case k.start != o.start:
		if o.start {
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
	weight      uint32
	key         sortKey
	in          bool
}

// readySet is the set of slots that have a request in one layer and may start
// it, in the order of their keys: a treap whose nodes lie in the slots. All
// operations take O(log n) steps.
type readySet struct {
	layer int
	root  *slot
}

func (r *readySet) node(s *slot) *node { return &s.nodes[r.layer] }

// put inserts a slot, or moves it to its new place.
func (r *readySet) put(s *slot, key sortKey) {
	n := r.node(s)
	if n.in {
		if n.key == key {
			return
		}
		r.remove(s)
	}
	*n = node{key: key, in: true, weight: rand.Uint32()}
	left, right := r.split(r.root, key)
	r.root = r.merge(r.merge(left, s), right)
}

func (r *readySet) remove(s *slot) {
	n := r.node(s)
	if !n.in {
		return
	}
	at := &r.root
	for *at != s {
		if an := r.node(*at); n.key.compare(an.key) < 0 {
			at = &an.left
		} else {
			at = &an.right
		}
	}
	*at = r.merge(n.left, n.right)
	*n = node{}
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
	t := r.root
	for t != nil && r.node(t).left != nil {
		t = r.node(t).left
	}
	return t
}

// after returns the first slot whose key is greater.
func (r *readySet) after(key sortKey) *slot {
	var best *slot
	for t := r.root; t != nil; {
		n := r.node(t)
		if n.key.compare(key) > 0 {
			best, t = t, n.left
		} else {
			t = n.right
		}
	}
	return best
}
