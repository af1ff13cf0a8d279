package downloader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
)

// take starts a goroutine that takes bytes for a share, and returns where its
// result will be.
func take(ctx context.Context, s *Share, bytes int64) *atomic.Pointer[error] {
	var result atomic.Pointer[error]
	go func() {
		err := s.add(ctx, bytes)
		result.Store(&err)
	}()
	synctest.Wait()
	return &result
}

func granted(t *testing.T, p *atomic.Pointer[error], want bool) {
	t.Helper()
	if got := p.Load(); (got != nil && *got == nil) != want {
		t.Errorf("granted = %v, want %v", got, want)
	}
}

func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		b := NewBudget(10*free, zerolog.New(&log))
		ctx, first := b.Share(t.Context())
		if shareOf(ctx) != first {
			t.Error("the context does not have the share")
		}
		_, second := b.Share(t.Context())
		_, third := b.Share(t.Context())
		granted(t, take(ctx, first, 8*free), true)
		granted(t, take(ctx, second, 4*free), true) // the one that may go on beyond the limit
		granted(t, take(ctx, second, 4*free), true)
		if log.Len() > 0 {
			t.Errorf("nobody has waited, and the log is %s", &log)
		}
		waiting := take(ctx, third, free)
		granted(t, waiting, false)
		behind := take(ctx, first, free)
		granted(t, behind, false)

		short, cancel := context.WithCancelCause(ctx)
		withdrawn := take(short, third, free)
		cancel(crawl.ErrStopped)
		synctest.Wait()
		if err := withdrawn.Load(); err == nil || !errors.Is(*err, crawl.ErrStopped) {
			t.Errorf("error = %v, want the cause of the context", err)
		}

		second.Release()
		synctest.Wait()
		granted(t, waiting, true)
		granted(t, behind, true)
		first.Set(2 * free)
		third.Release()
		if b.used != 2*free || b.over != nil || len(b.waiting) != 0 {
			t.Errorf("%d bytes are used, %d claims wait", b.used, len(b.waiting))
		}
		first.Set(free) // small bodies are not counted
		if b.used != 0 {
			t.Errorf("%d bytes are used in the end", b.used)
		}
		if strings.Count(log.String(), "DOWNLOAD_MAX_ACTIVE_SIZE") != 1 {
			t.Errorf("the log is %s, want one warning", &log)
		}
	})
}

func TestBudgetOff(t *testing.T) {
	ctx, s := NewBudget(0, zerolog.Nop()).Share(t.Context())
	if s != nil || shareOf(ctx) != nil {
		t.Error("no limit makes a share")
	}
	s.Set(1 << 40)
	s.Release()
}

// watched reads a body of some size, and notes the most bytes that were used.
type watched struct {
	io.Reader
	b    *Budget
	most *atomic.Int64
}

func (w watched) Read(p []byte) (int, error) {
	w.b.mu.Lock()
	used := w.b.used
	w.b.mu.Unlock()
	for most := w.most.Load(); used > most && !w.most.CompareAndSwap(most, used); most = w.most.Load() {
	}
	return w.Reader.Read(p)
}

// Many large bodies at once hold no more than the budget and one of them, and all
// of them arrive.
func TestBudgetBuffers(t *testing.T) {
	const limit, size, bodies = 4 << 20, 3 << 20, 40
	var buffers Buffers
	var wg sync.WaitGroup
	var most atomic.Int64
	b := NewBudget(limit, zerolog.Nop())
	for i := range bodies {
		wg.Go(func() {
			ctx, s := b.Share(t.Context())
			defer s.Release()
			r := watched{bytes.NewReader(make([]byte, size)), b, &most}
			if body, err := buffers.Read(ctx, r, int64(i%2)*size-1, 0); err != nil || len(body) != size {
				t.Errorf("%d bytes, %v", len(body), err)
			}
			s.Set(size)
		})
	}
	wg.Wait()
	if b.used != 0 || most.Load() > limit+2*size || most.Load() < size {
		t.Errorf("%d bytes at most, %d in the end", most.Load(), b.used)
	}
}

// A download that waits for memory ends with its time.
func TestBudgetTimeout(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", 1<<20)) })
	b := NewBudget(1<<20, zerolog.Nop())
	_, greedy := b.Share(t.Context())
	greedy.Set(1 << 20)
	_, over := b.Share(t.Context())
	if err := over.add(t.Context(), 1<<20); err != nil {
		t.Fatal(err)
	}
	h, _ := newHandler(t)
	ctx, share := b.Share(t.Context())
	defer share.Release()
	_, err := h.Fetch(ctx, &crawl.Request{URL: s.URL, Options: crawl.Options{Timeout: 100_000_000}})
	wantFailure(t, err, crawl.FailTimeout, "DownloadTimeoutError")
}

// A response that is thrown away gives its bytes back before the wait for the next.
func TestBudgetFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(1<<20, zerolog.Nop())
		ctx, s := b.Share(t.Context())
		defer s.Release()
		var buffers Buffers
		tries := 0
		f := Follow(crawl.FetcherFunc(func(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
			body, err := buffers.Read(ctx, bytes.NewReader(make([]byte, 1<<20)), 1<<20-1, 0)
			if tries++; tries == 1 {
				return nil, crawl.Reschedule(&crawl.Request{URL: r.URL, NotBefore: time.Now().Add(time.Hour)})
			}
			return &crawl.Response{Status: 200, Body: body}, err
		}))
		go func() {
			time.Sleep(time.Minute)
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.used != 0 {
				t.Errorf("%d bytes are held during the wait", b.used)
			}
		}()
		if _, err := f.Fetch(ctx, &crawl.Request{URL: "http://a.test/"}); err != nil || b.used < 1<<20 {
			t.Errorf("error %v, %d bytes are held by the response", err, b.used)
		}
	})
}
