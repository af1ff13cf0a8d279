package downloader

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	idleTimeout = 30 * time.Second
	maxHeader   = 1 << 20 // bytes of the headers of a response
	idleSlack   = 16      // connections that may be closing
)

type fetchKey struct{}

// pools are the connections of a handler. Those that leave from different
// addresses of this machine do not meet, and those through proxies have a
// transport of their own.
type pools struct {
	cfg    HTTPConfig
	dialer *wire

	mu     sync.Mutex
	byBind map[netip.AddrPort]*pool
}

// pool are connections that leave from one address.
type pool struct{ direct, proxied *http.Transport }

func newPools(cfg HTTPConfig) *pools {
	p := &pools{cfg: cfg, byBind: map[netip.AddrPort]*pool{}}
	config := &tls.Config{} //nolint:gosec // versions are those of Go.
	if cfg.TLS != nil {
		config = cfg.TLS.Clone()
	}
	config.NextProtos = []string{"h2", "http/1.1"}
	if config.MaxVersion != 0 && config.MaxVersion < tls.VersionTLS12 { // below which there is no HTTP/2
		config.NextProtos = []string{"http/1.1"}
	}
	config.ClientSessionCache = tls.NewLRUClientSessionCache(256)
	p.dialer = &wire{open: cfg.Dial, tls: config, maxIdle: int64(cfg.MaxIdle), closeIdle: p.closeIdle}
	return p
}

// from returns the connections that leave from an address.
func (p *pools) from(bind netip.AddrPort) *pool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byBind[bind] == nil {
		p.byBind[bind] = &pool{newDirectTransport(p.cfg, p.dialer), newProxyTransport(p.cfg, p.dialer)}
	}
	return p.byBind[bind]
}

func (p *pools) closeIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.byBind {
		one.direct.CloseIdleConnections()
		one.proxied.CloseIdleConnections()
	}
}

// newDirectTransport returns a transport that does one exchange at a time and
// nothing besides: no decoding, no proxies of the environment.
func newDirectTransport(cfg HTTPConfig, w *wire) *http.Transport {
	return &http.Transport{
		DialContext:            w.dial,
		DialTLSContext:         w.dialTLS,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxConnsPerHost:        cfg.MaxPerHost,
		MaxIdleConns:           cfg.MaxIdle,
		MaxIdleConnsPerHost:    max(cfg.MaxIdlePerHost, 1),
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeader,
		// A dead connection would else take every request to its host with it.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second},
	}
}

// wire opens the connections of all transports and counts them.
type wire struct {
	open      dialFunc
	tls       *tls.Config
	closeIdle func()
	maxIdle   int64 // 0 is no limit
	conns     atomic.Int64
	fetches   atomic.Int64
}

// dial opens a connection, for as long as the fetch wants it: net/http itself
// would finish what nobody waits for any more. When the process has no
// descriptor left, idle connections give way.
func (w *wire) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, end := untilFetchEnds(ctx)
	defer end()
	c, err := w.connect(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &lenient{Conn: c}, nil
}

func (w *wire) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := w.open(ctx, network, addr)
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		w.closeIdle()
		c, err = w.open(ctx, network, addr)
	}
	if err != nil {
		return nil, err
	}
	w.opened()
	return &conn{Conn: c, closed: sync.OnceFunc(func() { w.conns.Add(-1) })}, nil
}

// opened counts a connection. The transport does not close the oldest of its
// HTTP/2 connections when there are too many, so all idle ones are closed then.
func (w *wire) opened() {
	if open := w.conns.Add(1); w.maxIdle > 0 && open > w.fetches.Load()+w.maxIdle+idleSlack {
		w.closeIdle()
	}
}

// dialTLS opens a connection and agrees on TLS within the life of the fetch.
func (w *wire) dialTLS(ctx context.Context, network, addr string) (net.Conn, error) {
	cfg := w.tls
	if boundTo(ctx).IsValid() { // or a server could tell that two addresses have one user
		cfg = cfg.Clone()
		cfg.ClientSessionCache = nil
	}
	return w.dialWith(ctx, cfg, network, addr)
}

func (w *wire) dialWith(ctx context.Context, cfg *tls.Config, network, addr string) (net.Conn, error) {
	ctx, end := untilFetchEnds(ctx)
	defer end()
	plain, err := w.connect(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	cfg = cfg.Clone()
	if cfg.ServerName, _, err = net.SplitHostPort(addr); err != nil {
		return nil, errors.Join(err, plain.Close())
	}
	tellName(cfg)
	c := tls.Client(plain, cfg)
	if err := c.HandshakeContext(ctx); err != nil {
		_ = plain.Close() // the handshake's error tells more
		return nil, err
	}
	return lenientTLS(c), nil
}

// tellName lets VerifyConnection know also an address, which is not sent to the
// server and so is no name of the connection.
func tellName(cfg *tls.Config) {
	verify, host := cfg.VerifyConnection, cfg.ServerName
	if verify == nil {
		return
	}
	cfg.VerifyConnection = func(s tls.ConnectionState) error {
		s.ServerName = host
		return verify(s)
	}
}

// untilFetchEnds ends ctx, which has the values of a fetch's context but not its
// end, together with the fetch.
func untilFetchEnds(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	f, ok := ctx.Value(fetchKey{}).(context.Context)
	if !ok {
		return ctx, cancel
	}
	stop := context.AfterFunc(f, cancel)
	return ctx, func() { stop(); cancel() }
}

// conn tells when it is closed.
type conn struct {
	net.Conn
	closed func()
}

// Close closes the connection.
func (c *conn) Close() error {
	c.closed()
	return c.Conn.Close()
}
