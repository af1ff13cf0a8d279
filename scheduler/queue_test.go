package scheduler

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortedModel compares the list of IDs with a plain sorted slice.
func TestSortedModel(t *testing.T) {
	t.Parallel()
	for name, newest := range map[string]int{"growing": 90, "mixed": 50, "old ones come back": 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 2))
			var s sorted
			var model, out []uint64
			next := uint64(0)
			for i := range 30_000 {
				switch {
				case rng.IntN(100) < 52 || len(model) == 0:
					id := next
					if len(out) > 0 && rng.IntN(100) >= newest {
						j := rng.IntN(len(out))
						id = out[j]
						out = slices.Delete(out, j, j+1)
					} else {
						next++
					}
					s.insert(id)
					j, _ := slices.BinarySearch(model, id)
					model = slices.Insert(model, j, id)
				case rng.IntN(2) == 0:
					if got := s.popFirst(); got != model[0] {
						t.Fatalf("call %d: first is %d, want %d", i, got, model[0])
					}
					out, model = append(out, model[0]), model[1:]
				default:
					last := model[len(model)-1]
					if got := s.popLast(); got != last {
						t.Fatalf("call %d: last is %d, want %d", i, got, last)
					}
					out, model = append(out, last), model[:len(model)-1]
				}
				if s.Len() != len(model) || !slices.Equal(s.ids[s.head:], model) {
					t.Fatalf("call %d: got %v, want %v", i, s.ids[s.head:], model)
				}
			}
		})
	}
}

// TestQueuePeek covers PQ-05, PQ-14, DQ-01 and DQ-06: what Peek shows is what
// Pop gives, and it changes nothing.
func TestQueuePeek(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]uint64{"lifo": {3, 2, 1}, "fifo": {1, 2, 3}} {
		newQueue, err := Queues.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		q := newQueue()
		peek := q.(Peeker)
		for _, id := range []uint64{1, 3, 2} { // 2 comes back
			if err := q.Push(Ref{ID: id}); err != nil {
				t.Fatal(err)
			}
		}
		for i, id := range want {
			for range 2 {
				if r, ok, err := peek.Peek(); r.ID != id || !ok || err != nil {
					t.Errorf("%s: Peek %d, %v, %v, want %d", name, r.ID, ok, err, id)
				}
			}
			if r, ok, err := q.Pop(); r.ID != id || !ok || err != nil || q.Len() != 2-i {
				t.Errorf("%s: Pop %d, %v, %v, length %d, want %d", name, r.ID, ok, err, q.Len(), id)
			}
		}
		_, ok1, err1 := peek.Peek()
		_, ok2, err2 := q.Pop()
		if ok1 || ok2 || err1 != nil || err2 != nil {
			t.Errorf("%s: an empty queue gives something: %v %v %v %v", name, ok1, ok2, err1, err2)
		}
	}
}
