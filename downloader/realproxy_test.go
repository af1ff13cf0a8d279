package downloader

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// tinyproxy starts the http proxy of that name, for the user "u" with the password
// "right" if a login is wanted, else for everybody, and returns its URL.
func tinyproxy(t *testing.T, login bool) string {
	path := program(t, "tinyproxy")
	addr, port := freeAddr(t, "127.0.0.1")
	config := "Port " + port + "\nListen 127.0.0.1\nTimeout 60\nMaxClients 50\n"
	if login {
		config += "BasicAuth u right\n"
	}
	dir := folder(t, map[string]string{"tinyproxy.conf": config})
	start(t, addr, path, "-d", "-c", filepath.Join(dir, "tinyproxy.conf"))
	return "http://" + addr
}

// squid starts the http proxy of that name, for the same user.
func squid(t *testing.T) string {
	path, helper := program(t, "squid"), program(t, "/usr/lib/squid/basic_ncsa_auth")
	addr, port := freeAddr(t, "127.0.0.1")
	passwords := folder(t, map[string]string{"passwd": "u:$1$salt$I7mUw4uf7gbe.mLJ1fX2S.\n"}) // "right"
	config := folder(t, map[string]string{"squid.conf": strings.Join([]string{
		"http_port " + addr, "pid_filename none", "access_log none", "cache_log stdio:/dev/null", "netdb_filename none", "coredump_dir none",
		"cache deny all", "memory_cache_shared off", "pinger_enable off", "shutdown_lifetime 0 seconds",
		"auth_param basic program " + helper + " " + filepath.Join(passwords, "passwd"),
		"acl users proxy_auth REQUIRED", "http_access allow users", "http_access deny all", "",
	}, "\n")})
	start(t, addr, path, "-N", "-n", "test"+port, "-f", filepath.Join(config, "squid.conf")) // a name, since two of one name share memory
	return "http://" + addr
}

func TestProxyTinyproxy(t *testing.T) {
	t.Run("for everybody", func(t *testing.T) {
		w, proxy := newWitness(t), tinyproxy(t, false)
		h, _ := newHandler(t, insecure)
		w.wantPages(t, h, proxy)
		wantUnreachable(t, h, proxy)
	})
	t.Run("for a user", func(t *testing.T) { testProxyLogin(t, tinyproxy(t, true)) })
}

func TestProxySquid(t *testing.T) { testProxyLogin(t, squid(t)) }

// witness is a site over http and over https that counts its requests, and answers
// with what a proxy leaves of them.
type witness struct {
	seen  atomic.Int64
	sites []string // their URLs, at localhost
}

func newWitness(t *testing.T) *witness {
	t.Helper()
	w := &witness{}
	for _, scheme := range []string{"http", "https"} {
		s := httptest.NewUnstartedServer(w)
		_ = s.Listener.Close()
		var err error
		if s.Listener, err = new(net.ListenConfig).Listen(t.Context(), "tcp", ":0"); err != nil { // localhost may be IPv4 or IPv6
			t.Fatal(err)
		}
		w.sites = append(w.sites, fmt.Sprintf("%s://localhost:%d", scheme, s.Listener.Addr().(*net.TCPAddr).Port))
		if scheme == "http" {
			s.Start()
		} else {
			s.StartTLS()
		}
		t.Cleanup(s.Close)
	}
	return w
}

func (w *witness) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.seen.Add(1)
	_, _ = io.WriteString(rw, r.Host+r.RequestURI+" "+r.Header.Get("Proxy-Authorization"))
}

// wantPages gets pages of both sites twice through a proxy.
func (w *witness) wantPages(t *testing.T, h *HTTP, proxy string) {
	t.Helper()
	for _, site := range slices.Concat(w.sites, w.sites) {
		_, host, _ := strings.Cut(site, "://")
		resp := mustFetch(t, h, via(site+"/x?q=1", proxy))
		if want := host + "/x?q=1 "; string(resp.Body) != want || resp.Status != http.StatusOK {
			t.Errorf("%s: %d, the server saw %.200q, want %q", site, resp.Status, resp.Body, want)
		}
	}
}

