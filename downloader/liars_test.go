package downloader

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// listen starts a server that calls f for each connection, and closes that when
// f returns. The result is its URL.
func listen(t testing.TB, f func(c net.Conn, r *bufio.Reader)) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var conns []net.Conn
	accepting := make(chan struct{})
	go func() {
		defer close(accepting)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns = append(conns, c)
			wg.Go(func() {
				defer c.Close()
				f(c, bufio.NewReader(c))
			})
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-accepting
		for _, c := range conns {
			_ = c.Close()
		}
		wg.Wait()
	})
	return "http://" + l.Addr().String()
}

// answer reads a request and writes a text.
func answer(text string) func(net.Conn, *bufio.Reader) {
	return func(c net.Conn, r *bufio.Reader) {
		readRequest(r)
		_, _ = io.WriteString(c, text)
	}
}

func readRequest(r *bufio.Reader) {
	for {
		line, err := r.ReadString('\n')
		if err != nil || strings.TrimSpace(line) == "" {
			return
		}
	}
}

// reset makes the next close of a connection a reset.
func reset(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }

func TestHTTPBrokenServers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server func(net.Conn, *bufio.Reader)
		kind   crawl.FailureKind
		err    string
	}{
		{"closes at once", func(net.Conn, *bufio.Reader) {}, crawl.FailConnection, "DownloadFailedError"},
		{"resets at once", func(c net.Conn, r *bufio.Reader) { readRequest(r); reset(c) }, crawl.FailConnection, "DownloadFailedError"},
		{"garbage", answer("\x00\x01garbage\r\n\r\n"), crawl.FailProtocol, "DownloadFailedError"},
		{"another protocol", answer("SSH-2.0-OpenSSH_9.6\r\n"), crawl.FailProtocol, "DownloadFailedError"},
		{"headers cut", answer("HTTP/1.1 200 OK\r\nContent-Le"), crawl.FailConnection, "DownloadFailedError"},
		{"endless headers", func(c net.Conn, r *bufio.Reader) {
			readRequest(r)
			_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for line := "X-A: " + strings.Repeat("a", 4000) + "\r\n"; err == nil; {
				_, err = io.WriteString(c, line)
			}
		}, crawl.FailProtocol, "DownloadFailedError"},
		{"short body", answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), crawl.FailDataLoss, "ResponseDataLossError"},
		// xroche/httrack#840, scrapy/scrapy#2413
		{"chunks cut at a boundary", answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"), crawl.FailDataLoss, "ResponseDataLossError"},
		// xroche/httrack#851
		{"huge chunk", answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabc"), crawl.FailDataLoss, "ResponseDataLossError"},
		{"a lying terabyte", answer("HTTP/1.1 200 OK\r\nContent-Length: 1099511627776\r\n\r\nabc"), crawl.FailTooLarge, "DownloadCancelledError"},
		{"reset in the body", func(c net.Conn, r *bufio.Reader) {
			answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")(c, r)
			reset(c)
		}, crawl.FailConnection, "DownloadFailedError"},
		{"an endless body", func(c net.Conn, r *bufio.Reader) {
			readRequest(r)
			_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			for buf := make([]byte, 64<<10); err == nil; {
				_, err = c.Write(buf)
			}
		}, crawl.FailTooLarge, "DownloadCancelledError"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, _ := newHandler(t, func(c *HTTPConfig) { c.MaxSize = 1 << 20 })
			resp, err := h.Fetch(t.Context(), &crawl.Request{URL: listen(t, tt.server)})
			if resp != nil {
				t.Errorf("response = %v with body %q", resp, resp.Body)
			}
			if tt.name == "reset in the body" && crawl.KindOf(err) == crawl.FailDataLoss {
				return // the bytes may arrive or not before the reset does
			}
			wantFailure(t, err, tt.kind, tt.err)
		})
	}
}

