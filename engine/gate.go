package engine

import (
	"context"
	"sync"
)

// gate counts the downloads in progress: at most limit at a time, whether they
// come from the frontier or from a fetch within a step. Those who wait in take
// go first.
type gate struct {
	mu       sync.Mutex
	limit    int
	used     int
	reserved int // of used, by the loop
	waiting  []chan struct{}
}

// reserve takes up to n places at once and returns how many it got. fill must
// follow.
func (g *gate) reserve(n int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) > 0 {
		return 0
	}
	n = max(min(n, g.limit-g.used), 0)
	g.used += n
	g.reserved = n
	return n
}

// fill tells how many of the reserved places are needed and returns the others.
func (g *gate) fill(n int) {
	g.mu.Lock()
	back := g.reserved - n
	g.reserved = 0
	g.mu.Unlock()
	g.give(back)
}

// full reports whether a download more would have to wait.
func (g *gate) full() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.used-g.reserved >= g.limit
}

// free returns how many places are free.
func (g *gate) free() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.limit - g.used
}

// give returns n places.
func (g *gate) give(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used -= n
	for g.used < g.limit && len(g.waiting) > 0 {
		g.used++
		close(g.waiting[0])
		g.waiting = g.waiting[1:]
	}
}

// take waits for a place.
func (g *gate) take(ctx context.Context) error {
	g.mu.Lock()
	if g.used < g.limit && len(g.waiting) == 0 {
		g.used++
		g.mu.Unlock()
		return nil
	}
	granted := make(chan struct{})
	g.waiting = append(g.waiting, granted)
	g.mu.Unlock()
	select {
	case <-granted:
		return nil
	case <-ctx.Done():
		g.withdraw(granted)
		return context.Cause(ctx)
	}
}

// withdraw takes a waiter out of the line, or returns the place that it was
// given in the meantime.
func (g *gate) withdraw(granted chan struct{}) {
	g.mu.Lock()
	for i, w := range g.waiting {
		if w == granted {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			g.mu.Unlock()
			return
		}
	}
	g.mu.Unlock()
	g.give(1)
}
