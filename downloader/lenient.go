package downloader

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/skeincrawl/skein/internal/h1"
)

// The flags of a response in which something had to be mended before it could be
// read. With HTTP_STRICT there is none: such a response is an error.
const (
	// FlagHeaderSkipped marks a response with lines among its headers that are
	// no headers, or a Content-Length that is no length.
	FlagHeaderSkipped = "header-skipped"

	// FlagHeaderMended marks a response whose first line or headers had to be
	// changed.
	FlagHeaderMended = "header-mended"

	// FlagChunksMended marks a chunked body whose lines between chunks do not
	// end as they must, or whose end is missing behind the last chunk.
	FlagChunksMended = "chunks-mended"

	// FlagNoHead marks a page that came without status and headers.
	FlagNoHead = "no-head"
)

// awaited is the response to a request that is about to be sent.
type awaited struct {
	head  bool // the request is a HEAD
	notes h1.Note
}

// flags returns what had to be mended.
func (a *awaited) flags() []string {
	if a.notes == 0 {
		return nil
	}
	var all []string
	for _, f := range []struct {
		note h1.Note
		flag string
	}{
		{h1.HeaderSkipped, FlagHeaderSkipped},
		{h1.HeaderMended, FlagHeaderMended},
		{h1.ChunksMended, FlagChunksMended},
		{h1.NoHead, FlagNoHead},
	} {
		if a.notes&f.note != 0 {
			all = append(all, f.flag)
		}
	}
	return all
}

// lenient is a connection whose responses net/http can read where browsers can.
// One goroutine at a time reads from it.
type lenient struct {
	net.Conn
	next   atomic.Pointer[awaited] // the response that begins with the next bytes
	mender h1.Mender
	buf    []byte
	ready  []byte // what of buf nobody has read yet
	err    error  // that came with them
}

// lenientTLS returns a lenient connection, unless HTTP/2 is spoken on c.
func lenientTLS(c *tls.Conn) net.Conn {
	if c.ConnectionState().NegotiatedProtocol == "h2" {
		return c
	}
	return &lenient{Conn: c}
}

// NetConn returns the connection below.
func (c *lenient) NetConn() net.Conn { return c.Conn }

// Read reads mended bytes. A request is announced before it is written, so what
// comes after that and is not read yet is the response to it. A connection with more
// on it than was asked for has come to its end: net/http would take that for the
// response to the next request.
func (c *lenient) Read(p []byte) (int, error) {
	for len(c.ready) == 0 {
		if err := c.err; err != nil {
			c.err = nil
			return 0, err
		}
		if c.mender.Extra() {
			return 0, io.EOF
		}
		n, err := c.Conn.Read(p)
		if a := c.next.Swap(nil); a != nil {
			c.mender.Begin(a.head, &a.notes)
		}
		if c.mender.Pass(n) {
			return n, err
		}
		c.buf = c.mender.Push(c.buf[:0], p[:n], errors.Is(err, io.EOF))
		c.ready, c.err = c.buf, err
	}
	n := copy(p, c.ready)
	c.ready = c.ready[n:]
	if len(c.ready) == 0 && c.err == nil && c.mender.Extra() { // at once, or the connection goes to the next request
		return n, io.EOF
	}
	return n, nil
}

// await says on a lenient connection which response comes next. It does nothing
// on others.
func (a *awaited) await(got httptrace.GotConnInfo) {
	for c := got.Conn; c != nil; c = below(c) {
		switch v := c.(type) {
		case *lenient:
			v.next.Store(a)
			return
		case *tls.Conn: // what is below it is not HTTP
			return
		}
	}
}

// below returns the connection that another one is made on, nil if there is none.
func below(c net.Conn) net.Conn {
	if v, ok := c.(interface{ NetConn() net.Conn }); ok {
		return v.NetConn()
	}
	return nil
}
