package scheduler

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestMemStoreModel compares the store with a map.
func TestMemStoreModel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var m memStore
	model := map[uint64]string{}
	last := uint64(0)
	for i := range 20_000 {
		if rng.IntN(2) == 0 {
			body := fmt.Sprint(i)
			id := m.add(stored{body: []byte(body)})
			if id <= last {
				t.Fatalf("ID %d after %d, want a higher one", id, last)
			}
			last, model[id] = id, body
			continue
		}
		for id, body := range model {
			if got := string(m.get(id).body); got != body {
				t.Fatalf("ID %d: got %q, want %q", id, got, body)
			}
			m.remove(id)
			delete(model, id)
			break
		}
	}
}

// TestMemStoreFrees checks that chunks go when all in them went, also if each
// request goes before the next comes.
func TestMemStoreFrees(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{1, 3, chunkSize, 3*chunkSize + 7} {
		var m memStore
		var ids []uint64
		for range 10 * chunkSize {
			if ids = append(ids, m.add(stored{})); len(ids) == depth {
				for _, id := range ids {
					m.remove(id)
				}
				ids = ids[:0]
			}
		}
		for _, id := range ids {
			m.remove(id)
		}
		kept := 0
		for _, c := range m.chunks {
			if c.entries != nil {
				kept++
			}
		}
		if kept > 1 {
			t.Errorf("depth %d: %d chunks are kept of an empty store, want at most the last", depth, kept)
		}
	}
}
