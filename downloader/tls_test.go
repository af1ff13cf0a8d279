package downloader

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{}
	pair := a.issue(t, func(c *x509.Certificate) {
		c.IsCA, c.KeyUsage, c.BasicConstraintsValid = true, x509.KeyUsageCertSign, true
		c.Subject.CommonName = "Test Authority"
	})
	a.cert, a.key = pair.Leaf, pair.PrivateKey.(*ecdsa.PrivateKey)
	return a
}

// issue returns a certificate for secure.test and 127.0.0.1, changed by f. One of
// an authority without a key of its own is signed by itself.
func (a *authority) issue(t testing.TB, f func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "secure.test"},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"secure.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	f(c)
	parent, signer := a.cert, a.key
	if signer == nil {
		parent, signer = c, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key, Leaf: leaf}
}

// trusting returns a handler that trusts an authority, and finds every host at
// 127.0.0.1.
func trusting(t testing.TB, a *authority, cfg TLSConfig) (*HTTP, *logBuffer) {
	t.Helper()
	var asked []string
	dialer := newDialer(t, DialConfig{}, fixed(&asked, "127.0.0.1"))
	tlsLog := &logBuffer{}
	cfg.Log = zerolog.New(tlsLog)
	config, err := NewTLS(cfg)
	if err != nil {
		t.Fatal(err)
	}
	config.RootCAs = x509.NewCertPool()
	config.RootCAs.AddCert(a.cert)
	h, _ := newHandler(t, func(c *HTTPConfig) { c.TLS, c.Dial = config, dialer.Dial })
	return h, tlsLog
}

// secure serves https and tells the protocol, the version of TLS and the cipher.
func secure(t testing.TB, config *tls.Config) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto+" "+tls.VersionName(r.TLS.Version)+" "+tls.CipherSuiteName(r.TLS.CipherSuite))
	}))
	s.EnableHTTP2, s.TLS, s.Config.ErrorLog = config.MaxVersion == 0 || config.MaxVersion >= tls.VersionTLS12, config, log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func httpsURL(s *httptest.Server, host string) string {
	return strings.Replace(s.URL, "127.0.0.1", host, 1)
}

// Each certificate that is not valid is refused, by name and not tried again; and
// accepted without DOWNLOAD_VERIFY_CERTIFICATES. scrapy#7353: an address in a
// certificate counts. A name with an underscore (heritrix3#718) or an emoji
// (scrapy#3321), or that ends with a dot, is as good as others.
func TestTLSCertificates(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	none := func(*x509.Certificate) {}
	for name, c := range map[string]struct {
		cert tls.Certificate
		host string
		want string // "" is no error
	}{
		"good":         {cert: ca.issue(t, none), host: "secure.test"},
		"by address":   {cert: ca.issue(t, none), host: "127.0.0.1"},
		"underscore":   {cert: ca.issue(t, func(c *x509.Certificate) { c.DNSNames = []string{"*.secure.test"} }), host: "my_host.secure.test"},
		"emoji":        {cert: ca.issue(t, func(c *x509.Certificate) { c.DNSNames = []string{"xn--ls8h.test"} }), host: "💩.test"},
		"last dot":     {cert: ca.issue(t, none), host: "secure.test."},
		"common name":  {cert: ca.issue(t, func(c *x509.Certificate) { c.DNSNames = nil }), host: "secure.test", want: "certificate is not valid for any names"},
		"expired":      {cert: ca.issue(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) }), host: "secure.test", want: "certificate has expired"},
		"not yet":      {cert: ca.issue(t, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }), host: "secure.test", want: "is not yet valid"},
		"another host": {cert: ca.issue(t, none), host: "elsewhere.test", want: "certificate is valid for secure.test, not elsewhere.test"},
		"no authority": {cert: other.issue(t, none), host: "secure.test", want: "certificate signed by unknown authority"},
		"self-signed":  {cert: new(authority).issue(t, none), host: "secure.test", want: "certificate signed by unknown authority"},
	} {
		t.Run(name, func(t *testing.T) {
			s := secure(t, &tls.Config{Certificates: []tls.Certificate{c.cert}})
			h, _ := trusting(t, ca, TLSConfig{Verify: true})
			resp, err := h.Fetch(t.Context(), &crawl.Request{URL: httpsURL(s, c.host)})
			switch {
			case c.want != "":
				wantFailure(t, err, crawl.FailTLS, "DownloadFailedError")
				if err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("error = %v, want %q", err, c.want)
				}
			case err != nil:
				t.Errorf("error = %v, want none", err)
			case resp.Proto != "HTTP/2.0":
				t.Errorf("protocol %s, want HTTP/2.0 by ALPN", resp.Proto)
			}
			h, _ = trusting(t, ca, TLSConfig{})
			mustFetch(t, h, &crawl.Request{URL: httpsURL(s, c.host)})
		})
	}
}

