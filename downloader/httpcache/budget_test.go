package httpcache

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
)

const (
	budget = 8 << 20
	large  = 1 << 20 // the body of a page
)

// held returns the bytes that a budget has given out, by the line of the first
// download that waits for more. It fails the test if one has waited before.
func held(t *testing.T, b *downloader.Budget, log *strings.Builder) int {
	t.Helper()
	if log.Len() > 0 {
		t.Errorf("somebody has waited: %s", log)
	}
	used := 0
	for range 2 { // one may go on beyond the limit
		ctx, share := b.Share(t.Context())
		defer share.Release()
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, _ = new(downloader.Buffers).Read(ctx, bytes.NewReader(make([]byte, 2*budget)), -1, 0)
		if m := regexp.MustCompile(`hold (\d+) bytes`).FindStringSubmatch(log.String()); m != nil {
			_, _ = fmt.Sscan(m[1], &used)
			break
		}
		share.Set(budget) // it stays the one beyond the limit
	}
	return used - budget
}

// What is read from the cache counts for DOWNLOAD_MAX_ACTIVE_SIZE, and no more of it
// than is left.
func TestBudget(t *testing.T) {
	text := strings.Repeat("x", large)
	vary := []string{"Cache-Control", "max-age=60", "Vary", "X-V", "ETag", `"1"`}
	for name, tt := range map[string]struct {
		zip      bool
		variants int
		then     func(o *origin)
		v        string // the variant that is asked for
		want     int
	}{
		"a hit":                {variants: 1, v: "0", want: large},
		"a hit, compressed":    {variants: 1, v: "0", zip: true, want: large},
		"one of many":          {variants: 3, v: "1", want: large},
		"none of many":         {variants: 3, v: "9", then: func(o *origin) { o.says(200, "small", vary...) }, want: 0},
		"none of many, stored": {variants: 3, v: "9", want: large},
		"confirmed":            {variants: 3, v: "1", then: func(o *origin) { time.Sleep(time.Hour); o.says(304, "", vary...) }, want: large},
		"recovered":            {variants: 3, v: "1", then: func(o *origin) { time.Sleep(time.Hour); o.fails(errLost) }, want: large},
		"replaced":             {variants: 3, v: "1", then: func(o *origin) { time.Sleep(time.Hour); o.says(200, text, vary...) }, want: large},
		"made small":           {variants: 3, v: "1", then: func(o *origin) { time.Sleep(time.Hour); o.says(200, "small", vary...) }, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOrigin(t, map[string]any{"HTTPCACHE_POLICY": "rfc9111", "HTTPCACHE_GZIP": tt.zip})
				o.says(200, text, vary...)
				for i := range tt.variants {
					o.get(t, "X-V", fmt.Sprint(i))
				}
				if tt.then != nil {
					tt.then(o)
				}
				var log strings.Builder
				b := downloader.NewBudget(budget, zerolog.New(&log))
				ctx, share := b.Share(t.Context())
				defer share.Release()
				resp, err := o.cache.Fetch(ctx, &crawl.Request{URL: page, Header: header("X-V", tt.v)})
				if err != nil {
					t.Fatal(err)
				}
				if got := held(t, b, &log); got < tt.want || got > tt.want+tt.want/8 {
					t.Errorf("%d bytes are held for a body of %d, want about %d", got, len(resp.Body), tt.want)
				}
			})
		})
	}
}

// Who reads from the cache waits for memory. The end of the crawl harms no entry,
// neither then nor while the other variants are read to be stored again.
func TestBudgetWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrigin(t, map[string]any{"HTTPCACHE_POLICY": "rfc9111"})
		o.says(200, strings.Repeat("x", large), "Cache-Control", "max-age=60", "Vary", "X-V")
		for _, v := range []string{"0", "1"} {
			o.get(t, "X-V", v)
		}
		b := downloader.NewBudget(budget, zerolog.Nop())
		over, greedy := b.Share(t.Context())
		if _, err := new(downloader.Buffers).Read(over, bytes.NewReader(make([]byte, 2*budget)), -1, 0); err != nil {
			t.Fatal(err)
		}
		ctx, share := b.Share(t.Context())
		defer share.Release()
		ctx, cancel := context.WithCancelCause(ctx)
		stopped := make(chan error)
		go func() {
			_, err := o.cache.Fetch(ctx, &crawl.Request{URL: page, Header: header("X-V", "0")})
			stopped <- err
		}()
		synctest.Wait()
		cancel(crawl.ErrStopped)
		if err := <-stopped; err == nil || !strings.Contains(err.Error(), crawl.ErrStopped.Error()) {
			t.Errorf("error %v, want that the crawl was stopped", err)
		}
		greedy.Release()
		answer := o.answer
		ctx, cancel = context.WithCancelCause(t.Context())
		o.answer = func(r *crawl.Request) (*crawl.Response, error) {
			cancel(crawl.ErrStopped)
			return answer(r)
		}
		_, _ = o.cache.Fetch(ctx, &crawl.Request{URL: page, Header: header("X-V", "2")})
		for _, v := range []string{"0", "1"} {
			if resp := o.get(t, "X-V", v); !isCached(resp) || len(resp.Body) != large {
				t.Errorf("variant %s is gone", v)
			}
		}
		o.wantStats(t, map[string]int64{"retrieve_error": 0})
	})
}

// Who holds a key and waits for memory gets it from who waits for the key.
func TestBudgetLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := downloader.NewBudget(budget, zerolog.Nop())
		l := &locks{held: map[string]chan struct{}{}}
		read := func(ctx context.Context) error {
			_, err := new(downloader.Buffers).Read(ctx, bytes.NewReader(make([]byte, 2*budget)), -1, 0)
			return err
		}
		if err := l.lock(t.Context(), "key"); err != nil {
			t.Fatal(err)
		}
		waits, over := b.Share(t.Context())
		defer over.Release()
		if err := read(waits); err != nil {
			t.Fatal(err)
		}
		locked := make(chan error)
		go func() { locked <- l.lock(waits, "key") }()
		synctest.Wait()
		ctx, holder := b.Share(t.Context())
		defer holder.Release()
		if err := read(ctx); err != nil {
			t.Fatal(err)
		}
		l.unlock("key")
		if err := <-locked; err != nil {
			t.Error(err)
		}
	})
}
