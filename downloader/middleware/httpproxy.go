package middleware

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/http/httpproxy"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/internal/weburl"
	"github.com/skeincrawl/skein/settings"
)

func init() { downloader.Middlewares.Register("httpproxy", newHTTPProxy) }

// newHTTPProxy chooses the proxy of each request: that of its options, else that
// of the variables http_proxy and https_proxy, which no_proxy restricts (in
// either letter case, as for most programs). It is chosen anew for each redirect.
func newHTTPProxy(env *crawl.Env) (downloader.Middleware, error) {
	cfg := settings.Decode[struct {
		Enabled  bool   `setting:"HTTPPROXY_ENABLED"`
		Encoding string `setting:"HTTPPROXY_AUTH_ENCODING"`
	}](env.Settings)
	if !cfg.Enabled {
		return nil, nil
	}
	m := &httpProxy{latin1: cfg.Encoding == "latin-1"}
	fromEnvironment := httpproxy.FromEnvironment()
	fromEnvironment.NoProxy = plainNames(fromEnvironment.NoProxy)
	if slices.Contains(strings.Split(fromEnvironment.NoProxy, ","), "*") { // nothing is left for them
		fromEnvironment = &httpproxy.Config{}
	}
	if err := m.environment(fromEnvironment); err != nil {
		return nil, err
	}
	return func(next crawl.Fetcher) crawl.Fetcher {
		own := *m
		own.next = next
		return &own
	}, nil
}

type httpProxy struct {
	next   crawl.Fetcher
	latin1 bool
	env    map[string]proxy // by scheme
	choose func(*url.URL) (*url.URL, error)
}

// proxy is a proxy with the value of its Proxy-Authorization header, "" for none.
type proxy struct{ url, auth string }

// environment reads the proxies that the process was started with.
func (m *httpProxy) environment(cfg *httpproxy.Config) error {
	var errs []error
	for scheme, raw := range map[string]string{"http": cfg.HTTPProxy, "https": cfg.HTTPSProxy} {
		if raw == "" {
			continue
		}
		p, err := m.parse(raw)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s_proxy in the environment: %w", scheme, err))
			continue
		}
		if m.env == nil {
			m.env = map[string]proxy{}
		}
		m.env[scheme] = p
	}
	m.choose = cfg.ProxyFunc()
	return errors.Join(errs...)
}

func (m *httpProxy) inner() crawl.Fetcher { return m.next }

// Fetch passes on r or a copy with the proxy to use. A request whose proxy is
// unusable fails: it must not go out directly instead.
func (m *httpProxy) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	scheme := weburl.Scheme(r.URL)
	if scheme != "http" && scheme != "https" {
		return m.next.Fetch(ctx, r)
	}
	p, err := m.proxyOf(r, scheme)
	if err != nil {
		return nil, &crawl.DownloadError{Kind: crawl.FailUnsupported, Name: "ProxyError", Err: fmt.Errorf("proxy of %v: %w", r, err)}
	}
	_, has := fold(r.Header, "Proxy-Authorization")
	if p.url == r.Options.Proxy && p.auth == "" && (p.url != "" || !has) {
		return m.next.Fetch(ctx, r)
	}
	c := *r
	c.Options.Proxy = p.url
	switch {
	case p.auth != "":
		c.Header = with(r.Header, "Proxy-Authorization", []string{p.auth})
	case p.url == "" && has:
		c.Header = without(r.Header, []string{"Proxy-Authorization"}) // else its server would read it
	}
	resp, err := m.next.Fetch(ctx, &c)
	if err == nil && resp.Request == &c {
		resp.Request = r
	}
	return resp, err
}

// proxyOf returns the proxy of a request, an empty one for none.
func (m *httpProxy) proxyOf(r *crawl.Request, scheme string) (proxy, error) {
	switch {
	case r.Options.NoProxy:
		return proxy{}, nil
	case r.Options.Proxy != "":
		return m.parse(r.Options.Proxy)
	case m.env[scheme].url == "":
		return proxy{}, nil
	}
	_, host, _ := strings.Cut(weburl.Origin(r.URL), "://")
	host = strings.TrimSuffix(strings.Replace(host, ".:", ":", 1), ".") // the end of a name that is written in full
	if u, err := m.choose(&url.URL{Scheme: scheme, Host: host}); err != nil || u == nil {
		return proxy{}, err
	}
	return m.env[scheme], nil
}

// plainNames returns a no_proxy whose names stand as in URLs: curl and Python take
// .example.com for example.com with all below it, and brackets around an address.
func plainNames(noProxy string) string {
	names := strings.Split(noProxy, ",")
	for i, name := range names {
		name = strings.TrimSuffix(strings.TrimLeft(strings.TrimSpace(name), "."), ".")
		if strings.HasSuffix(name, "]") {
			name = strings.Trim(name, "[]")
		}
		names[i] = name
	}
	return strings.Join(names, ",")
}

// parse reads the URL of a proxy; without a scheme it is an http proxy.
func (m *httpProxy) parse(raw string) (proxy, error) {
	u, err := downloader.ParseProxy(raw)
	if err != nil {
		return proxy{}, err
	}
	p := proxy{url: u.Scheme + "://" + u.Host}
	if u.User == nil {
		return p, nil
	}
	user, pass := u.User.Username(), ""
	pass, _ = u.User.Password()
	if m.latin1 {
		if user, err = latin1(user); err == nil {
			pass, err = latin1(pass)
		}
		if err != nil {
			return proxy{}, err
		}
	}
	p.auth = basic(user, pass)
	return p, nil
}

// latin1 returns the bytes of a text in ISO 8859-1.
func latin1(s string) (string, error) {
	if !utf8.ValidString(s) {
		return s, nil // the bytes themselves were escaped in the URL
	}
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xff {
			return "", errors.New("its credentials can not be written in latin-1: set HTTPPROXY_AUTH_ENCODING=utf-8")
		}
		b = append(b, byte(r))
	}
	return string(b), nil
}
