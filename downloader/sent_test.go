package downloader

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

func TestWithSent(t *testing.T) {
	arrived, proceed := make(chan struct{}), make(chan struct{})
	s := serve(t, func(http.ResponseWriter, *http.Request) {
		close(arrived)
		<-proceed
	})
	h, _ := newHandler(t)
	sent := make(chan time.Time, 2)
	before := time.Now()
	ctx := WithSent(t.Context(), func(at time.Time) { sent <- at })
	if Tried(ctx) {
		t.Error("Tried before the fetch = true")
	}
	fetched := make(chan *crawl.Response)
	go func() {
		resp, _ := h.Fetch(ctx, &crawl.Request{URL: s.URL})
		fetched <- resp
	}()
	at := <-sent // is told while the response is still to come
	<-arrived
	close(proceed)
	resp := <-fetched
	if at.Before(before) || resp == nil || resp.Latency <= 0 || resp.Latency > time.Since(at) {
		t.Errorf("sent at %v, before was %v, response %v", at, before, resp)
	}
	if !Tried(ctx) || len(sent) != 0 {
		t.Errorf("Tried = %v, told %d times more", Tried(ctx), len(sent))
	}
}

func TestWithSentNeverSent(t *testing.T) {
	h, _ := newHandler(t)
	for url, tried := range map[string]bool{"http://no-such-host.invalid/": true, "http://a.test:99999/": false} {
		var calls atomic.Int32
		ctx := WithSent(t.Context(), func(time.Time) { calls.Add(1) })
		if _, err := h.Fetch(ctx, &crawl.Request{URL: url}); err == nil {
			t.Errorf("fetch of %s worked", url)
		}
		if calls.Load() != 0 || Tried(ctx) != tried {
			t.Errorf("%s: told %d times, tried = %v, want 0 and %v", url, calls.Load(), Tried(ctx), tried)
		}
	}
	if Tried(context.Background()) {
		t.Error("Tried without WithSent = true")
	}
}
