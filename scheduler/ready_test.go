package scheduler

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestReadySetModel compares the treap with a sorted slice under random calls.
func TestReadySetModel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	set := readySet{layer: disk}
	var model []*slot
	slots := make([]*slot, 60)
	for i := range slots {
		slots[i] = &slot{name: fmt.Sprint(i)}
	}
	byKey := func(a, b *slot) int { return set.node(a).key.compare(set.node(b).key) }
	for step := range 20_000 {
		s := slots[rng.IntN(len(slots))]
		key := randomKey(rng, s.name)
		switch n := set.node(s); {
		case rng.IntN(3) == 0:
			set.remove(s)
			model = slices.DeleteFunc(model, func(o *slot) bool { return o == s })
		case n.in && key.compare(n.key) >= 0: // stays, and is stale unless it is the same
			set.put(s, key)
			if n.stale != (key != n.key) {
				t.Fatalf("step %d: stale %v for key %+v of a slot with %+v", step, n.stale, key, n.key)
			}
		default:
			set.put(s, key)
			model = slices.DeleteFunc(model, func(o *slot) bool { return o == s })
			i, found := slices.BinarySearchFunc(model, s, byKey)
			if found {
				t.Fatalf("step %d: two slots have the key %+v", step, set.node(s).key)
			}
			model = slices.Insert(model, i, s)
		}
		var got []*slot
		for _, root := range set.roots {
			got = append(got, inOrder(&set, root)...)
		}
		if !slices.Equal(got, model) {
			t.Fatalf("step %d: the set has %d slots in another order than the %d of the model", step, len(got), len(model))
		}
		checkEnds(t, &set, model, randomKey(rng, "5"))
	}
	for _, root := range set.roots {
		if d := set.depth(root); d > 30 {
			t.Errorf("depth %d for %d slots", d, len(model))
		}
	}
}

func randomKey(rng *rand.Rand, name string) sortKey {
	ranks := []int64{math.MinInt64, -1, 0, 1, math.MaxInt64}
	return sortKey{level: uint8(rng.IntN(2)) * (levels - 1), rank: ranks[rng.IntN(len(ranks))], later: rng.IntN(2) == 0, order: rng.Int64N(3) - 1, name: name}
}

func inOrder(r *readySet, s *slot) []*slot {
	if s == nil {
		return nil
	}
	return append(append(inOrder(r, r.node(s).left), s), inOrder(r, r.node(s).right)...)
}

func (r *readySet) depth(s *slot) int {
	if s == nil {
		return 0
	}
	return 1 + max(r.depth(r.node(s).left), r.depth(r.node(s).right))
}

func checkEnds(t *testing.T, set *readySet, model []*slot, key sortKey) {
	t.Helper()
	var first, before, after *slot
	if len(model) > 0 {
		first = model[0]
	}
	for _, s := range model {
		k := set.node(s).key
		if k.level == key.level && k.compare(key) > 0 {
			after = s
			break
		}
		if k.level == key.level {
			before = s
		}
	}
	if got := set.first(); got != first {
		t.Fatalf("first is %v, want %v", got, first)
	}
	if b, a := set.around(key); b != before || a != after {
		t.Fatalf("around %+v are %v and %v, want %v and %v", key, b, a, before, after)
	}
	for i, s := range model {
		var next *slot
		if i+1 < len(model) && set.node(model[i+1]).key.level == set.node(s).key.level {
			next = model[i+1]
		}
		if n := set.node(s); n.next != next || next != nil && set.node(next).prev != s {
			t.Fatalf("the slot after %+v is not the next in order", n.key)
		}
	}
}

// TestSortKeyIsAnOrder checks that keys compare the same from both sides.
func TestSortKeyIsAnOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		a, b, c := randomKey(rng, "a"), randomKey(rng, "b"), randomKey(rng, "a")
		if a.compare(b) != -b.compare(a) || (a.compare(c) == 0) != (a == c) {
			t.Fatalf("%+v and %+v: %d, the other way %d", a, b, a.compare(b), b.compare(a))
		}
		three := []sortKey{a, b, c}
		slices.SortFunc(three, sortKey.compare)
		if three[0].compare(three[2]) > 0 {
			t.Fatalf("not transitive: %+v", three)
		}
	}
	keys := []sortKey{{rank: math.MinInt64}, {rank: 0, later: true, name: "a"}, {rank: math.MaxInt64}}
	if !slices.IsSortedFunc(keys, func(a, b sortKey) int { return cmp.Compare(a.compare(b), 0) }) {
		t.Error("ranks over the full range are not in order")
	}
}