// A connection serves one host and one port, also where the server could be asked
// for others over it (RFC 9113 §9.1.1): one that knows its name must not see another.
func TestTLSHostsAreNotMixed(t *testing.T) {
	ca := newAuthority(t)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.TLS.ServerName+" "+r.RemoteAddr)
	}))
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{Certificates: []tls.Certificate{ca.issue(t, func(c *x509.Certificate) { c.DNSNames = []string{"*.secure.test"} })}}
	s.StartTLS()
	t.Cleanup(s.Close)
	h, _ := trusting(t, ca, TLSConfig{Verify: true})
	connections := map[string]bool{}
	for _, host := range []string{"a.secure.test", "b.secure.test", "a.secure.test", "127.0.0.1", "b.secure.test"} {
		name, from, _ := strings.Cut(string(mustFetch(t, h, &crawl.Request{URL: httpsURL(s, host)}).Body), " ")
		if name != strings.TrimPrefix(host, "127.0.0.1") {
			t.Errorf("the server was asked for %s over a connection to %q", host, name)
		}
		connections[from] = true
	}
	if len(connections) != 3 {
		t.Errorf("%d connections for three hosts", len(connections))
	}
}

// A server that offers no HTTP/2 gets HTTP/1.1.
func TestTLSWithoutHTTP2(t *testing.T) {
	ca := newAuthority(t)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{ca.issue(t, func(*x509.Certificate) {})}}
	s.StartTLS()
	t.Cleanup(s.Close)
	h, _ := trusting(t, ca, TLSConfig{Verify: true})
	if resp := mustFetch(t, h, &crawl.Request{URL: s.URL}); resp.Proto != "HTTP/1.1" {
		t.Errorf("protocol %s, want HTTP/1.1", resp.Proto)
	}
}

