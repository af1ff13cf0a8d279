package scheduler

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// numbered returns a fingerprint of the key n.
func numbered(n uint64) (fp Fingerprint) {
	binary.BigEndian.PutUint64(fp[:], n)
	return fp
}

// TestSeenSetModel compares the set with a map under random calls, in one shard
// and in all, with the zero key among them.
func TestSeenSetModel(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]func(*rand.Rand) uint64{
		"one shard":  func(r *rand.Rand) uint64 { return r.Uint64N(300) << 40 },
		"same slot":  func(r *rand.Rand) uint64 { return r.Uint64N(300) },
		"all shards": func(r *rand.Rand) uint64 { return r.Uint64N(300) << 55 },
		"wrapping":   func(r *rand.Rand) uint64 { return 1<<54 - r.Uint64N(300) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(1, 2))
			var set SeenSet
			model := map[uint64]bool{}
			for range 3000 {
				k := key(rnd)
				fp := numbered(k)
				if got := set.Has(fp); got != model[k] {
					t.Fatalf("Has(%x) = %v, want %v", k, got, model[k])
				}
				if rnd.IntN(3) > 0 {
					if got := set.Add(fp); got == model[k] {
						t.Fatalf("Add(%x) = %v, want %v", k, got, !model[k])
					}
					model[k] = true
				} else {
					if got := set.Remove(fp); got != model[k] {
						t.Fatalf("Remove(%x) = %v, want %v", k, got, model[k])
					}
					delete(model, k)
				}
				if set.Len() != len(model) {
					t.Fatalf("Len() = %d, want %d", set.Len(), len(model))
				}
			}
		})
	}
}

// TestSeenSetZeroKey has a fingerprint whose first 8 bytes are zero: they mark
// a free slot inside.
func TestSeenSetZeroKey(t *testing.T) {
	t.Parallel()
	var set SeenSet
	zero := Fingerprint{19: 1}
	if set.Has(zero) || set.Remove(zero) {
		t.Error("an empty set has the zero key")
	}
	if !set.Add(zero) || set.Add(zero) || !set.Has(zero) || set.Len() != 1 {
		t.Error("the zero key is not marked once")
	}
	if !set.Remove(zero) || set.Has(zero) || set.Len() != 0 {
		t.Error("the zero key is not removed")
	}
}

// TestSeenSetKeyLength proves that the first 64 bits count and no others.
func TestSeenSetKeyLength(t *testing.T) {
	t.Parallel()
	var set SeenSet
	set.Add(Fingerprint{7: 1})
	if set.Has(Fingerprint{7: 2}) {
		t.Error("fingerprints that differ in the 64th bit are one")
	}
	if !set.Has(Fingerprint{7: 1, 8: 1}) {
		t.Error("fingerprints that differ in the 65th bit are two")
	}
}

// TestSeenSetAtomicAdd races goroutines for the same keys: each key is new for
// exactly one of them.
func TestSeenSetAtomicAdd(t *testing.T) {
	t.Parallel()
	const goroutines, keys = 32, 3000
	var set SeenSet
	var wins [keys]atomic.Int32
	var wg sync.WaitGroup
	start := make(chan struct{})
	for g := range goroutines {
		wg.Go(func() {
			<-start
			for i := range keys {
				n := (i*7 + g) % keys
				if set.Add(spread(n)) {
					wins[n].Add(1)
				}
				if !set.Has(spread(n)) {
					t.Errorf("key %d is missing after Add", n)
				}
			}
		})
	}
	close(start)
	wg.Wait()
	for n := range wins {
		if got := wins[n].Load(); got != 1 {
			t.Errorf("key %d was new %d times, want once", n, got)
		}
	}
	if set.Len() != keys {
		t.Errorf("Len() = %d, want %d", set.Len(), keys)
	}
}

// TestSeenSetReadersBesideWriter proves that what was added before a reader
// began stays visible while the table grows and other keys are removed.
func TestSeenSetReadersBesideWriter(t *testing.T) {
	t.Parallel()
	var set SeenSet
	for n := range 500 {
		set.Add(spread(n))
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			for {
				for n := range 500 {
					if !set.Has(spread(n)) {
						t.Errorf("key %d vanished", n)
						return
					}
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for n := 500; n < 8000; n++ {
		set.Add(spread(n))
		if n%50 == 0 {
			set.Remove(spread(n))
		}
	}
	close(done)
	wg.Wait()
}

// spread returns the n-th of a series of keys that are distributed like SHA-1
// sums.
func spread(n int) Fingerprint {
	x := (uint64(n) + 1) * 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return numbered(x ^ x>>31)
}

// TestSeenSetBytes bounds the memory: 100 URLs must not cost megabytes, and
// many cost at most 16 bytes each at any size.
func TestSeenSetBytes(t *testing.T) {
	t.Parallel()
	var set SeenSet
	for n := range 60_000 {
		set.Add(spread(n))
		switch {
		case n == 99 && set.Bytes() > 64<<10:
			t.Errorf("100 fingerprints take %d bytes, want at most 64 KiB", set.Bytes())
		case n > 20_000 && n%1000 == 0 && set.Bytes() > 16*int64(n):
			t.Errorf("%d fingerprints take %d bytes, want at most 16 each", n, set.Bytes())
		}
	}
}

func filled(n int) *SeenSet {
	set := new(SeenSet)
	for i := range n {
		set.Add(spread(i))
	}
	return set
}

// liveHeap returns the bytes of the heap that are in use.
func liveHeap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkSeenAdd reports the mean and the worst insertion, and the memory of a
// fingerprint as the set tells it and as the heap has grown.
func BenchmarkSeenAdd(b *testing.B) {
	for _, s := range []struct {
		name string
		n    int
	}{{"1M", 1_000_000}, {"10M", 10_000_000}} {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				before := liveHeap()
				set := new(SeenSet)
				var worst time.Duration
				start := time.Now()
				last := start
				for i := range s.n {
					set.Add(spread(i))
					if i&63 == 63 { // one reading of the clock for 64 calls
						now := time.Now()
						worst, last = max(worst, now.Sub(last)), now
					}
				}
				b.ReportMetric(float64(time.Since(start).Nanoseconds())/float64(s.n), "ns/add")
				b.ReportMetric(float64(worst.Microseconds()), "worst-µs/64adds")
				b.ReportMetric(float64(set.Bytes())/float64(s.n), "B/fp")
				b.ReportMetric((liveHeap()-before)/float64(s.n), "heap-B/fp")
				runtime.KeepAlive(set)
			}
		})
	}
}

func BenchmarkSeenHas(b *testing.B) {
	const n = 1_000_000
	set := filled(n)
	for name, offset := range map[string]int{"known": 0, "new": n} {
		b.Run(name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				set.Has(spread(offset + i))
				if i++; i == n {
					i = 0
				}
			}
		})
	}
}

func BenchmarkSeenAddKnown(b *testing.B) {
	const n = 1_000_000
	set := filled(n)
	i := 0
	for b.Loop() {
		set.Add(spread(i))
		if i++; i == n {
			i = 0
		}
	}
}
