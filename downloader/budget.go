package downloader

import (
	"context"
	"slices"
	"sync"

	"github.com/rs/zerolog"
)

// free is the size in bytes up to which a body is not counted: so many are held at
// one time as requests are on the wire, and pages are smaller mostly.
const free = 64 << 10

// A Budget bounds the bytes of the bodies that a crawl holds at one time, from the
// first byte that is read until the callback of the response has ended. When they
// are used up, downloads stop reading until others give bytes back, and their
// servers wait. One download at a time may go on beyond the limit, so that there
// is always one that ends. It is safe for concurrent use.
type Budget struct {
	limit int64
	log   zerolog.Logger

	mu      sync.Mutex
	used    int64
	over    *Share // may go beyond the limit
	waiting []*claim
	told    bool
}

// claim is a share that waits for more bytes.
type claim struct {
	share *Share
	bytes int64
	ready chan struct{} // closed when they are granted

	granted bool
}

// NewBudget returns a budget of some bytes. 0 is no limit.
func NewBudget(bytes int64, log zerolog.Logger) *Budget { return &Budget{limit: bytes, log: log} }

type shareKey struct{}

// Share returns a context whose fetches take the bytes of their bodies from the
// budget. [Share.Release] gives them back.
func (b *Budget) Share(ctx context.Context) (context.Context, *Share) {
	if b.limit <= 0 {
		return ctx, nil
	}
	s := &Share{budget: b}
	return context.WithValue(ctx, shareKey{}, s), s
}

// A Share is what of a budget one request uses. All methods of a nil Share do
// nothing.
type Share struct {
	budget *Budget
	held   int64 // guarded by the mutex of the budget
}

func shareOf(ctx context.Context) *Share {
	s, _ := ctx.Value(shareKey{}).(*Share)
	return s
}

// Release gives all bytes back.
func (s *Share) Release() { s.Set(0) }

// Set says how many bytes are held now, without waiting for them.
func (s *Share) Set(bytes int64) {
	if s == nil {
		return
	}
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes <= free {
		bytes = 0
	}
	b.used += bytes - s.held
	s.held = bytes
	if bytes == 0 && b.over == s {
		b.over = nil
	}
	b.grant()
}

// Yield lets another share go beyond the limit, if this one does: who holds this
// one is about to wait for what other downloads have to give back.
func (s *Share) Yield() {
	if s == nil {
		return
	}
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over == s {
		b.over = nil
		b.grant()
	}
}

// Holds says that of all bodies that were read with a context so many bytes are left.
// Those of a response that is thrown away are given back by that.
func Holds(ctx context.Context, bytes int) { shareOf(ctx).Set(int64(bytes)) }

// Yield is [Share.Yield] for the share of a context.
func Yield(ctx context.Context) { shareOf(ctx).Yield() }

// add takes more bytes, as soon as there are some, or gives bytes back. The error
// is the cause of ctx if that ended first.
func (s *Share) add(ctx context.Context, bytes int64) error {
	c := s.claim(bytes)
	if c == nil {
		return nil
	}
	select {
	case <-c.ready:
		return nil
	case <-ctx.Done():
		s.budget.withdraw(c)
		return context.Cause(ctx)
	}
}

// claim returns nil if the bytes could be had at once.
func (s *Share) claim(bytes int64) *claim {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &claim{share: s, bytes: bytes, ready: make(chan struct{})}
	if bytes <= 0 || b.over == s { // these need not queue up
		b.take(c)
		b.grant()
		return nil
	}
	b.waiting = append(b.waiting, c)
	if b.grant(); c.granted {
		return nil
	}
	b.tell()
	return c
}

// take lets a claim have its bytes. The caller holds mu.
func (b *Budget) take(c *claim) {
	b.used += c.bytes
	c.share.held += c.bytes
	if b.used > b.limit && c.bytes > 0 {
		b.over = c.share
	}
	c.granted = true
	close(c.ready)
}

// grant serves the claims in their order, as far as there are bytes. The caller
// holds mu.
func (b *Budget) grant() {
	for len(b.waiting) > 0 {
		c := b.waiting[0]
		if b.used+c.bytes > b.limit && b.over != nil && b.over != c.share {
			return
		}
		b.waiting = slices.Delete(b.waiting, 0, 1)
		b.take(c)
	}
}

// withdraw takes a claim back, unless it was granted meanwhile: then the share has
// the bytes until it is released.
func (b *Budget) withdraw(c *claim) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.waiting, c); i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
		b.grant()
	}
}

// tell warns once. The caller holds mu.
func (b *Budget) tell() {
	if !b.told {
		b.told = true
		b.log.Warn().Msgf("Response bodies hold %d bytes of memory, as many as DOWNLOAD_MAX_ACTIVE_SIZE allows: downloads wait "+
			"for each other. This message is not shown again", b.used)
	}
}

// meter counts the bytes of one body against a share.
type meter struct {
	ctx     context.Context //nolint:containedctx // a meter lives as long as one call.
	share   *Share
	counted int64
}

// to says that the body takes so many bytes now, once they may be taken.
func (m *meter) to(bytes int64) error {
	if err := context.Cause(m.ctx); err != nil { // also what needs no wire ends with its context
		return err
	}
	if bytes <= free {
		bytes = 0
	}
	if m.share == nil || bytes == m.counted {
		return nil
	}
	err := m.share.add(m.ctx, bytes-m.counted)
	if err == nil {
		m.counted = bytes
	}
	return err
}