func TestHTTPDataLossKept(t *testing.T) {
	h, log := newHandler(t, func(c *HTTPConfig) { c.FailOnDataLoss = false })
	for _, text := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
	} {
		resp := mustFetch(t, h, &crawl.Request{URL: listen(t, answer(text))})
		if string(resp.Body) != "abc" || !slices.Equal(resp.Flags, []string{FlagDataLoss}) {
			t.Errorf("response = %q %v, want abc [dataloss]", resp.Body, resp.Flags)
		}
	}
	log.wants(t)

	h, log = newHandler(t)
	for range 2 {
		_, err := h.Fetch(t.Context(), &crawl.Request{URL: listen(t, answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"))})
		wantFailure(t, err, crawl.FailDataLoss, "ResponseDataLossError")
	}
	log.wants(t, "Got data loss in http") // told once
}

func TestHTTPPartial(t *testing.T) {
	h, _ := newHandler(t)
	resp := mustFetch(t, h, &crawl.Request{URL: listen(t, answer("HTTP/1.0 200 OK\r\n\r\nabc"))})
	if string(resp.Body) != "abc" || !slices.Equal(resp.Flags, []string{FlagPartial}) {
		t.Errorf("response = %q %v, want abc [partial]", resp.Body, resp.Flags)
	}
}

// A gzip body under the length of the plain one is whole if its checksum is.
func TestHTTPGzipWithPlainLength(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write(bytes.Repeat([]byte("page "), 100))
	_ = w.Close()
	head := "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 500\r\n\r\n"
	h, _ := newHandler(t)
	resp := mustFetch(t, h, &crawl.Request{URL: listen(t, answer(head+z.String()))})
	if !bytes.Equal(resp.Body, z.Bytes()) || len(resp.Flags) != 0 {
		t.Errorf("response = %d bytes %v, want %d and no flags", len(resp.Body), resp.Flags, z.Len())
	}
	for name, body := range map[string]string{"cut": z.String()[:z.Len()-3], "plain": "no gzip"} {
		_, err := h.Fetch(t.Context(), &crawl.Request{URL: listen(t, answer(head+body))})
		if crawl.KindOf(err) != crawl.FailDataLoss {
			t.Errorf("%s: error = %v, want data loss", name, err)
		}
	}
}

// SLOT-07 and squirrelscan#187: one deadline covers headers and body.
func TestHTTPTimeout(t *testing.T) {
	for name, text := range map[string]string{
		"no headers":   "",
		"slow headers": "HTTP/1.1 200 OK\r\n",
		"stalled body": "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			done := make(chan struct{})
			defer close(done)
			u := listen(t, func(c net.Conn, r *bufio.Reader) {
				answer(text)(c, r)
				<-done
			})
			h, _ := newHandler(t, func(c *HTTPConfig) { c.Timeout = time.Hour })
			_, err := h.Fetch(t.Context(), &crawl.Request{URL: u, Options: crawl.Options{Timeout: 50 * time.Millisecond}})
			wantFailure(t, err, crawl.FailTimeout, "DownloadTimeoutError")
			if want := "Getting " + u + " took longer than 0.05 seconds."; err != nil && err.Error() != want {
				t.Errorf("message = %q, want %q", err, want)
			}
		})
	}
}

// bda-research/node-crawler#371: a stream that trickles for ever ends at the
// deadline.
func TestHTTPTrickle(t *testing.T) {
	u := listen(t, func(c net.Conn, r *bufio.Reader) {
		answer("HTTP/1.1 200 OK\r\n\r\n")(c, r)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if _, err := io.WriteString(c, "x"); err != nil {
				return
			}
		}
	})
	h, _ := newHandler(t, func(c *HTTPConfig) { c.Timeout = 50 * time.Millisecond })
	_, err := h.Fetch(t.Context(), &crawl.Request{URL: u})
	wantFailure(t, err, crawl.FailTimeout, "DownloadTimeoutError")
}

