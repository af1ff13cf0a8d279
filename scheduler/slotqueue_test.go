package scheduler

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var errFull = errors.New("full")

// blind is a queue of a user's own that can not peek, takes two requests, and
// loses the second.
type blind struct{ ids []uint64 }

func (b *blind) Push(r Ref) error {
	if len(b.ids) == 2 {
		return errFull
	}
	b.ids = append(b.ids, r.ID)
	return nil
}

func (b *blind) Pop() (Ref, bool, error) {
	if len(b.ids) != 1 {
		return Ref{}, false, nil
	}
	id := b.ids[0]
	b.ids = nil
	return Ref{ID: id}, true, nil
}

func (b *blind) Len() int { return len(b.ids) }

func lifos(_ bool, r *room) Queue { return (*lifo)(r) }

// TestSlotQueueBuckets covers PQ-18, PQ-25 and PQ-27: a slot has one queue for
// each priority that holds something, and none for what was drained.
func TestSlotQueueBuckets(t *testing.T) {
	t.Parallel()
	var s slotQueue
	for i, r := range []Ref{{Priority: 0}, {Priority: math.MaxInt}, {Priority: 0, Start: true}, {Priority: math.MinInt}, {Priority: 0}} {
		r.ID = uint64(i + 1)
		if err := s.push(r, lifos); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []struct {
		id   uint64
		keys []string
	}{
		{2, []string{"0", "0s", "-9223372036854775808"}},
		{5, []string{"0", "0s", "-9223372036854775808"}},
		{1, []string{"0s", "-9223372036854775808"}},
		{3, []string{"-9223372036854775808"}},
		{4, nil},
	} {
		head := s.head()
		r, err := s.pop()
		if err != nil || r.ID != want.id || head != r || s.n != 4-i || !slices.Equal(s.keys(), want.keys) {
			t.Errorf("pop %d: %+v, error %v, head %+v, %d left in %v, want ID %d and %v", i, r, err, head, s.n, s.keys(), want.id, want.keys)
		}
	}
}

// TestSlotQueueOwn covers PQ-21 and PQ-28 for a queue of a user's own: it need
// not peek, and its errors come back.
func TestSlotQueueOwn(t *testing.T) {
	t.Parallel()
	var s slotQueue
	blinds := func(bool, *room) Queue { return new(blind) }
	if err := s.push(Ref{ID: 1, Priority: 3}, blinds); err != nil {
		t.Fatal(err)
	}
	if head := s.head(); head != (Ref{Priority: 3}) {
		t.Errorf("head %+v, want the priority alone", head)
	}
	if r, err := s.pop(); err != nil || r.ID != 1 || len(s.buckets) != 0 {
		t.Errorf("pop %+v, error %v, %d buckets", r, err, len(s.buckets))
	}
	for id := range uint64(3) {
		err := s.push(Ref{ID: id}, blinds)
		if errors.Is(err, errFull) != (id == 2) {
			t.Errorf("push %d: error %v", id, err)
		}
	}
	if s.n != 2 {
		t.Errorf("%d queued, want 2: the third was not taken", s.n)
	}
	if r, err := s.pop(); err == nil {
		t.Errorf("pop %+v of a queue that lies about its length, want an error", r)
	}
}

// TestSlotQueueModel compares a slot's queues with a sorted slice, for queues that
// lie in the slot and queues of a user's own.
func TestSlotQueueModel(t *testing.T) {
	t.Parallel()
	for name, newQueue := range map[string]queueMaker{
		"lifo":   lifos,
		"fifo":   func(_ bool, r *room) Queue { return (*fifo)(r) },
		"own":    func(bool, *room) Queue { return struct{ *fifo }{new(fifo)} },
		"starts": func(start bool, r *room) Queue { return map[bool]Queue{true: (*fifo)(r), false: (*lifo)(r)}[start] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 2))
			var s slotQueue
			var model []Ref
			before := func(a, b Ref) int {
				older := cmp.Compare(a.ID, b.ID)
				if name == "lifo" || name == "starts" && !a.Start {
					older = -older
				}
				return cmp.Or(compareBuckets(bucket{priority: a.Priority, start: a.Start}, bucket{priority: b.Priority, start: b.Start}), older)
			}
			for i := range 20_000 {
				if rng.IntN(50) < 24 || len(model) == 0 {
					r := Ref{ID: uint64(i + 1), Priority: rng.IntN(3), Start: rng.IntN(4) == 0}
					if err := s.push(r, newQueue); err != nil {
						t.Fatal(err)
					}
					j, _ := slices.BinarySearchFunc(model, r, before)
					model = slices.Insert(model, j, r)
					continue
				}
				if r, err := s.pop(); r != model[0] || err != nil || s.n != len(model)-1 {
					t.Fatalf("call %d: pop %+v, error %v, %d left, want %+v of %d", i, r, err, s.n, model[0], len(model))
				}
				model = model[1:]
			}
		})
	}
}

// TestSlotQueueRoom checks that of several queues one lies in the slot, and that
// its room is free again when it is drained.
func TestSlotQueueRoom(t *testing.T) {
	t.Parallel()
	var s slotQueue
	for round := range uint64(3) {
		for id, priority := range []int{1, 0} {
			if err := s.push(Ref{ID: 10*round + uint64(id), Priority: priority}, lifos); err != nil {
				t.Fatal(err)
			}
		}
		if !s.holds(s.buckets[0].q) || s.holds(s.buckets[1].q) {
			t.Errorf("round %d: not the first queue alone lies in the slot", round)
		}
		for range 2 {
			if _, err := s.pop(); err != nil {
				t.Fatal(err)
			}
		}
		if s.room.ids != nil {
			t.Errorf("round %d: the room of a drained queue is taken", round)
		}
	}
}
