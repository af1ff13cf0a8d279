package engine_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/settings"
)

// pipes are a network in memory, so that servers can be in the bubble of a test.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	takes  time.Duration // to connect
}

func (n *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *pipes) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

func (n *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (n *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	time.Sleep(n.takes)
	near, far := net.Pipe()
	select {
	case n.conns <- far:
		return near, nil
	case <-n.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// The handler named "pipes" is that of http over the network of the test.
func init() {
	downloader.Handlers.Register("pipes", func(env *crawl.Env) (crawl.Fetcher, error) {
		cfg := settings.Decode[downloader.HTTPConfig](env.Settings)
		cfg.Dial = env.Spider.(hooks).hooks().net.dial
		return downloader.NewHTTP(cfg), nil
	})
}

const overPipes = `DOWNLOAD_HANDLERS={"http": "pipes"}`

// serveHosts lets a handler be the server of all hosts until the test ends. It
// sees the host without port.
func (p *probe) serveHosts(t *testing.T, f http.HandlerFunc) {
	t.Helper()
	p.net = &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := &http.Server{ReadHeaderTimeout: time.Hour, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host, _, _ = strings.Cut(r.Host, ":")
		f(w, r)
	})}
	var serving sync.WaitGroup
	serving.Go(func() { _ = srv.Serve(p.net) })
	t.Cleanup(func() {
		_ = srv.Close()
		serving.Wait()
	})
}

// visits are when requests arrive at hosts and how many are there at once, as
// their servers see it.
type visits struct {
	mu   sync.Mutex
	at   map[string][]time.Time
	now  map[string]int
	most map[string]int
}

func newVisits() *visits {
	return &visits{at: map[string][]time.Time{}, now: map[string]int{}, most: map[string]int{}}
}

// enter returns how many requests had arrived before.
func (v *visits) enter(host string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.at[host] = append(v.at[host], time.Now())
	v.now[host]++
	v.most[host] = max(v.most[host], v.now[host])
	return len(v.at[host]) - 1
}

func (v *visits) leave(host string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now[host]--
}

// gaps returns the times between the arrivals at a host.
func (v *visits) gaps(host string) []time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	var all []time.Duration
	for i, at := range v.at[host] {
		if i > 0 {
			all = append(all, at.Sub(v.at[host][i-1]))
		}
	}
	return all
}
