package scheduler

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestReadySetModel compares the tree with a sorted slice under random calls, once
// with few slots in one block, and once with three levels of blocks.
func TestReadySetModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ slots, steps, check, levels int }{{20, 20_000, 1, 1}, {60, 10_000, 1, 2}, {4000, 30_000, 500, 3}} {
		t.Run(fmt.Sprint(c.slots), func(t *testing.T) {
			t.Parallel()
			m := newSetModel(t, c.slots)
			levels := 0
			for step := range c.steps {
				m.change(step)
				if step%c.check == 0 {
					m.compare(step)
					levels = max(levels, depth(m.set.root))
				}
			}
			if levels != c.levels {
				t.Errorf("the tree had up to %d levels, want %d", levels, c.levels)
			}
			m.empty()
		})
	}
}

// setModel is a readySet, and what has to be in it.
type setModel struct {
	*testing.T
	rng   *rand.Rand
	set   readySet
	lots  []*backlog
	model []*backlog // in order
}

func newSetModel(t *testing.T, n int) *setModel {
	m := &setModel{T: t, rng: rand.New(rand.NewPCG(1, 2)), set: readySet{layer: disk}}
	for i := range n {
		m.lots = append(m.lots, (&slot{name: fmt.Sprint(i)}).lot(disk))
	}
	return m
}

func (m *setModel) drop(b *backlog) {
	m.model = slices.DeleteFunc(m.model, func(o *backlog) bool { return o == b })
}

// change puts a slot into the set or takes one out.
func (m *setModel) change(step int) {
	b := m.lots[m.rng.IntN(len(m.lots))]
	key := randomKey(m.rng, b.slot.name)
	switch old := b.key; {
	case m.rng.IntN(5) == 0:
		m.set.remove(b)
		m.drop(b)
	case b.at != nil && key.compare(&old) >= 0: // stays, and is stale unless it is the same
		m.set.put(b, key)
		if b.stale != (key != old) || b.key != old {
			m.Fatalf("step %d: stale %v, key %+v after %+v for a slot with %+v", step, b.stale, b.key, key, old)
		}
	default:
		m.set.put(b, key)
		m.drop(b)
		i, found := slices.BinarySearchFunc(m.model, b, func(a, b *backlog) int { return a.key.compare(&b.key) })
		if found || b.key != key || b.stale {
			m.Fatalf("step %d: another slot has it %v, stale %v, key %+v, want %+v", step, found, b.stale, b.key, key)
		}
		m.model = slices.Insert(m.model, i, b)
	}
}

// compare checks the blocks, their order, and whose turn it is.
func (m *setModel) compare(step int) {
	m.Helper()
	var got []*backlog
	if m.set.root != nil {
		got = m.walk(m.set.root, nil, nil)
	}
	if !slices.Equal(got, m.model) {
		m.Fatalf("step %d: the set has %d slots in another order than the %d of the model", step, len(got), len(m.model))
	}
	var first *backlog
	if len(m.model) > 0 {
		first = m.model[0]
	}
	if got := m.set.first(); got != first {
		m.Fatalf("step %d: first is %v, want %v", step, got, first)
	}
	last := m.lots[m.rng.IntN(len(m.lots))].slot
	if got, want := m.set.turn(last), m.turn(last.name); got != want {
		m.Fatalf("step %d: after %s it is the turn of %+v, want %+v", step, last.name, got, want)
	}
	if got := m.set.turn(nil); got != first {
		m.Fatalf("step %d: at first it is the turn of %+v, want %+v", step, got, first)
	}
}

// turn is what readySet.turn has to answer.
func (m *setModel) turn(last string) *backlog {
	if len(m.model) == 0 {
		return nil
	}
	first := m.model[0]
	for _, b := range m.model {
		if !first.stale && b.key.alike(&first.key) && b.slot.name > last {
			return b
		}
	}
	return first
}

// walk returns the slots below a block, and checks the block: all keys are at
// least those of from, and below to.
func (m *setModel) walk(b *block, from, to *sortKey) (lots []*backlog) {
	m.Helper()
	if b.up != nil && len(b.lots)+len(b.kids) == 0 || len(b.lots) >= fanOut || len(b.kids) >= fanOut {
		m.Fatalf("a block has %d slots and %d children", len(b.lots), len(b.kids))
	}
	for _, lot := range b.lots {
		if lot.at != b || from != nil && lot.key.compare(from) < 0 || to != nil && lot.key.compare(to) >= 0 {
			m.Fatalf("slot %+v is in the wrong block, of %+v to %+v", lot.key, from, to)
		}
	}
	lots = slices.Clone(b.lots)
	for i, kid := range b.kids {
		least, end := &kid.least, to
		if i == 0 {
			least = from
		}
		if i+1 < len(b.kids) {
			end = &b.kids[i+1].least
		}
		if kid.up != b {
			m.Fatalf("child %d belongs to another block", i)
		}
		lots = append(lots, m.walk(kid, least, end)...)
	}
	return lots
}

// empty takes all slots out: no block but one is left.
func (m *setModel) empty() {
	for _, i := range m.rng.Perm(len(m.lots)) {
		m.set.remove(m.lots[i])
		m.drop(m.lots[i])
	}
	m.compare(-1)
	if len(m.set.root.kids) > 0 || m.set.front != m.set.root {
		m.Errorf("an empty set has %d blocks below its root", len(m.set.root.kids))
	}
}

func depth(b *block) int {
	if b == nil || b.kids == nil {
		return 1
	}
	return 1 + depth(b.kids[0])
}

func randomKey(rng *rand.Rand, name string) sortKey {
	ranks := []int64{math.MinInt64, -1, 0, 1, math.MaxInt64}
	return sortKey{rank: ranks[rng.IntN(len(ranks))], later: rng.IntN(2) == 0, order: rng.Int64N(3) - 1, name: name}
}

// TestSortKeyIsAnOrder checks that keys compare the same from both sides.
func TestSortKeyIsAnOrder(t *testing.T) {
	t.Parallel()
	compare := func(a, b sortKey) int { return a.compare(&b) }
	rng := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		a, b, c := randomKey(rng, "a"), randomKey(rng, "b"), randomKey(rng, "a")
		if compare(a, b) != -compare(b, a) || (compare(a, c) == 0) != (a == c) {
			t.Fatalf("%+v and %+v: %d, the other way %d", a, b, compare(a, b), compare(b, a))
		}
		three := []sortKey{a, b, c}
		slices.SortFunc(three, compare)
		if compare(three[0], three[2]) > 0 {
			t.Fatalf("not transitive: %+v", three)
		}
	}
	keys := []sortKey{{rank: math.MinInt64}, {rank: 0, later: true, name: "a"}, {rank: math.MaxInt64}}
	if !slices.IsSortedFunc(keys, func(a, b sortKey) int { return cmp.Compare(compare(a, b), 0) }) {
		t.Error("ranks over the full range are not in order")
	}
}
