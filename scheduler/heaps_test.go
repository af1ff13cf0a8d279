package scheduler

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestTimeHeapModel compares the heap with a list that is sorted each time.
func TestTimeHeapModel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	base := time.Unix(1e9, 0)
	var h timeHeap[int]
	var model []timed[int]
	for i := range 20_000 {
		at := base.Add(time.Duration(rng.IntN(50)) * time.Second)
		if rng.IntN(2) == 0 {
			h.push(at, i)
			model = append(model, timed[int]{at, i})
			continue
		}
		slices.SortStableFunc(model, func(a, b timed[int]) int { return cmp.Compare(a.at.Unix(), b.at.Unix()) })
		next, ok := h.next()
		if ok != (len(model) > 0) || ok && !next.Equal(model[0].at) {
			t.Fatalf("call %d: next is %v, %v, want %v", i, next, ok, model)
		}
		v, ok := h.popDue(at)
		if due := len(model) > 0 && !model[0].at.After(at); ok != due {
			t.Fatalf("call %d: due %v, want %v", i, ok, due)
		}
		if !ok {
			continue
		}
		j := slices.IndexFunc(model, func(e timed[int]) bool { return e.v == v })
		if j < 0 || !model[j].at.Equal(model[0].at) {
			t.Fatalf("call %d: got value %d of another time than %v", i, v, model[0].at)
		}
		model = slices.Delete(model, j, j+1)
	}
}
