package downloader

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// newDialer returns a dialer with a cache of its own.
func newDialer(t testing.TB, cfg DialConfig, lookup Lookup) *Dialer {
	t.Helper()
	d, err := NewDialer(cfg, NewAddresses(cached, lookup))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// fixed answers every question with the same addresses, and counts in asked.
func fixed(asked *[]string, addrs ...string) Lookup {
	var mu sync.Mutex
	return func(_ context.Context, _, host string) ([]netip.Addr, error) {
		mu.Lock()
		defer mu.Unlock()
		*asked = append(*asked, host)
		var all []netip.Addr
		for _, a := range addrs {
			all = append(all, netip.MustParseAddr(a))
		}
		return all, nil
	}
}

// remote answers with the address that a request comes from.
func remote(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.RemoteAddr)) }

// scrapy#6442: one lookup serves all connections to a host, whatever the port.
// heritrix3#718: its name may have an underscore.
func TestDialUsesCache(t *testing.T) {
	var asked []string
	d := newDialer(t, DialConfig{}, fixed(&asked, "127.0.0.1"))
	h, _ := newHandler(t, func(c *HTTPConfig) { c.Dial = d.Dial })
	one, two := serve(t, remote), serve(t, remote)
	for _, s := range []string{one.URL, two.URL, one.URL} {
		mustFetch(t, h, &crawl.Request{URL: strings.Replace(s, "127.0.0.1", "my_host.test", 1)})
	}
	if !slices.Equal(asked, []string{"my_host.test"}) {
		t.Errorf("asked for %v, want once", asked)
	}
}

// RFC 8305: the kinds of addresses take turns, beginning with the one that the
// resolver puts first.
func TestAlternate(t *testing.T) {
	for _, c := range []struct{ addrs, from, want string }{
		{"::1 ::2 10.0.0.1 10.0.0.2", "", "[::1]:80 10.0.0.1:80 [::2]:80 10.0.0.2:80"},
		{"10.0.0.1 10.0.0.2 10.0.0.3 ::1", "", "10.0.0.1:80 [::1]:80 10.0.0.2:80 10.0.0.3:80"},
		{"::1 10.0.0.1 10.0.0.2", "192.0.2.7", "10.0.0.1:80 10.0.0.2:80"},
		{"::1 10.0.0.1", "fe80::1", "[::1]:80"},
		{"10.0.0.1", "fe80::1", ""},
	} {
		var addrs []netip.Addr
		for a := range strings.FieldsSeq(c.addrs) {
			addrs = append(addrs, netip.MustParseAddr(a))
		}
		from, _ := netip.ParseAddr(c.from)
		if got := strings.Trim(fmt.Sprint(alternate(addrs, from, 80)), "[]"); got != strings.Trim(c.want, "[]") {
			t.Errorf("alternate(%s, from %q) = %s, want %s", c.addrs, c.from, got, c.want)
		}
	}
}

