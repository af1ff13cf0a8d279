package downloader

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// answers serves one text after the other, each to a request of its own on the
// same connection.
func answers(texts ...string) func(net.Conn, *bufio.Reader) {
	return func(c net.Conn, r *bufio.Reader) {
		for _, text := range texts {
			readRequest(r)
			_, _ = io.WriteString(c, text)
		}
	}
}

// replying serves every request on a connection with a text for its path.
func replying(text func(path string) string) func(net.Conn, *bufio.Reader) {
	return func(c net.Conn, r *bufio.Reader) {
		for {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			_, _ = io.WriteString(c, text(req.URL.Path))
		}
	}
}

// lenientCases are responses that browsers read and net/http does not.
var lenientCases = []struct {
	name, text string
	status     int
	body       string
	flags      []string
}{
	{"line without colon", "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", []string{FlagHeaderSkipped}},
	{"space behind the name", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nhi", 200, "hi", []string{FlagHeaderMended}},
	{"HTTP/2 unasked", "HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", []string{FlagHeaderMended}},
	{"name not ASCII", "HTTP/1.1 200 OK\r\nN\xe4me: x\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", []string{FlagHeaderSkipped}},
	{"NUL in a value", "HTTP/1.1 200 OK\r\nA: b\x00c\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", []string{FlagHeaderMended}},
	{"folded first", "HTTP/1.1 200 OK\r\n x\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", []string{FlagHeaderSkipped}},
	{"list of equal lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nhi", 200, "hi", []string{FlagHeaderMended}},
	{"length that is none", "HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\nhi", 200, "hi", []string{FlagHeaderSkipped, FlagPartial}},
	{"identity", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", []string{FlagHeaderMended}},
	{"chunked twice", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", 200, "hi", []string{FlagHeaderMended}},
	{"chunks with LF", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nhi\n0\n\n", 200, "hi", []string{FlagChunksMended}},
	{"end behind the last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n", 200, "hi", []string{FlagChunksMended}},
	{"lower case", "http/1.1 404 no\r\nContent-Length: 2\r\n\r\nhi", 404, "hi", []string{FlagHeaderMended}},
	{"SHOUTcast", "ICY 200 OK\r\n\r\nhi", 200, "hi", []string{FlagHeaderMended, FlagPartial}},
	{"line break before", "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", []string{FlagHeaderMended}},
	{"no head", "<p>hi", 200, "<p>hi", []string{FlagNoHead, FlagPartial}},
	{"after a hint", "HTTP/1.1 103 Early\r\nbad\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", []string{FlagHeaderSkipped}},
}

func TestHTTPLenient(t *testing.T) {
	h, _ := newHandler(t)
	strict, _ := newHandler(t, func(c *HTTPConfig) { c.Strict = true })
	for _, tt := range lenientCases {
		t.Run(tt.name, func(t *testing.T) {
			u := listen(t, answer(tt.text))
			resp := mustFetch(t, h, &crawl.Request{URL: u})
			if resp.Status != tt.status || string(resp.Body) != tt.body || !slices.Equal(resp.Flags, tt.flags) {
				t.Errorf("response = %d %q %v, want %d %q %v", resp.Status, resp.Body, resp.Flags, tt.status, tt.body, tt.flags)
			}
			_, err := strict.Fetch(t.Context(), &crawl.Request{URL: u})
			wantFailure(t, err, crawl.FailProtocol, "DownloadFailedError")
		})
	}
}

// What would be dangerous to guess stays an error: whose end of a body is right
// may decide what the next response is.
func TestHTTPNotMended(t *testing.T) {
	h, _ := newHandler(t)
	for _, text := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi!",
		"HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nhi!",
		"220 mail.test ESMTP\r\n\r\n",
	} {
		_, err := h.Fetch(t.Context(), &crawl.Request{URL: listen(t, answer(text))})
		wantFailure(t, err, crawl.FailProtocol, "DownloadFailedError")
	}
}

// A connection serves one response after the other, and each is mended for itself.
// On another connection the server would begin again with the first.
func TestHTTPLenientAgain(t *testing.T) {
	h, _ := newHandler(t)
	const good = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"
	u := listen(t, answers(
		"HTTP/1.1 200 OK\r\nbad\r\nTransfer-Encoding: chunked\r\n\r\n4\ngood\r\n0\r\n\r\n", good,
		"HTTP/1.1 200 OK\r\nbad\r\nContent-Length: 4\r\n\r\n", good, good))
	for i, want := range [][]string{{FlagHeaderSkipped, FlagChunksMended}, nil, {FlagHeaderSkipped}, nil, nil} {
		r := &crawl.Request{URL: u}
		body := "good"
		if i == 2 {
			r.Method, body = http.MethodHead, ""
		}
		resp := mustFetch(t, h, r)
		if string(resp.Body) != body || !slices.Equal(resp.Flags, want) {
			t.Errorf("response %d = %q %v, want %q %v", i, resp.Body, resp.Flags, body, want)
		}
	}
}

// The answer may come while the request is still being written: what is written
// then does not make a head of its body.
func TestHTTPLenientEarlyAnswer(t *testing.T) {
	body := bytes.Repeat([]byte("GET / HTTP/1.1\r\n"), 1<<16)
	u := listen(t, func(c net.Conn, r *bufio.Reader) {
		readRequest(r)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfirst")
		_, _ = io.CopyN(io.Discard, r, int64(len(body)))
		_, _ = io.WriteString(c, "\r\n\r\n")
	})
	h, _ := newHandler(t)
	resp := mustFetch(t, h, &crawl.Request{URL: u, Method: http.MethodPost, Body: body})
	if string(resp.Body) != "first\r\n\r\n" || len(resp.Flags) != 0 {
		t.Errorf("response = %q %v", resp.Body, resp.Flags)
	}
}

func TestHTTPLenientTLS(t *testing.T) {
	certificate := new(authority).issue(t, func(*x509.Certificate) {})
	for _, protocol := range []string{"", "http/1.1"} {
		config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
		if protocol != "" {
			config.NextProtos = []string{protocol}
		}
		u := listen(t, func(c net.Conn, _ *bufio.Reader) {
			s := tls.Server(c, config)
			answers("HTTP/1.1 200 OK\r\nbad\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")(s, bufio.NewReader(s))
		})
		h, _ := newHandler(t, func(c *HTTPConfig) { c.TLS = &tls.Config{InsecureSkipVerify: true} })
		for i, want := range [][]string{{FlagHeaderSkipped}, nil} {
			resp := mustFetch(t, h, &crawl.Request{URL: strings.Replace(u, "http:", "https:", 1)})
			if !slices.Equal(resp.Flags, want) {
				t.Errorf("response %d by %q: %q %v, want %v", i, protocol, resp.Body, resp.Flags, want)
			}
		}
	}
}

// Through a proxy the response comes on a connection to the proxy.
func TestHTTPLenientProxy(t *testing.T) {
	proxy := listen(t, answers("HTTP/1.1 200 OK\r\nbad\r\nContent-Length: 2\r\n\r\nhi"))
	h, _ := newHandler(t)
	resp := mustFetch(t, h, &crawl.Request{URL: "http://a.test/", Options: crawl.Options{Proxy: proxy}})
	if string(resp.Body) != "hi" || !slices.Equal(resp.Flags, []string{FlagHeaderSkipped}) {
		t.Errorf("response = %q %v", resp.Body, resp.Flags)
	}
}

// What a server sends beyond its response is never taken for the response to
// another request.
func TestHTTPExtra(t *testing.T) {
	const extra = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"
	for name, response := range map[string]func(body string) string{
		"length": func(body string) string {
			return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		},
		"chunks": func(body string) string {
			return fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
		},
		"HEAD": func(body string) string {
			return "HTTP/1.1 200 OK\r\nX-Target: " + body + "\r\nContent-Length: 3\r\n\r\n"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := listen(t, replying(func(path string) string { return response(path) + extra }))
			h, _ := newHandler(t)
			var wg sync.WaitGroup
			for g := range 8 {
				wg.Go(func() {
					for i := range 25 {
						r := &crawl.Request{URL: fmt.Sprintf("%s/%d/%d", u, g, i)}
						if name == "HEAD" {
							r.Method = http.MethodHead
						}
						resp, err := h.Fetch(t.Context(), r)
						if err != nil {
							t.Error(err)
							return
						}
						if got := string(resp.Body) + resp.Header.Get("X-Target"); got != strings.TrimPrefix(r.URL, u) {
							t.Errorf("the response to %s is %q", r.URL, got)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// A connection that has come to its end is not handed to a request that may not be
// sent twice.
func TestHTTPExtraBeforePost(t *testing.T) {
	u := listen(t, replying(func(string) string { return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi\r\n" }))
	h, _ := newHandler(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				if _, err := h.Fetch(t.Context(), &crawl.Request{URL: u, Method: http.MethodPost, Body: []byte("a=1")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
