package middleware

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/robots"
)

const (
	robotsPath     = "/robots.txt"
	robotsLifetime = 24 * time.Hour   // of a file (RFC 9309 §2.4)
	robotsPenance  = 10 * time.Minute // during which a server that could not be asked is left alone
	maxRobots      = 100 << 20        // bytes that the files may take in memory, about 2 KiB each
	robotsEntryMin = 512              // bytes that an origin takes besides its name and its file
)

// A robotsFile is what the robots.txt of an origin said.
type robotsFile struct {
	file    *robots.File // nil if the server could not be asked: nothing is allowed
	why     error        // why it could not be asked, nil if it could
	expires time.Time
	ways    map[string]time.Time // until when it is not asked again, by the proxy through which it could not be; "" without
	noted   atomic.Bool          // that it asks for a delay
}

func (f *robotsFile) allows(tokens []string, path string) bool {
	return path == robotsPath || f.file.For(tokens...).Allowed(path) // RFC 9309 §2.2.2
}

// delay returns the time between two requests that the file asks for, 0 for none.
func (f *robotsFile) delay(tokens []string) time.Duration {
	return f.file.For(tokens...).Delay()
}

// size returns about what the file takes in memory, in bytes.
func (f *robotsFile) size() int {
	if f == nil || f.file == nil {
		return 0
	}
	return f.file.Size()
}

// A robotsSource reads the robots.txt of an origin, on the same ways as a request
// goes. It is safe for concurrent use. An error says nothing about the server: a
// context has ended, or the process has no descriptor left. What else goes wrong is
// an answer.
type robotsSource interface {
	read(ctx context.Context, origin string, r *crawl.Request) (*robotsFile, error)
}

// robotsCache keeps the files of origins. Each is fetched once in its lifetime,
// by the first request that needs it, and others wait. It is safe for concurrent
// use.
type robotsCache struct {
	source robotsSource

	mu      sync.Mutex
	origins map[string]*robotsEntry
	size    int // about what they take, in bytes
}

// A robotsEntry is an origin. One of both is there, or both: while a file is
// fetched anew the old one waits to be needed.
type robotsEntry struct {
	file     *robotsFile
	fetching chan struct{} // closed when the fetch has ended
	size     int           // about what it takes, in bytes
}

func newRobotsCache(source robotsSource) *robotsCache {
	return &robotsCache{source: source, origins: map[string]*robotsEntry{}}
}

// file returns the file of the origin of a request.
func (c *robotsCache) file(ctx context.Context, origin string, r *crawl.Request) (*robotsFile, error) {
	for {
		f, fetching, mine := c.look(origin, proxyOf(r), time.Now())
		switch {
		case f != nil:
			return f, nil
		case mine:
			return c.fetch(ctx, origin, r)
		}
		crawl.WhileWaiting(ctx, func() {
			select {
			case <-fetching:
			case <-ctx.Done():
			}
		})
		if ctx.Err() != nil {
			return nil, fmt.Errorf("wait for robots.txt of %s: %w", origin, context.Cause(ctx))
		}
	}
}

// proxyOf returns the proxy that a request asks for, "" if none.
func proxyOf(r *crawl.Request) string {
	if r.Options.NoProxy {
		return ""
	}
	return r.Options.Proxy
}

// look returns the file if there is one that counts, else the fetch to wait for,
// which may be the caller's own to make. That a server could not be asked through
// one proxy says nothing about others.
func (c *robotsCache) look(origin, proxy string, now time.Time) (f *robotsFile, fetching chan struct{}, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.origins[origin]
	if e == nil {
		e = &robotsEntry{size: robotsEntryMin + len(origin)}
		c.size += e.size
		c.origins[origin] = e
	}
	switch {
	case e.fetching != nil:
		return nil, e.fetching, false
	case e.file != nil && e.file.counts(proxy, now):
		return e.file, nil, false
	}
	e.fetching = make(chan struct{})
	return nil, e.fetching, true
}

// makeRoom forgets any origins but those being fetched while they take too much.
func (c *robotsCache) makeRoom() {
	for origin, e := range c.origins {
		if c.size <= maxRobots {
			return
		}
		if e.fetching == nil {
			c.size -= e.size
			delete(c.origins, origin)
		}
	}
}

// fetch reads the file and lets those go on who wait for it. If the caller gives
// up, one of them reads it. A server that can not be asked again has said enough
// before (RFC 9309 §2.3.1.4).
func (c *robotsCache) fetch(ctx context.Context, origin string, r *crawl.Request) (f *robotsFile, err error) {
	defer func() { // also when the source panics
		c.mu.Lock()
		defer c.mu.Unlock()
		e := c.origins[origin]
		if f != nil {
			f.follow(e.file)
			grown := f.size() - e.file.size()
			e.file, e.size, c.size = f, e.size+grown, c.size+grown
		}
		c.makeRoom()
		close(e.fetching)
		e.fetching = nil
	}()
	return c.source.read(ctx, origin, r)
}

// maxWays bounds the proxies of which is known that they did not reach an origin.
const maxWays = 256

// counts reports whether the file need not be asked for again by a proxy.
func (f *robotsFile) counts(proxy string, now time.Time) bool {
	if f.why != nil {
		return now.Before(f.ways[proxy])
	}
	return now.Before(f.expires)
}

// follow takes what goes on to count of the file before, which may be nil.
func (f *robotsFile) follow(before *robotsFile) {
	if before == nil {
		return
	}
	f.noted.Store(before.noted.Load())
	switch {
	case f.why == nil:
	case before.file != nil: // what is known is the same by all ways
		f.file, f.why = before.file, nil
	case len(before.ways) < maxWays:
		ways := maps.Clone(before.ways)
		maps.Copy(ways, f.ways)
		f.ways = ways
	}
}
