package downloader

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
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

// newTransports returns a transport that does one exchange at a time and nothing
// besides: no decoding, no proxies of the environment; and one that does so through
// proxies.
func newTransports(cfg HTTPConfig) (direct, proxied *http.Transport, d *dialer) {
	d = &dialer{maxIdle: int64(cfg.MaxIdle), tls: &tls.Config{
		InsecureSkipVerify: !cfg.VerifyCertificates, //nolint:gosec // the user asked for it.
		NextProtos:         []string{"h2", "http/1.1"},
		ClientSessionCache: tls.NewLRUClientSessionCache(256),
	}}
	direct = &http.Transport{
		DialContext:            d.dial,
		DialTLSContext:         d.dialTLS,
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
	proxied = newProxyTransport(cfg, d)
	d.closeIdle = func() {
		direct.CloseIdleConnections()
		proxied.CloseIdleConnections()
	}
	return direct, proxied, d
}

// dialer opens the connections of a transport and counts them.
type dialer struct {
	net       net.Dialer
	tls       *tls.Config
	closeIdle func()
	maxIdle   int64 // 0 is no limit
	open      atomic.Int64
	fetches   atomic.Int64
}

// dial opens a connection, for as long as the fetch wants it: net/http itself
// would finish what nobody waits for any more. When the process has no
// descriptor left, idle connections give way.
func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, end := untilFetchEnds(ctx)
	defer end()
	return d.connect(ctx, network, addr)
}

func (d *dialer) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := d.net.DialContext(ctx, network, addr)
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		d.closeIdle()
		c, err = d.net.DialContext(ctx, network, addr)
	}
	if err != nil {
		return nil, err
	}
	d.opened()
	return &conn{Conn: c, closed: sync.OnceFunc(func() { d.open.Add(-1) })}, nil
}

// opened counts a connection. The transport does not close the oldest of its
// HTTP/2 connections when there are too many, so all idle ones are closed then.
func (d *dialer) opened() {
	if open := d.open.Add(1); d.maxIdle > 0 && open > d.fetches.Load()+d.maxIdle+idleSlack {
		d.closeIdle()
	}
}

// dialTLS opens a connection and agrees on TLS within the life of the fetch.
func (d *dialer) dialTLS(ctx context.Context, network, addr string) (net.Conn, error) {
	return d.dialWith(ctx, d.tls, network, addr)
}

func (d *dialer) dialWith(ctx context.Context, cfg *tls.Config, network, addr string) (net.Conn, error) {
	ctx, end := untilFetchEnds(ctx)
	defer end()
	plain, err := d.connect(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	cfg = cfg.Clone()
	if cfg.ServerName, _, err = net.SplitHostPort(addr); err != nil {
		return nil, errors.Join(err, plain.Close())
	}
	c := tls.Client(plain, cfg)
	if err := c.HandshakeContext(ctx); err != nil {
		_ = plain.Close() // the handshake's error tells more
		return nil, err
	}
	return c, nil
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