// DOWNLOAD_TLS_MIN_VERSION, DOWNLOAD_TLS_MAX_VERSION, DOWNLOADER_CLIENT_TLS_METHOD
// and DOWNLOADER_CLIENT_TLS_CIPHERS hold against a server that takes everything, and
// against one that takes something else.
func TestTLSVersionsAndCiphers(t *testing.T) {
	ca := newAuthority(t)
	all := func(low, high uint16) *tls.Config {
		return &tls.Config{ //nolint:gosec // old versions are what is tested.
			Certificates: []tls.Certificate{ca.issue(t, func(*x509.Certificate) {})}, MinVersion: low, MaxVersion: high,
		}
	}
	for name, c := range map[string]struct {
		cfg       TLSConfig
		low, high uint16
		want      string // "" is a failure
	}{
		"defaults":             {low: tls.VersionTLS10, want: "TLS 1.3"},
		"at most 1.2":          {cfg: TLSConfig{Max: "TLSv1.2"}, low: tls.VersionTLS10, want: "TLS 1.2"},
		"at most 1.0":          {cfg: TLSConfig{Max: "TLSv1.0"}, low: tls.VersionTLS10, want: "TLS 1.0"},
		"an old server":        {low: tls.VersionTLS10, high: tls.VersionTLS11},
		"an old server wanted": {cfg: TLSConfig{Min: "TLSv1.0"}, low: tls.VersionTLS10, high: tls.VersionTLS11, want: "TLS 1.1"},
		"at least 1.3":         {cfg: TLSConfig{Min: "TLSv1.3"}, low: tls.VersionTLS10, high: tls.VersionTLS12},
		"a new server":         {cfg: TLSConfig{Max: "TLSv1.2"}, low: tls.VersionTLS13},
		"any method":           {cfg: TLSConfig{Method: "TLS"}, low: tls.VersionTLS10, want: "TLS 1.3"},
		"any method, to 1.1":   {cfg: TLSConfig{Method: "TLS", Max: "TLSv1.1"}, low: tls.VersionTLS10, want: "TLS 1.1"},
		"only 1.0":             {cfg: TLSConfig{Method: "TLSv1.0"}, low: tls.VersionTLS10, want: "TLS 1.0"},
		"only 1.2":             {cfg: TLSConfig{Method: "TLSv1.2"}, low: tls.VersionTLS10, want: "TLS 1.2"},
		"only 1.1 for 1.2":     {cfg: TLSConfig{Method: "TLSv1.1"}, low: tls.VersionTLS12},
		"only 1.2 for 1.1":     {cfg: TLSConfig{Method: "TLSv1.2"}, low: tls.VersionTLS10, high: tls.VersionTLS11},
		"ciphers": {
			cfg: TLSConfig{Max: "TLSv1.2", Ciphers: "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305"}, low: tls.VersionTLS10,
			want: "TLS 1.2 TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
		},
		"no common cipher": {cfg: TLSConfig{Max: "TLSv1.2", Ciphers: "ECDHE-RSA-AES128-GCM-SHA256"}, low: tls.VersionTLS10},
	} {
		t.Run(name, func(t *testing.T) {
			s := secure(t, all(c.low, c.high))
			c.cfg.Verify = true
			h, _ := trusting(t, ca, c.cfg)
			resp, err := h.Fetch(t.Context(), &crawl.Request{URL: s.URL})
			switch {
			case c.want == "":
				wantFailure(t, err, crawl.FailTLS, "DownloadFailedError")
			case err != nil:
				t.Errorf("error = %v, want none", err)
			case !strings.Contains(string(resp.Body), c.want):
				t.Errorf("agreed on %s, want %s", resp.Body, c.want)
			}
		})
	}
}

func TestTLSRefused(t *testing.T) {
	for want, cfg := range map[string]TLSConfig{
		`DOWNLOAD_TLS_MIN_VERSION="SSLv3": want TLSv1.0, TLSv1.1, TLSv1.2 or TLSv1.3`:                                              {Min: "SSLv3"},
		`DOWNLOAD_TLS_MIN_VERSION="TLSv1.3": want a version up to DOWNLOAD_TLS_MAX_VERSION, which is TLSv1.2`:                      {Min: "TLSv1.3", Max: "TLSv1.2"},
		`DOWNLOADER_CLIENT_TLS_METHOD="SSLv23": want TLSv1.0, TLSv1.1, TLSv1.2 or TLSv1.3`:                                         {Method: "SSLv23"},
		`DOWNLOADER_CLIENT_TLS_METHOD="TLSv1.2": want TLS beside DOWNLOAD_TLS_MIN_VERSION and DOWNLOAD_TLS_MAX_VERSION`:            {Method: "TLSv1.2", Min: "TLSv1.2"},
		`DOWNLOADER_CLIENT_TLS_CIPHERS="DEFAULT:!DH": there is no cipher "DEFAULT" in Go: want DEFAULT, or some of AES128-GCM-SHA`: {Ciphers: "DEFAULT:!DH"},
		`DOWNLOADER_CLIENT_TLS_CIPHERS="TLS_AES_128_GCM_SHA256": there is no cipher`:                                               {Ciphers: "TLS_AES_128_GCM_SHA256"},
	} {
		if _, err := NewTLS(cfg); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error = %v, want %s", err, want)
		}
	}
}

