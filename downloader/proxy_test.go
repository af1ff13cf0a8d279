package downloader

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

func insecure(c *HTTPConfig) { c.TLS = &tls.Config{InsecureSkipVerify: true} }

// secureSite answers with the protocol and with what a server must not see.
func secureSite(t testing.TB) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto+" "+r.RequestURI+" "+r.Header.Get("Proxy-Authorization"))
	}))
	s.EnableHTTP2, s.Config.ErrorLog = true, log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func via(url, proxy string, header ...string) *crawl.Request {
	r := &crawl.Request{URL: url, Options: crawl.Options{Proxy: proxy}}
	if len(header) > 0 {
		r.Header = http.Header{"Proxy-Authorization": header}
	}
	return r
}

// withUser puts credentials into the URL of a proxy.
func withUser(url, user string) string { return strings.Replace(url, "://", "://"+user+"@", 1) }

// A plain page is asked of the proxy with its whole URL, as it stands.
func TestProxyForHTTP(t *testing.T) {
	for _, secure := range []bool{false, true} {
		p := newProxy(t, secure)
		h, _ := newHandler(t, insecure)
		for _, target := range []string{"/p?q=1", "/a%2Fb'c", "/", "//two"} {
			r := via("http://far.test"+target, p.URL, "Basic x")
			if got := string(mustFetch(t, h, r).Body); got != "proxied far.test" || r.Header.Get("Proxy-Authorization") != "Basic x" {
				t.Errorf("body %q, header of the request %v", got, r.Header)
			}
		}
		mustFetch(t, h, via("http://far.test/", withUser(p.URL, "u:p")))
		want := []string{
			"GET http://far.test/p?q=1 Basic x", "GET http://far.test/a%2Fb'c Basic x", "GET http://far.test/ Basic x",
			"GET http://far.test//two Basic x", "GET http://far.test/ Basic dTpw",
		}
		if got := p.asked(); !slices.Equal(got, want) {
			t.Errorf("asked %q, want %q", got, want)
		}
	}
}

// A page over https goes through a tunnel: the proxy gets its credentials, the
// server does not (scrapy#2069, scrapy#7601, scrapy#5433).
func TestProxyForHTTPS(t *testing.T) {
	site := secureSite(t)
	for _, secure := range []bool{false, true} {
		p := newProxy(t, secure)
		h, _ := newHandler(t, insecure)
		for range 2 {
			if got := string(mustFetch(t, h, via(site.URL+"/x", p.URL, "Bearer t")).Body); got != "HTTP/1.1 /x " {
				t.Errorf("the server saw %q", got)
			}
		}
		if got, want := p.asked(), []string{"CONNECT " + site.Listener.Addr().String() + " Bearer t"}; !slices.Equal(got, want) {
			t.Errorf("asked %q, want %q: one tunnel for two pages", got, want)
		}
	}
}

// scrapy#1807: connections of different proxies, and of different users of one,
// are never mixed, nor those that go directly, also where HTTP/2 could share them.
func TestProxiesAreNotMixed(t *testing.T) {
	site := secureSite(t)
	a, b := newProxy(t, false), newProxy(t, false)
	h, _ := newHandler(t, insecure)
	for range 2 {
		for _, r := range []*crawl.Request{
			{URL: site.URL},
			via(site.URL, a.URL), via(site.URL, b.URL), via(site.URL, withUser(b.URL, "one:1")),
			via(site.URL, withUser(b.URL, "two:2")),
			{URL: site.URL, Options: crawl.Options{Proxy: a.URL, NoProxy: true}},
		} {
			direct := r.Options.Proxy == "" || r.Options.NoProxy
			if got := mustFetch(t, h, r); strings.HasPrefix(string(got.Body), "HTTP/2") != direct {
				t.Errorf("%+v: %s", r.Options, got.Body)
			}
		}
	}
	to := "CONNECT " + site.Listener.Addr().String() + " "
	if got := a.asked(); !slices.Equal(got, []string{to}) {
		t.Errorf("a was asked %q", got)
	}
	if got := b.asked(); !slices.Equal(got, []string{to, to + "Basic b25lOjE=", to + "Basic dHdvOjI="}) {
		t.Errorf("b was asked %q", got)
	}
}

func TestProxySocks(t *testing.T) {
	secure := secureSite(t)
	plain := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.RequestURI+" "+r.Header.Get("Proxy-Authorization"))
	})
	addr, asked := newSocks(t)
	h, _ := newHandler(t, insecure)
	_, port, err := net.SplitHostPort(plain.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if got := string(mustFetch(t, h, via("http://far.test:"+port+"/x", "socks5://u:p@"+addr)).Body); got != "/x " {
		t.Errorf("the server saw %q", got)
	}
	if got := <-asked; got != "u:p far.test" {
		t.Errorf("asked %q, want the name to be resolved by the proxy", got)
	}
	if got := string(mustFetch(t, h, via(secure.URL+"/y", "socks5h://"+addr, "Basic dTpw")).Body); got != "HTTP/1.1 /y " {
		t.Errorf("the server saw %q", got)
	}
	if got := <-asked; got != "u:p 127.0.0.1" {
		t.Errorf("asked %q", got)
	}
}