func TestHTTPStopped(t *testing.T) {
	arrived := make(chan struct{}, 1)
	done := make(chan struct{})
	defer close(done)
	for _, text := range []string{"", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"} {
		u := listen(t, func(c net.Conn, r *bufio.Reader) {
			answer(text)(c, r)
			arrived <- struct{}{}
			<-done
		})
		h, _ := newHandler(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			<-arrived
			cancel(crawl.ErrStopped)
		}()
		_, err := h.Fetch(ctx, &crawl.Request{URL: u})
		if !errors.Is(err, crawl.ErrStopped) {
			t.Errorf("error = %v, want one that wraps ErrStopped", err)
		}
		if de := (*crawl.DownloadError)(nil); errors.As(err, &de) {
			t.Errorf("error = %v is a DownloadError, which would be tried again", err)
		}
	}
}

func TestHTTPNoServer(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u := "http://" + l.Addr().String()
	_ = l.Close()
	h, _ := newHandler(t)
	_, err = h.Fetch(t.Context(), &crawl.Request{URL: u})
	wantFailure(t, err, crawl.FailRefused, "DownloadConnectionRefusedError")
	_, err = h.Fetch(t.Context(), &crawl.Request{URL: "http://no-such-host.invalid/"})
	wantFailure(t, err, crawl.FailDNS, "CannotResolveHostError")
}

// A TLS handshake that never ends belongs to the fetch and ends with it.
func TestHTTPStalledHandshake(t *testing.T) {
	done := make(chan struct{})
	u := listen(t, func(net.Conn, *bufio.Reader) { <-done })
	defer close(done)
	h, _ := newHandler(t, func(c *HTTPConfig) { c.Timeout = 50 * time.Millisecond })
	_, err := h.Fetch(t.Context(), &crawl.Request{URL: strings.Replace(u, "http:", "https:", 1)})
	wantFailure(t, err, crawl.FailTimeout, "DownloadTimeoutError")
	plain := listen(t, func(c net.Conn, r *bufio.Reader) {
		_, _ = r.ReadByte()
		_, _ = io.WriteString(c, "HTTP/1.1 400 no\r\n\r\n")
	})
	_, err = h.Fetch(t.Context(), &crawl.Request{URL: strings.Replace(plain, "http:", "https:", 1)})
	wantFailure(t, err, crawl.FailTLS, "DownloadFailedError")
}

// A server that never closes its connections does not make them pile up.
func TestHTTPIdleConnections(t *testing.T) {
	h, _ := newHandler(t, func(c *HTTPConfig) { c.MaxIdle = 4 })
	for range 60 {
		u := listen(t, func(c net.Conn, r *bufio.Reader) {
			readRequest(r)
			_, _ = fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			readRequest(r)
		})
		mustFetch(t, h, &crawl.Request{URL: u})
		if open := h.pools.dialer.conns.Load(); open > 4+1+idleSlack {
			t.Fatalf("%d connections are open, want 4 and those that are closing", open)
		}
	}
}

// gocolly: a POST must not be sent twice because its connection was stale.
func TestHTTPPostOnStaleConnection(t *testing.T) {
	var mu sync.Mutex
	posts := 0
	u := listen(t, func(c net.Conn, r *bufio.Reader) {
		for {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			if req.Method == "POST" {
				mu.Lock()
				posts++
				mu.Unlock()
				return // takes the request and closes
			}
			_, _ = fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	h, _ := newHandler(t)
	mustFetch(t, h, &crawl.Request{URL: u})
	_, err := h.Fetch(t.Context(), &crawl.Request{URL: u, Method: "POST", Body: []byte("pay=1")})
	wantFailure(t, err, crawl.FailConnection, "DownloadFailedError")
	mu.Lock()
	defer mu.Unlock()
	if posts != 1 {
		t.Errorf("the POST was sent %d times, want once", posts)
	}
}