// The settings reach the configuration.
func TestTLSSettings(t *testing.T) {
	env, _ := newEnv(t, map[string]any{"DOWNLOADER_CLIENT_TLS_METHOD": "TLSv1.2", "DOWNLOAD_VERIFY_CERTIFICATES": false})
	c, err := tlsFromSettings(env)
	if err != nil || c.MinVersion != tls.VersionTLS12 || c.MaxVersion != tls.VersionTLS12 || !c.InsecureSkipVerify {
		t.Errorf("configuration %+v, %v", c, err)
	}
	env, _ = newEnv(t, nil)
	if c, err = tlsFromSettings(env); err != nil || c.MinVersion != 0 || c.MaxVersion != 0 || c.InsecureSkipVerify {
		t.Errorf("configuration by default %+v, %v", c, err)
	}
}

// Every cipher that Go has below TLS 1.3 has the name that OpenSSL knows.
func TestTLSCipherNames(t *testing.T) {
	for _, c := range []struct {
		name string
		id   uint16
	}{
		{"ECDHE-ECDSA-AES128-GCM-SHA256", tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
		{"ECDHE-RSA-AES256-GCM-SHA384", tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384},
		{"ECDHE-RSA-CHACHA20-POLY1305", tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256},
		{"ECDHE-RSA-AES256-SHA", tls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA},
		{"ECDHE-RSA-AES128-SHA256", tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256},
		{"ECDHE-RSA-DES-CBC3-SHA", tls.TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA},
		{"ECDHE-ECDSA-RC4-SHA", tls.TLS_ECDHE_ECDSA_WITH_RC4_128_SHA},
		{"AES128-GCM-SHA256", tls.TLS_RSA_WITH_AES_128_GCM_SHA256},
		{"AES256-SHA", tls.TLS_RSA_WITH_AES_256_CBC_SHA},
		{"AES128-SHA256", tls.TLS_RSA_WITH_AES_128_CBC_SHA256},
		{"DES-CBC3-SHA", tls.TLS_RSA_WITH_3DES_EDE_CBC_SHA},
		{"RC4-SHA", tls.TLS_RSA_WITH_RC4_128_SHA},
	} {
		if ids, err := ciphers(c.name); err != nil || len(ids) != 1 || ids[0] != c.id {
			t.Errorf("ciphers(%s) = %v, %v, want %s", c.name, ids, err, tls.CipherSuiteName(c.id))
		}
	}
}

// DOWNLOADER_CLIENT_TLS_VERBOSE_LOGGING tells of a connection in Scrapy's words,
// also of one through a proxy.
func TestTLSVerbose(t *testing.T) {
	ca := newAuthority(t)
	s := secure(t, &tls.Config{Certificates: []tls.Certificate{ca.issue(t, func(*x509.Certificate) {})}})
	h, tlsLog := trusting(t, ca, TLSConfig{Verify: true, Verbose: true})
	mustFetch(t, h, &crawl.Request{URL: httpsURL(s, "secure.test")})
	tlsLog.wants(t, "SSL connection to secure.test using protocol TLS 1.3, cipher TLS_",
		`SSL connection certificate: issuer \"CN=Test Authority\", subject \"CN=secure.test\"`, "SSL temp key: X25519")
	mustFetch(t, h, &crawl.Request{URL: s.URL})
	tlsLog.wants(t, "SSL connection to 127.0.0.1 using protocol TLS 1.3")
	p := newProxy(t, false)
	mustFetch(t, h, via(s.URL, p.URL))
	tlsLog.wants(t, "SSL connection to an address using protocol TLS 1.3")
	quiet, tlsLog := trusting(t, ca, TLSConfig{Verify: true})
	mustFetch(t, quiet, &crawl.Request{URL: s.URL})
	if tlsLog.String() != "" {
		t.Errorf("log = %s, want none", tlsLog)
	}
}
