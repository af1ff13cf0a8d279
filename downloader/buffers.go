package downloader

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"sync"
)

// ErrTooLarge is returned for a body that is longer than its limit.
var ErrTooLarge = errors.New("the body is larger than allowed")

const (
	maxExact  = 1 << 20  // up to here an announced length is believed at once
	maxPooled = 1 << 20  // larger buffers are handed out instead of copied
	newBuffer = 32 << 10 // size of a fresh buffer
)

// Buffers reads bodies of unknown length through buffers that it uses again, so
// that a page costs one allocation of its own size. The zero value is ready. It
// is safe for concurrent use.
type Buffers struct{ pool sync.Pool }

// Read reads r to its end. Size is the expected length in bytes, or negative if
// that is not known; it is a hint only. If there are more than limit bytes, the
// error is [ErrTooLarge]; a limit of 0 or less is none. What was read is
// returned with every error and belongs to the caller. The bytes are taken from
// the [Budget] of the context, if there is one: then Read may wait, and fails with
// the cause of ctx if that ends first.
func (b *Buffers) Read(ctx context.Context, r io.Reader, size, limit int64) ([]byte, error) {
	limit = bounded(limit)
	m := &meter{ctx: ctx, share: shareOf(ctx)}
	if 0 <= size && size <= maxExact {
		if err := m.to(size + 1); err != nil {
			return nil, err
		}
		return readInto(make([]byte, 0, size+1), r, limit, m) // the spare byte is room to see the end
	}
	p, ok := b.pool.Get().(*[]byte)
	if !ok {
		fresh := make([]byte, 0, newBuffer)
		p = &fresh
	}
	body, err := readInto((*p)[:0], r, limit, m)
	if cap(body) > maxPooled && cap(body) < 2*len(body) {
		b.pool.Put(p)
		return body, err
	}
	own := bytes.Clone(body)
	if cap(body) <= maxPooled {
		*p = body
	}
	b.pool.Put(p)
	if err == nil {
		err = m.to(int64(len(own)))
	}
	return own, err
}

// bounded returns a limit to which one can be added, for one of which 0 or less is
// none.
func bounded(limit int64) int64 {
	if limit <= 0 || limit == math.MaxInt64 {
		return math.MaxInt64 - 1
	}
	return limit
}

// readInto appends what r holds to dst, at most limit bytes and one.
func readInto(dst []byte, r io.Reader, limit int64, m *meter) ([]byte, error) {
	for {
		if len(dst) == cap(dst) {
			more := max(cap(dst)/2, newBuffer/8)
			if err := m.to(int64(cap(dst) + more)); err != nil {
				return dst, err
			}
			dst = slices.Grow(dst, more)
		}
		room := dst[len(dst):cap(dst)]
		if left := limit + 1 - int64(len(dst)); int64(len(room)) > left {
			room = room[:left]
		}
		n, err := r.Read(room)
		dst = dst[:len(dst)+n]
		switch {
		case int64(len(dst)) > limit:
			return dst, ErrTooLarge
		case errors.Is(err, io.EOF):
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}
