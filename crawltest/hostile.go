package crawltest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// A Hostile is a server that does wrong what servers were seen to do wrong: it is
// there to test crawlers, and the spiders in them. What it does is up to the path,
// see [Traps]. For the traps on hosts with names it is the proxy for http; so no
// resolver has to know them. It is safe for concurrent use.
type Hostile struct {
	byName, byHost map[string]*Trap

	mu   sync.Mutex
	hits map[string]int
}

// NewHostile returns a server with all traps.
func NewHostile() *Hostile {
	h := &Hostile{byName: map[string]*Trap{}, byHost: map[string]*Trap{}, hits: map[string]int{}}
	for _, t := range Traps() {
		h.byName[t.Name] = &t
		for _, host := range t.Hosts {
			h.byHost[host] = &t
		}
	}
	return h
}

// Hits returns how many requests a trap got, those for robots.txt not counted.
func (h *Hostile) Hits(name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hits[name]
}

func (h *Hostile) hit(name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hits[name]++
	return h.hits[name]
}

// Serve answers connections of l until it is closed; then it closes those that are
// open, and returns nil.
func (h *Hostile) Serve(l net.Listener) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	done := make(chan struct{})
	defer close(done)
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("serve traps on %s: %w", l.Addr(), err)
		}
		wg.Go(func() { h.handle(c, done) })
	}
}

// handle answers one request: no connection is used twice.
func (h *Hostile) handle(c net.Conn, done <-chan struct{}) {
	defer c.Close() //nolint:errcheck // the client may have gone away.
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-done:
			_ = c.Close()
		case <-over:
		}
	}()
	v := &visit{conn: c, in: bufio.NewReader(c)}
	if err := v.read(); err != nil {
		return
	}
	t, path := h.find(v)
	if t == nil {
		v.send(page("404 Not Found", "", "there is no such trap"))
		return
	}
	if path != robotsPath {
		v.hit = h.hit(t.Name)
	}
	v.serve(t, path)
}

const robotsPath = "/robots.txt"

// find returns the trap for a request, and the path within it.
func (h *Hostile) find(v *visit) (*Trap, string) {
	if t := h.byHost[v.host]; t != nil {
		return t, v.path
	}
	rest := strings.TrimPrefix(v.path, "/")
	for at := len(rest); at > 0; at = strings.LastIndexByte(rest[:at], '/') {
		if t := h.byName[rest[:at]]; t != nil && len(t.Hosts) == 0 {
			return t, rest[at:]
		}
	}
	return nil, ""
}

// visit is one request to a hostile server.
type visit struct {
	conn       net.Conn
	in         *bufio.Reader
	host, path string      // path as it was sent, with the query
	method     string      // of the request
	header     http.Header // of the request
	hit        int         // counts the requests to the trap
}

// read reads the head of a request. Its target is taken as it is.
func (v *visit) read() error {
	line, err := v.in.ReadString('\n')
	if err != nil {
		return err
	}
	var target string
	v.method, target, _ = strings.Cut(strings.TrimRight(line, "\r\n"), " ")
	target, _, _ = strings.Cut(target, " ")
	v.header = http.Header{}
	for {
		line, err := v.in.ReadString('\n')
		if err != nil {
			return err
		}
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if !ok {
			break
		}
		v.header.Add(name, strings.TrimSpace(value))
	}
	v.host, v.path = v.header.Get("Host"), target
	if rest, ok := strings.CutPrefix(target, "http://"); ok { // asked as a proxy
		at := strings.IndexAny(rest+"/", "/?")
		v.host, v.path = rest[:at], rest[at:]
	}
	return nil
}

// serve answers with what the trap has for the path.
func (v *visit) serve(t *Trap, path string) {
	bare, _, _ := strings.Cut(path, "?")
	switch f := t.replies[bare]; {
	case f != nil:
		f(v)
	case bare == robotsPath:
		v.send(page("404 Not Found", "", ""))
	case t.rest != nil:
		t.rest(v)
	default:
		v.send(page("404 Not Found", "", "the trap has no "+path))
	}
}

// send writes a response, in which {addr} and {port} stand for where the server is.
func (v *visit) send(text string) {
	addr := v.conn.LocalAddr().String()
	_, port, _ := net.SplitHostPort(addr)
	text = strings.NewReplacer("{addr}", addr, "{port}", port).Replace(text)
	_, _ = io.WriteString(v.conn, text) // a client that went away is its own business
}
