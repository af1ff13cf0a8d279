package httpcache

import (
	"context"
	"sync"

	"github.com/skeincrawl/skein/downloader"
)

// locks lets one goroutine at a time change what is stored under a key.
type locks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // by key; closed when it is free again
}

// lock waits until the key is free, at most until ctx ends.
func (l *locks) lock(ctx context.Context, key string) error {
	for {
		free := l.take(key)
		if free == nil {
			return nil
		}
		downloader.Yield(ctx) // who holds the key may wait for memory
		select {
		case <-free:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// take locks a key, or returns what is closed when that is worth another try.
func (l *locks) take(key string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if free, ok := l.held[key]; ok {
		return free
	}
	l.held[key] = make(chan struct{})
	return nil
}

func (l *locks) unlock(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.held[key])
	delete(l.held, key)
}
