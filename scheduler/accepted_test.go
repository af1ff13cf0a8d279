package scheduler

import (
	"math/rand/v2"
	"testing"
)

// TestAcceptedModel compares the multiset with a map of counts.
func TestAcceptedModel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var a Accepted
		model, left := map[uint64]int{}, 0
		for range rng.IntN(60) {
			h := rng.Uint64N(20) * (1 << 59)
			if rng.IntN(6) == 0 {
				a.forget(h)
				left -= model[h]
				model[h] = 0
				continue
			}
			a.add(h)
			model[h]++
			left++
		}
		a.settle()
		for range 200 {
			h := rng.Uint64N(22) * (1 << 59)
			if got := a.Take(h); got != (model[h] > 0) {
				t.Fatalf("Take(%x) = %v with %d of it left", h, got, model[h])
			}
			if model[h] > 0 {
				model[h]--
				left--
			}
			if a.Len() != left {
				t.Fatalf("Len() = %d, want %d", a.Len(), left)
			}
		}
	}
}

func TestAcceptedNil(t *testing.T) {
	t.Parallel()
	var a *Accepted
	a.forget(1)
	a.settle()
	if a.Take(1) || a.Len() != 0 {
		t.Error("a nil multiset holds something")
	}
}
