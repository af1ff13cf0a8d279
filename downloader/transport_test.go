package downloader

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// httrack#1073: the end of a fetch reaches the dial that it waits for, which
// net/http would let go on.
func TestDialEndsWithFetch(t *testing.T) {
	d := plainDialer()
	h, _ := newHandler(t, func(c *HTTPConfig) { c.Dial = d.Dial })
	dialing, ended := make(chan struct{}), make(chan error)
	d.control = func(ctx context.Context, _, _ string, _ syscall.RawConn) error {
		close(dialing)
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-dialing
		cancel(crawl.ErrStopped)
	}()
	if _, err := h.Fetch(ctx, &crawl.Request{URL: "http://127.0.0.1:9/"}); !errors.Is(err, crawl.ErrStopped) {
		t.Errorf("error = %v, want one that wraps ErrStopped", err)
	}
	if err := <-ended; err == nil {
		t.Error("the dial goes on")
	}
}

// httrack#1073: a name server that does not answer holds up no stop either.
func TestLookupEndsWithFetch(t *testing.T) {
	asking := make(chan struct{}, 8)
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		asking <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	d := newDialer(t, DialConfig{}, resolver.LookupNetIP)
	h, _ := newHandler(t, func(c *HTTPConfig) { c.Dial = d.Dial })
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-asking
		cancel(crawl.ErrStopped)
	}()
	if _, err := h.Fetch(ctx, &crawl.Request{URL: "http://dead-name.test/"}); !errors.Is(err, crawl.ErrStopped) {
		t.Errorf("error = %v, want one that wraps ErrStopped", err)
	}
}

// Without descriptors idle connections give way to a new one.
func TestDialOutOfDescriptors(t *testing.T) {
	idle := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	other := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	d := plainDialer()
	h, _ := newHandler(t, func(c *HTTPConfig) { c.Dial = d.Dial })
	mustFetch(t, h, &crawl.Request{URL: idle.URL})
	var dials atomic.Int32
	d.control = func(context.Context, string, string, syscall.RawConn) error {
		if dials.Add(1) == 1 {
			return syscall.EMFILE
		}
		return nil
	}
	mustFetch(t, h, &crawl.Request{URL: other.URL})
	if open := h.pools.dialer.conns.Load(); dials.Load() != 2 || open > 1 {
		t.Errorf("%d dials, %d connections, want 2 and the new one at most", dials.Load(), open)
	}
	d.control = func(context.Context, string, string, syscall.RawConn) error { return syscall.EMFILE }
	_, err := h.Fetch(t.Context(), &crawl.Request{URL: idle.URL})
	wantFailure(t, err, crawl.FailConnection, "DownloadFailedError")
}
