package downloader

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// pemOf returns a certificate and its key as programs read them.
func (a *authority) pemOf(t *testing.T, f func(*x509.Certificate)) string {
	t.Helper()
	pair := a.issue(t, f)
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})) +
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
}

// nginx starts the server of that name at a host, with one certificate for each
// name below .test, which is that of its file.
func nginx(t *testing.T, host string, certificates map[string]string) (addr string) {
	t.Helper()
	path := program(t, "nginx")
	addr, _ = freeAddr(t, host)
	files := map[string]string{"large.html": strings.Repeat("0123456789abcdef", 1<<16)}
	var servers strings.Builder
	for name, text := range certificates {
		files[name] = text
		fmt.Fprintf(&servers, "server { listen %s ssl http2; server_name %s.test; ssl_certificate %s; ssl_certificate_key %s;\n"+
			"location / { return 200 \"$server_protocol $request_method\"; } location /large { root .; try_files $uri.html =404; } }\n", addr, name, name, name)
	}
	var temporary strings.Builder
	for _, what := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temporary, "%s_temp_path temporary;\n", what)
	}
	files["nginx.conf"] = "daemon off; master_process off; pid nginx.pid; error_log stderr;\nevents {}\nhttp { access_log off; keepalive_requests 30;\n" +
		temporary.String() + servers.String() + "}\n"
	dir := folder(t, files)
	start(t, addr, path, "-e", "stderr", "-p", dir, "-c", filepath.Join(dir, "nginx.conf"))
	return addr
}

// HTTP/2 with a real server, also over IPv6: several pages at once, one that is
// larger than the window of a stream, and connections that the server ends after 30
// pages (GOAWAY), which costs no page, not even one that was posted.
func TestHTTP2Nginx(t *testing.T) {
	ca := newAuthority(t)
	for _, host := range []string{"127.0.0.1", "::1"} {
		t.Run(host, func(t *testing.T) {
			addr := nginx(t, host, map[string]string{
				"good": ca.pemOf(t, func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.ParseIP(host)} }),
			})
			h, _ := trusting(t, ca, TLSConfig{Verify: true})
			var workers sync.WaitGroup
			for range 4 {
				for _, method := range []string{"GET", "POST"} {
					workers.Go(func() {
						fetchPages(t, h, &crawl.Request{URL: "https://" + addr + "/", Method: method, Body: []byte("a=1")})
					})
				}
			}
			workers.Wait()
			if resp := mustFetch(t, h, &crawl.Request{URL: "https://" + addr + "/large"}); len(resp.Body) != 1<<20 || resp.Proto != "HTTP/2.0" {
				t.Errorf("%d bytes over %s, want 1 MiB over HTTP/2", len(resp.Body), resp.Proto)
			}
		})
	}
}

// fetchPages fetches a page ten times.
func fetchPages(t *testing.T, h *HTTP, r *crawl.Request) {
	for range 10 {
		resp, err := h.Fetch(t.Context(), r)
		if err != nil || resp.Status != http.StatusOK || string(resp.Body) != "HTTP/2.0 "+r.Method {
			t.Errorf("%v: %v, %v", r, resp, err)
		}
	}
}

// What a real server shows of its certificates is refused or taken as what Go's
// server shows (TestTLSCertificates).
func TestTLSNginx(t *testing.T) {
	ca := newAuthority(t)
	named := func(name string, more ...func(*x509.Certificate)) func(*x509.Certificate) {
		return func(c *x509.Certificate) {
			c.DNSNames = []string{name}
			for _, f := range more {
				f(c)
			}
		}
	}
	expired := func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) }
	addr := nginx(t, "127.0.0.1", map[string]string{
		"good":    ca.pemOf(t, named("good.test")),
		"expired": ca.pemOf(t, named("expired.test", expired)),
		"other":   ca.pemOf(t, named("good.test")),
		"self":    new(authority).pemOf(t, named("self.test")),
	})
	strict, _ := trusting(t, ca, TLSConfig{Verify: true})
	lax, _ := trusting(t, ca, TLSConfig{})
	for name, want := range map[string]string{
		"good":    "", // no error
		"expired": "certificate has expired",
		"other":   "certificate is valid for good.test, not other.test",
		"self":    "certificate signed by unknown authority",
	} {
		r := &crawl.Request{URL: strings.Replace("https://"+addr, "127.0.0.1", name+".test", 1), Method: "GET"}
		fetchPages(t, lax, r)
		if want == "" {
			fetchPages(t, strict, r)
			continue
		}
		_, err := strict.Fetch(t.Context(), r)
		wantFailure(t, err, crawl.FailTLS, "DownloadFailedError")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
}