// testProxyLogin holds that the handler gets pages through a proxy that others have
// written, that their servers never see its password, and that it says so when the
// proxy wants another.
func testProxyLogin(t *testing.T, proxy string) {
	w := newWitness(t)
	h, _ := newHandler(t, insecure)
	w.wantPages(t, h, withUser(proxy, "u:right"))
	wantUnreachable(t, h, withUser(proxy, "u:right"))
	before := w.seen.Load()
	for _, wrong := range []string{proxy, withUser(proxy, "u:wrong")} {
		wantLogin(t, h, wrong, w.sites)
	}
	if w.seen.Load() != before {
		t.Error("requests without the right password arrived")
	}
}

// wantUnreachable asks a proxy for a server that is not there: what it answers is a
// response for http, and an error for https.
func wantUnreachable(t *testing.T, h *HTTP, proxy string) {
	t.Helper()
	addr, _ := freeAddr(t, "127.0.0.1")
	if resp := mustFetch(t, h, via("http://"+addr, proxy)); resp.Status/100 != 5 {
		t.Errorf("no server: %d, want 5xx", resp.Status)
	}
	_, err := h.Fetch(t.Context(), via("https://"+addr, proxy))
	wantFailure(t, err, crawl.FailConnection, "DownloadFailedError")
	if err == nil || !strings.Contains(err.Error(), "does not connect to "+addr+": 5") {
		t.Errorf("no server: %v", err)
	}
}

// wantLogin asks a proxy that does not take the credentials. Tinyproxy says 401
// where there are none.
func wantLogin(t *testing.T, h *HTTP, proxy string, sites []string) {
	t.Helper()
	resp := mustFetch(t, h, via(sites[0], proxy))
	if asked := resp.Header.Get("Proxy-Authenticate") + resp.Header.Get("WWW-Authenticate"); resp.Status != 407 && resp.Status != 401 || !strings.HasPrefix(asked, "Basic") {
		t.Errorf("got %d %v, want 407 or 401", resp.Status, resp.Header)
	}
	_, err := h.Fetch(t.Context(), via(sites[1], proxy))
	wantFailure(t, err, crawl.FailConnection, "DownloadFailedError")
	_, host, _ := strings.Cut(sites[1], "://")
	if want := fmt.Sprintf("does not connect to %s: %d ", host, resp.Status); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "wrong") {
		t.Errorf("error %v, want %q and no password", err, want)
	}
}

// microsocks starts the SOCKS5 proxy of that name.
func microsocks(t *testing.T, login bool) string {
	path := program(t, "microsocks")
	addr, port := freeAddr(t, "127.0.0.1")
	args := []string{"-i", "127.0.0.1", "-p", port}
	if login {
		args = append(args, "-u", "u", "-P", "right")
	}
	start(t, addr, path, args...)
	return addr
}

// A SOCKS5 proxy finds the names itself, for http as for https, and nothing goes
// anywhere without the password that it wants.
func TestSocksMicrosocks(t *testing.T) {
	for _, login := range []bool{false, true} {
		t.Run(fmt.Sprintf("login %v", login), func(t *testing.T) {
			proxy, w := microsocks(t, login), newWitness(t)
			right := proxy
			if login {
				right = "u:right@" + proxy
			}
			var asked []string
			d := newDialer(t, DialConfig{}, fixed(&asked, "192.0.2.1"))
			h, _ := newHandler(t, insecure, func(c *HTTPConfig) { c.Dial = d.Dial })
			for _, scheme := range []string{"socks5://", "socks5h://"} {
				w.wantPages(t, h, scheme+right)
			}
			if len(asked) > 0 {
				t.Errorf("the names %q were looked up here", asked)
			}
			if login {
				w.wantSocksLogin(t, h, proxy)
			}
		})
	}
}

// wantSocksLogin asks a proxy with no password and with a wrong one.
func (w *witness) wantSocksLogin(t *testing.T, h *HTTP, proxy string) {
	t.Helper()
	before := w.seen.Load()
	for user, want := range map[string]string{"": "no acceptable authentication methods", "u:wrong@": "username/password authentication failed"} {
		for _, site := range w.sites {
			_, err := h.Fetch(t.Context(), via(site, "socks5://"+user+proxy))
			wantFailure(t, err, crawl.FailConnection, "DownloadFailedError")
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "wrong") {
				t.Errorf("error %v, want %q and no password", err, want)
			}
		}
	}
	if w.seen.Load() != before {
		t.Error("requests without the right password arrived")
	}
}
