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
	h, _ := newHandler(t)
	dialing, ended := make(chan struct{}), make(chan error)
	h.dialer.net.ControlContext = func(ctx context.Context, _, _ string, _ syscall.RawConn) error {
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
	h, _ := newHandler(t)
	asking := make(chan struct{}, 8)
	h.dialer.net.Resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		asking <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
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
	h, _ := newHandler(t)
	mustFetch(t, h, &crawl.Request{URL: idle.URL})
	var dials atomic.Int32
	h.dialer.net.ControlContext = func(context.Context, string, string, syscall.RawConn) error {
		if dials.Add(1) == 1 {
			return syscall.EMFILE
		}
		return nil
	}
	mustFetch(t, h, &crawl.Request{URL: other.URL})
	if open := h.dialer.open.Load(); dials.Load() != 2 || open > 1 {
		t.Errorf("%d dials, %d connections, want 2 and the new one at most", dials.Load(), open)
	}
	h.dialer.net.ControlContext = func(context.Context, string, string, syscall.RawConn) error { return syscall.EMFILE }
	_, err := h.Fetch(t.Context(), &crawl.Request{URL: idle.URL})
	wantFailure(t, err, crawl.FailConnection, "DownloadFailedError")
}