// RFC 8305: an address that does not answer delays the next by a quarter of a
// second, one that fails not at all; and the late ones are given up.
func TestDialRaces(t *testing.T) {
	s := serve(t, remote)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	for name, c := range map[string]struct {
		control func(ctx context.Context, address string) error
		late    bool
	}{
		"an address that is silent": {late: true, control: func(ctx context.Context, address string) error {
			if strings.HasPrefix(address, "127.0.0.1:") {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}},
		"an address that fails": {control: func(_ context.Context, address string) error {
			if strings.HasPrefix(address, "127.0.0.1:") {
				return nil
			}
			return syscall.ENETUNREACH
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			d := newDialer(t, DialConfig{}, fixed(&asked, "::1", "127.0.0.1"))
			d.control = func(ctx context.Context, _, address string, _ syscall.RawConn) error { return c.control(ctx, address) }
			before := time.Now()
			conn, err := d.Dial(t.Context(), "tcp", "two.test:"+port)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if got := conn.RemoteAddr().String(); got != "127.0.0.1:"+port {
				t.Errorf("connected to %s", got)
			}
			if took := time.Since(before); took >= stagger != c.late {
				t.Errorf("connected after %v", took)
			}
		})
	}
}

// Of several failures the first is told, and no port or host makes a panic.
func TestDialFails(t *testing.T) {
	var asked []string
	d := newDialer(t, DialConfig{}, fixed(&asked, "127.0.0.1", "127.0.0.2"))
	d.control = func(_ context.Context, _, address string, _ syscall.RawConn) error {
		return errors.New("no " + address)
	}
	for addr, want := range map[string]string{
		"two.test:80": "no 127.0.0.1:80", "two.test:http": "want a number as the port", "two.test": "want tcp and host:port",
	} {
		if _, err := d.Dial(t.Context(), "tcp", addr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Dial(%s): error = %v, want %q", addr, err, want)
		}
	}
	if _, err := d.Dial(t.Context(), "udp", "two.test:80"); err == nil {
		t.Error("Dial over udp works")
	}
}

// IPv6 addresses and names that have only one work as others.
func TestHTTPOverIPv6(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6: %v", err)
	}
	server := &http.Server{Handler: http.HandlerFunc(remote)} //nolint:gosec // a test.
	done := make(chan struct{})
	go func() { _ = server.Serve(l); close(done) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
	var asked []string
	d := newDialer(t, DialConfig{}, fixed(&asked, "::1"))
	h, _ := newHandler(t, func(c *HTTPConfig) { c.Dial = d.Dial })
	port := l.Addr().(*net.TCPAddr).Port
	for _, host := range []string{"[::1]", "six.test"} {
		resp := mustFetch(t, h, &crawl.Request{URL: fmt.Sprintf("http://%s:%d/", host, port)})
		if !strings.HasPrefix(string(resp.Body), "[::1]:") {
			t.Errorf("%s: the request came from %s", host, resp.Body)
		}
	}
}

// DOWNLOAD_BIND_ADDRESS and Options.BindAddress choose the address that
// connections leave from, and those of different ones are never mixed.
func TestBindAddress(t *testing.T) {
	s := serve(t, remote)
	d := newDialer(t, DialConfig{Bind: "127.0.0.2"}, nil)
	h, _ := newHandler(t, func(c *HTTPConfig) { c.Dial = d.Dial })
	from := func(bind string) string {
		return string(mustFetch(t, h, &crawl.Request{URL: s.URL, Options: crawl.Options{BindAddress: bind}}).Body)
	}
	first := from("")
	for _, c := range []struct{ bind, want string }{
		{"127.0.0.3", "127.0.0.3:"}, {"", first}, {"::ffff:127.0.0.4", "127.0.0.4:"}, {"127.0.0.3", "127.0.0.3:"}, {"", first},
	} {
		if got := from(c.bind); !strings.HasPrefix(got, c.want) {
			t.Errorf("a request from %q came from %s, want %s", c.bind, got, c.want)
		}
	}
	if !strings.HasPrefix(first, "127.0.0.2:") {
		t.Errorf("a request came from %s, want 127.0.0.2", first)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.5:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().String()
	_ = l.Close()
	if got := from(free); got != free {
		t.Errorf("a request came from %s, want %s", got, free)
	}
}

func TestBindAddressRefused(t *testing.T) {
	for _, bind := range []string{"eth0", "localhost", "127.0.0.1:", ":80", "127.0.0.1:99999"} {
		_, err := NewDialer(DialConfig{Bind: bind}, nil)
		if want := fmt.Sprintf("DOWNLOAD_BIND_ADDRESS=%q: want an address of this machine", bind); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error = %v, want %s", err, want)
		}
		h, _ := newHandler(t)
		_, err = h.Fetch(t.Context(), &crawl.Request{URL: "http://127.0.0.1:9/", Options: crawl.Options{BindAddress: bind}})
		wantFailure(t, err, crawl.FailUnsupported, "UnsupportedURLSchemeError")
	}
	h, _ := newHandler(t)
	_, err := h.Fetch(t.Context(), &crawl.Request{URL: "http://127.0.0.1:9/", Options: crawl.Options{BindAddress: "::1"}})
	wantFailure(t, err, crawl.FailConnection, "DownloadFailedError")
	if err == nil || !strings.Contains(err.Error(), "none of its addresses can be reached from ::1") {
		t.Errorf("error = %v, want the address that does not fit", err)
	}
}
