package crawltest

import (
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

func (s *Site) serveRobots(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Robots == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(s.cfg.Robots)) // a client that went away is its own business
}

func (s *Site) serveStatus(w http.ResponseWriter, r *http.Request) {
	code, err := strconv.Atoi(r.PathValue("code"))
	if err != nil || code < 200 || code > 999 {
		http.Error(w, "no status code: "+r.PathValue("code"), http.StatusBadRequest)
		return
	}
	if first, err := strconv.Atoi(r.URL.Query().Get("first")); err == nil && s.noted(r.URL.RequestURI()) > first {
		code = http.StatusOK
	}
	if code == http.StatusNoContent || code == http.StatusNotModified {
		w.WriteHeader(code)
		return
	}
	writePage(w, code, fmt.Appendf(nil, "<!DOCTYPE html>\n<html><body><h1>%d</h1></body></html>\n", code))
}

func (s *Site) serveRedirect(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	code, err := strconv.Atoi(query.Get("code"))
	if err != nil {
		code = http.StatusFound
	}
	left := r.PathValue("left")
	if left == "loop" {
		http.Redirect(w, r, r.URL.RequestURI(), code)
		return
	}
	n, err := strconv.Atoi(left)
	if err != nil || n < 1 {
		http.NotFound(w, r)
		return
	}
	http.Redirect(w, r, redirectTarget(n, query), code)
}

func redirectTarget(n int, query url.Values) string {
	if n > 1 {
		next := url.URL{Path: "/redirect/" + strconv.Itoa(n-1), RawQuery: query.Encode()}
		return next.String()
	}
	if to := query.Get("to"); to != "" {
		return to
	}
	return pagePath(0)
}

func (s *Site) serveSlow(w http.ResponseWriter, r *http.Request) {
	d, err := time.ParseDuration(r.URL.Query().Get("wait"))
	if err != nil {
		d = time.Second
	}
	if wait(r, d) {
		writePage(w, http.StatusOK, s.Render(0))
	}
}

func (s *Site) serveStall(w http.ResponseWriter, r *http.Request) {
	s.writePart(w)
	<-r.Context().Done()
}

// writePart announces page 0 and sends half of it.
func (s *Site) writePart(w http.ResponseWriter) {
	body := s.Render(0)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body[:len(body)/2])
	_ = http.NewResponseController(w).Flush() // fails only for a client that went away
}

// serveShort relies on the server: it closes a connection whose handler wrote
// less than it announced.
func (s *Site) serveShort(w http.ResponseWriter, _ *http.Request) { s.writePart(w) }

// serveReset makes the kernel answer with RST: that is what closing a
// connection that must not linger means.
func (s *Site) serveReset(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2: resets the stream
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func (s *Site) serveEndless(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	row := []byte("<!DOCTYPE html>\n<html><body>\n")
	for r.Context().Err() == nil {
		if _, err := w.Write(row); err != nil {
			return
		}
		row = []byte(filler)
	}
}

func (s *Site) serveGzip(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	_, _ = z.Write(s.Render(0))
	_ = z.Close()
}
