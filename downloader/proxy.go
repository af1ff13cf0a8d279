package downloader

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

const proxyAuthorization = "Proxy-Authorization"

// ParseProxy reads the URL of a proxy: http, https, socks5 or socks5h, with or
// without user and password. Without a scheme it is http. The error does not
// repeat the URL, which may hold a password.
func ParseProxy(raw string) (*url.URL, error) {
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err == nil && u.Hostname() != "" && slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return u, nil
	}
	return nil, errors.New("it is no URL of a proxy: want http://host:port; https, socks5 and socks5h are possible too, " +
		"and user:password@ before the host")
}

type proxyKey struct{}

// newProxyTransport returns a transport that goes through the proxy of each
// request. It speaks HTTP/1.1 only: net/http looks for an HTTP/2 connection by the
// name of the server alone, and would send a request through the proxy of another.
// For the same reason no TLS session is resumed, by which a server could tell that
// two proxies have one user.
func newProxyTransport(cfg HTTPConfig, w *wire) *http.Transport {
	config := w.tls.Clone()
	config.NextProtos, config.ClientSessionCache = []string{"http/1.1"}, nil
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	t := &http.Transport{
		Proxy: func(r *http.Request) (*url.URL, error) {
			u, _ := r.Context().Value(proxyKey{}).(*url.URL)
			return u, nil
		},
		DialContext: guarded(w.dial),
		DialTLSContext: guarded(func(ctx context.Context, network, addr string) (net.Conn, error) {
			return w.dialWith(ctx, config, network, addr) // a proxy that is reached over https
		}),
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    idleTimeout,
		GetProxyConnectHeader:  connectHeader,
		OnProxyConnectResponse: connected,
		Protocols:              protocols,
		DisableCompression:     true,
		MaxConnsPerHost:        cfg.MaxPerHost,
		MaxIdleConns:           cfg.MaxIdle,
		MaxIdleConnsPerHost:    max(cfg.MaxIdlePerHost, 1),
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeader,
	}
	return t
}

// connectHeader returns what goes to the proxy before a tunnel stands.
func connectHeader(_ context.Context, proxy *url.URL, _ string) (http.Header, error) {
	if proxy.Fragment == "" {
		return http.Header{}, nil
	}
	return http.Header{proxyAuthorization: {proxy.Fragment}}, nil
}

func connected(_ context.Context, proxy *url.URL, req *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return fmt.Errorf("the proxy %s does not connect to %s: %s", proxy.Host, req.Host, resp.Status)
}

// route returns the transport for a request, and changes req and its context for
// the proxy that the request asks for.
func (h *HTTP) route(ctx context.Context, req *http.Request, o *crawl.Options) (context.Context, *http.Transport, error) {
	ctx, err := WithBindAddress(ctx, o.BindAddress)
	if err != nil {
		return ctx, nil, err
	}
	pool := h.pools.from(boundTo(ctx))
	if o.Proxy == "" || o.NoProxy {
		return ctx, pool.direct, nil
	}
	proxy, err := ParseProxy(o.Proxy)
	if err != nil {
		return ctx, nil, fmt.Errorf("proxy: %w", err)
	}
	auth := takeProxyAuth(req)
	if auth == "" && proxy.User != nil {
		pass, _ := proxy.User.Password()
		auth = "Basic " + base64.StdEncoding.EncodeToString([]byte(proxy.User.Username()+":"+pass))
	}
	// What is not in this URL does not take part in telling connections apart.
	proxy = &url.URL{Scheme: proxy.Scheme, Host: proxy.Host}
	switch {
	case strings.HasPrefix(proxy.Scheme, "socks5"):
		proxy.User = userOf(auth)
	case req.URL.Scheme == "https":
		proxy.Fragment = auth
	default:
		proxy.Fragment = auth
		if auth != "" {
			req.Header[proxyAuthorization] = []string{auth}
		}
		if opaque := req.URL.Opaque; opaque != "" && !strings.HasPrefix(opaque, "//") {
			req.URL.Opaque = "//" + req.URL.Host + opaque // the absolute form, RFC 9112 §3.2.2
		}
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: release})
	return context.WithValue(ctx, proxyKey{}, proxy), pool.proxied, nil
}

// takeProxyAuth takes the credentials for the proxy out of a request, whose server
// must not see them. The header becomes the request's own.
func takeProxyAuth(req *http.Request) string {
	req.Header = maps.Clone(req.Header)
	auth := ""
	for name, values := range req.Header {
		if strings.EqualFold(name, proxyAuthorization) {
			auth = strings.Join(values, ", ")
			delete(req.Header, name)
		}
	}
	return auth
}

// userOf reads user and password from Basic credentials, nil if there are none.
func userOf(auth string) *url.Userinfo {
	scheme, code, _ := strings.Cut(auth, " ")
	text, err := base64.StdEncoding.DecodeString(code)
	if err != nil || !strings.EqualFold(scheme, "Basic") {
		return nil
	}
	user, pass, _ := strings.Cut(string(text), ":")
	return url.UserPassword(user, pass)
}

// guard is a connection to a proxy that is closed with the fetch for which it was
// opened, until a request gets it: net/http would wait without end for a proxy
// that does not answer.
type guard struct {
	net.Conn
	stop func() bool
}

type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

func guarded(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		f, ok := ctx.Value(fetchKey{}).(context.Context)
		if err != nil || !ok {
			return c, err
		}
		return &guard{Conn: c, stop: context.AfterFunc(f, func() { _ = c.SetDeadline(time.Unix(1, 0)) })}, nil //nolint:contextcheck // f is the fetch: ctx outlives it.
	}
}

// NetConn returns the connection below.
func (g *guard) NetConn() net.Conn { return g.Conn }

// release ends the guard of a connection that carries a request from now on.
func release(got httptrace.GotConnInfo) {
	for c := got.Conn; c != nil; c = below(c) {
		if g, ok := c.(*guard); ok {
			g.stop()
			return
		}
	}
}