func TestProxyRefuses(t *testing.T) {
	p := newProxy(t, false)
	p.refuse = http.StatusProxyAuthRequired
	h, _ := newHandler(t)
	_, err := h.Fetch(t.Context(), via("https://far.test/", p.URL))
	wantFailure(t, err, crawl.FailConnection, "DownloadFailedError")
	if err == nil || !strings.Contains(err.Error(), "does not connect to far.test:443: 407 Proxy Authentication Required") {
		t.Errorf("error %v", err)
	}
	for _, proxy := range []string{"//", "gopher://p", "http://u:secret@"} {
		_, err := h.Fetch(t.Context(), via("http://far.test/", proxy))
		if crawl.KindOf(err) != crawl.FailUnsupported || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v", proxy, err)
		}
	}
	_, err = h.Fetch(t.Context(), via("http://far.test/", "http://127.0.0.1:1"))
	wantFailure(t, err, crawl.FailRefused, "DownloadConnectionRefusedError")
}

// The server behind a tunnel has to have a valid certificate too.
func TestProxyVerifies(t *testing.T) {
	site, p := secureSite(t), newProxy(t, false)
	h, _ := newHandler(t)
	if _, err := h.Fetch(t.Context(), via(site.URL, p.URL)); crawl.KindOf(err) != crawl.FailTLS {
		t.Errorf("error %v", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(site.Certificate())
	h.pools.from(netip.AddrPort{}).proxied.TLSClientConfig.RootCAs = pool
	mustFetch(t, h, via(site.URL, p.URL))
}

// So has a proxy that is reached over https, before it gets a password or an address
// to go to.
func TestProxyOverTLSVerifies(t *testing.T) {
	site, p := secureSite(t), newProxy(t, true)
	h, _ := newHandler(t)
	for _, u := range []string{"http://far.test/", site.URL} {
		_, err := h.Fetch(t.Context(), via(u, withUser(p.URL, "u:p")))
		wantFailure(t, err, crawl.FailTLS, "DownloadFailedError")
	}
	if got := p.asked(); len(got) != 0 {
		t.Errorf("the proxy was asked %q", got)
	}
	pool := x509.NewCertPool()
	pool.AddCert(p.Certificate())
	h, _ = newHandler(t, func(c *HTTPConfig) { c.TLS = &tls.Config{RootCAs: pool} })
	mustFetch(t, h, via("http://far.test/", p.URL))
	mustFetch(t, h, via(site.URL, p.URL)) // their certificate is the same
}

// A proxy may have an IPv6 address, and so may what it connects to.
func TestProxyOverIPv6(t *testing.T) {
	addr, _ := freeAddr(t, "::1")
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxyServer{}
	p.Server = httptest.NewUnstartedServer(p)
	_ = p.Listener.Close()
	p.Listener = l
	p.Start()
	t.Cleanup(p.Close)
	h, _ := newHandler(t)
	mustFetch(t, h, via("http://[2001:db8::1]:8080/x", "http://u:p@"+addr))
	_, err = h.Fetch(t.Context(), via("https://["+strings.Repeat("0:", 7)+"1]:1/x", "http://u:p@"+addr))
	wantFailure(t, err, crawl.FailConnection, "DownloadFailedError")
	if got, want := p.asked(), []string{"GET http://[2001:db8::1]:8080/x Basic dTpw", "CONNECT [::1]:1 Basic dTpw"}; !slices.Equal(got, want) {
		t.Errorf("asked %q, want %q", got, want)
	}
}

// A proxy that takes the connection and is silent costs no more than the fetch:
// nothing waits for it afterwards.
func TestProxyIsSilent(t *testing.T) {
	for _, scheme := range []string{"http", "https", "socks5"} {
		t.Run(scheme, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it lives as long as the test.
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				if c, err := l.Accept(); err == nil {
					_, _ = io.Copy(io.Discard, c) // until the other side closes it
					_ = c.Close()
				}
			}()
			h, _ := newHandler(t, insecure)
			r := via("https://far.test/", scheme+"://"+l.Addr().String())
			r.Options.Timeout = 50 * time.Millisecond
			_, err = h.Fetch(t.Context(), r)
			wantFailure(t, err, crawl.FailTimeout, "DownloadTimeoutError")
			<-ended
		})
	}
}

// BenchmarkProxied is a page through a proxy, as against BenchmarkFetch.
func BenchmarkProxied(b *testing.B) {
	p := newProxy(b, false)
	h, _ := newHandler(b)
	r := via("http://far.test/", p.URL)
	b.ReportAllocs()
	for b.Loop() {
		mustFetch(b, h, r)
	}
}
