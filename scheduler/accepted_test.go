package scheduler

import (
	"math/rand/v2"
	"testing"
)

// TestAcceptedModel compares what Start has emitted, and what was dropped of it,
// with a map of counts.
func TestAcceptedModel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var e emissions
		model, left := map[uint64]int{}, 0
		for range rng.IntN(60) {
			h := rng.Uint64N(20) * (1 << 59)
			if rng.IntN(6) == 0 {
				e.remove(h)
				left -= model[h]
				model[h] = 0
				continue
			}
			e.add(h)
			model[h]++
			left++
		}
		e.prune()
		a := e.accepted()
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
	if a.Take(1) || a.Len() != 0 {
		t.Error("a nil multiset holds something")
	}
}

// TestChunks: more than one chunk keeps the order.
func TestChunks(t *testing.T) {
	t.Parallel()
	var c chunks
	const n = 2*chunkLength + 5
	for i := range uint64(n) {
		c.add(i)
	}
	i := uint64(0)
	for _, part := range c {
		for _, v := range part {
			if v != i {
				t.Fatalf("place %d holds %d", i, v)
			}
			i++
		}
	}
	if i != n || c.length() != n {
		t.Errorf("%d numbers, length %d, want %d", i, c.length(), n)
	}
}
