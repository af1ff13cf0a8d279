package downloader

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// proxyServer is a proxy for http and, by CONNECT, for https, that remembers what
// it was asked.
type proxyServer struct {
	*httptest.Server
	refuse int // the status of the answer to CONNECT, 0 to make the tunnel

	mu       sync.Mutex
	requests []string // method, target and Proxy-Authorization
}

func newProxy(t testing.TB, tls bool) *proxyServer {
	t.Helper()
	p := &proxyServer{}
	p.Server = httptest.NewUnstartedServer(p)
	p.Config.ErrorLog = log.New(io.Discard, "", 0)
	if tls {
		p.EnableHTTP2 = true // offered, and not to be taken
		p.StartTLS()
	} else {
		p.Start()
	}
	t.Cleanup(p.Close)
	return p
}

func (p *proxyServer) asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.requests...)
}

func (p *proxyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.requests = append(p.requests, r.Method+" "+r.RequestURI+" "+r.Header.Get("Proxy-Authorization"))
	p.mu.Unlock()
	switch {
	case r.Method == http.MethodConnect && r.Host != r.RequestURI: // RFC 9112 §3.2
		w.WriteHeader(http.StatusBadRequest)
	case r.Method != http.MethodConnect:
		_, _ = io.WriteString(w, "proxied "+r.Host)
	case p.refuse != 0:
		w.WriteHeader(p.refuse)
	default:
		p.tunnel(w, r.RequestURI)
	}
}

func (p *proxyServer) tunnel(w http.ResponseWriter, target string) {
	there, err := net.Dial("tcp", target) //nolint:noctx // it lives as long as its server.
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	here, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = there.Close()
		return
	}
	_, _ = io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n")
	join(here, there)
}

// join carries bytes both ways until one side ends.
func join(a, b net.Conn) {
	var wg sync.WaitGroup
	for _, c := range [][2]net.Conn{{a, b}, {b, a}} {
		wg.Go(func() {
			_, _ = io.Copy(c[0], c[1])
			_ = c[0].Close()
			_ = c[1].Close()
		})
	}
	wg.Wait()
}

// newSocks serves SOCKS5 with a user and a password (RFC 1928, RFC 1929), and
// reports the credentials and the name of each request.
func newSocks(t testing.TB) (addr string, asked <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it lives as long as the test.
	if err != nil {
		t.Fatal(err)
	}
	requests := make(chan string, 8)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { serveSocks(c, requests) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	return l.Addr().String(), requests
}

func serveSocks(c net.Conn, requests chan<- string) {
	defer c.Close()
	read := func(n byte) []byte {
		b := make([]byte, n)
		_, _ = io.ReadFull(c, b)
		return b
	}
	read(read(2)[1]) // the methods on offer
	_, _ = c.Write([]byte{5, 2})
	user := string(read(read(2)[1]))
	pass := string(read(read(1)[0]))
	_, _ = c.Write([]byte{1, 0})
	head := read(4)
	host := ""
	if head[3] == 3 {
		host = string(read(read(1)[0]))
	} else {
		host = net.IP(read(4)).String()
	}
	port := read(2)
	requests <- user + ":" + pass + " " + host
	there, err := net.DialTCP("tcp", nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(port[0])<<8 | int(port[1])})
	if err != nil {
		return
	}
	_, _ = c.Write([]byte{5, 0, 0, 1, 127, 0, 0, 1, 0, 0})
	join(c, there)
}
