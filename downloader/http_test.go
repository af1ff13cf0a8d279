package downloader

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
)

// newHandler returns a handler with the defaults of the settings, changed by
// the given functions, and its log.
func newHandler(t testing.TB, change ...func(*HTTPConfig)) (*HTTP, *logBuffer) {
	t.Helper()
	log := &logBuffer{}
	cfg := HTTPConfig{
		Timeout: 20 * time.Second, MaxSize: 64 << 20, WarnSize: 32 << 20,
		FailOnDataLoss: true, MaxIdle: 16, MaxIdlePerHost: 8, Log: zerolog.New(log),
	}
	for _, f := range change {
		f(&cfg)
	}
	h := NewHTTP(cfg)
	t.Cleanup(func() { _ = h.Close() })
	return h, log
}

func serve(t testing.TB, f http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s
}

func mustFetch(t testing.TB, f crawl.Fetcher, r *crawl.Request) *crawl.Response {
	t.Helper()
	resp, err := f.Fetch(t.Context(), r)
	if err != nil {
		t.Fatalf("fetch %v: %v", r, err)
	}
	return resp
}

func wantFailure(t testing.TB, err error, kind crawl.FailureKind, name string) {
	t.Helper()
	var de *crawl.DownloadError
	if !errors.As(err, &de) || de.Kind != kind || de.Name != name {
		t.Errorf("error = %v (%T), want %s of kind %q", err, err, name, kind)
	}
}

func TestHTTPResponse(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip") // left to the middleware
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "uri="+r.RequestURI)
	})
	h, _ := newHandler(t)
	r := &crawl.Request{URL: s.URL + "/p?q=1#fragment"}
	resp := mustFetch(t, h, r)
	if got, want := string(resp.Body), "uri=/p?q=1"; got != want {
		t.Errorf("body = %q, want %q", got, want)
	}
	if resp.Status != 418 || resp.Proto != "HTTP/1.1" || resp.Request != r || resp.URL != s.URL+"/p?q=1" || len(resp.Flags) != 0 {
		t.Errorf("response = %d %s %v %s %v", resp.Status, resp.Proto, resp.Request, resp.URL, resp.Flags)
	}
	if got := resp.Header["Set-Cookie"]; !slices.Equal(got, []string{"a=1", "b=2"}) {
		t.Errorf("Set-Cookie = %q", got)
	}
	if resp.Latency <= 0 {
		t.Errorf("latency = %v, want more than 0", resp.Latency)
	}
}

// What goes on the wire is the request and nothing else.
func TestHTTPRequest(t *testing.T) {
	var got *http.Request
	var body string
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, body = r, string(b)
	})
	h, _ := newHandler(t)
	mustFetch(t, h, &crawl.Request{
		URL: strings.Replace(s.URL, "http://", "http://user:secret@", 1), Method: "POST", Body: []byte("a=1"),
		Header: http.Header{"X-A": {"1", "2"}, "User-Agent": {}, "Host": {"other.test"}},
	})
	if got.Method != "POST" || body != "a=1" || got.ContentLength != 3 {
		t.Errorf("request = %s with body %q, length %d", got.Method, body, got.ContentLength)
	}
	want := http.Header{"X-A": {"1", "2"}, "Content-Length": {"3"}}
	for name := range got.Header {
		if !slices.Equal(got.Header[name], want[name]) {
			t.Errorf("header %s = %q, want %q", name, got.Header[name], want[name])
		}
	}
	if got.Host != "other.test" {
		t.Errorf("host = %q, want other.test", got.Host)
	}
}

// URLs that net/url refuses go on the wire as a browser sends them
// (hakluke/hakrawler#115).
func TestHTTPTargets(t *testing.T) {
	// The server of net/http refuses some of these targets itself.
	s := listen(t, func(c net.Conn, r *bufio.Reader) {
		line, _ := r.ReadString('\n')
		target := strings.Fields(line)[1]
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(target), target)
	})
	h, _ := newHandler(t)
	for _, target := range []string{
		"/", "/%", "/%3C%=urlKey%%3E.html", "/a?b=%", "/a?", "/?x", "//double/slash", "//a%2Fb?c=%", "/it's*ok", "/a;b,c=d", "/[x]|{y}", "/a//b", "/%2e%2E",
	} {
		if got := string(mustFetch(t, h, &crawl.Request{URL: s + target}).Body); got != target {
			t.Errorf("target of %s = %s", target, got)
		}
	}
	host := strings.TrimPrefix(s, "http://")
	for target, want := range map[string]string{
		"":         "/",
		"?q":       "/?q",
		"/a b":     "/a%20b",
		"/é":       "/%C3%A9",
		"//stray%": "http://" + host + "//stray%",
	} {
		if got := string(mustFetch(t, h, &crawl.Request{URL: s + target}).Body); got != want {
			t.Errorf("target of %q = %s, want %s", target, got, want)
		}
	}
}

func TestHTTPUnusableURL(t *testing.T) {
	h, _ := newHandler(t)
	for _, u := range []string{"", "/relative", "http://", "http://a.test:99999/", "data:,x", "http://a b/"} {
		_, err := h.Fetch(t.Context(), &crawl.Request{URL: u})
		wantFailure(t, err, crawl.FailUnsupported, "UnsupportedURLSchemeError")
	}
}

func TestHTTPSizeLimit(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n := r.FormValue("length"); n != "" {
			w.Header().Set("Content-Length", n)
			size, _ := strconv.Atoi(n)
			_, _ = w.Write(make([]byte, size))
			return
		}
		for range 100 {
			_, _ = w.Write(make([]byte, 1000))
			w.(http.Flusher).Flush()
		}
	})
	for _, tt := range []struct {
		name, query, log string
		max, own         int64
		ok               bool
	}{
		{name: "announced", query: "length=2000", max: 1000, log: "Expected to receive 2000 bytes which is larger than download max size (1000) in request <GET "},
		{name: "streamed", max: 5000, log: "Received 5001 bytes which is larger than download max size (5000) in request <GET "},
		{name: "exact", query: "length=1000", max: 1000, ok: true},
		{name: "off", max: 0, ok: true},
		{name: "of the request", query: "length=2000", max: 1000, own: 3000, ok: true},
		{name: "off for the request", query: "length=2000", max: 1000, own: -1, ok: true},
		{name: "smaller for the request", query: "length=2000", max: 5000, own: 100, log: "larger than download max size (100)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, log := newHandler(t, func(c *HTTPConfig) { c.MaxSize = tt.max })
			_, err := h.Fetch(t.Context(), &crawl.Request{URL: s.URL + "/?" + tt.query, Options: crawl.Options{MaxSize: tt.own}})
			if tt.ok {
				if err != nil {
					t.Errorf("error = %v", err)
				}
				return
			}
			wantFailure(t, err, crawl.FailTooLarge, "DownloadCancelledError")
			log.wants(t, tt.log)
		})
	}
}

func TestHTTPWarnSize(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/length" {
			w.Header().Set("Content-Length", "2000")
		}
		for range 4 {
			_, _ = w.Write(make([]byte, 500))
			if r.URL.Path != "/length" {
				w.(http.Flusher).Flush()
			}
		}
	})
	h, log := newHandler(t, func(c *HTTPConfig) { c.WarnSize = 1000 })
	mustFetch(t, h, &crawl.Request{URL: s.URL + "/length"})
	mustFetch(t, h, &crawl.Request{URL: s.URL + "/chunked"})
	log.wants(t, "Expected to receive 2000 bytes which is larger than download warn size (1000) in request <GET "+s.URL+"/length>.",
		"Received 2000 bytes which is larger than download warn size (1000) in request <GET "+s.URL+"/chunked>.")
}

// scrapy/scrapy#1899: the length of a HEAD response is not that of its body.
func TestHTTPHead(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "1000000") })
	h, _ := newHandler(t, func(c *HTTPConfig) { c.MaxSize = 10 })
	if resp := mustFetch(t, h, &crawl.Request{URL: s.URL, Method: "HEAD"}); len(resp.Body) != 0 || resp.Header.Get("Content-Length") != "1000000" {
		t.Errorf("response = %q with header %v", resp.Body, resp.Header)
	}
}

func TestHTTP2AndTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RequestURI) }))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	h, _ := newHandler(t)
	_, err := h.Fetch(t.Context(), &crawl.Request{URL: s.URL})
	wantFailure(t, err, crawl.FailTLS, "DownloadFailedError")

	h, _ = newHandler(t, insecure)
	for _, target := range []string{"/a", "/[x]|{y}?%", "//a/b?%"} {
		resp := mustFetch(t, h, &crawl.Request{URL: s.URL + target})
		if resp.Proto != "HTTP/2.0" || string(resp.Body) != target {
			t.Errorf("response = %s %q, want HTTP/2.0 %q", resp.Proto, resp.Body, target)
		}
	}
}

func TestRouter(t *testing.T) {
	ok := crawl.FetcherFunc(func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
		return &crawl.Response{URL: r.URL}, nil
	})
	router := Router{"http": ok}
	mustFetch(t, router, &crawl.Request{URL: "HTTP://a.test/"})
	_, err := router.Fetch(t.Context(), &crawl.Request{URL: "gopher://a.test/"})
	wantFailure(t, err, crawl.FailUnsupported, "UnsupportedURLSchemeError")
	if want := "Unsupported URL scheme 'gopher': no handler available for that scheme"; err.Error() != want {
		t.Errorf("message = %q, want %q", err, want)
	}
}

// A request that HTTP can not send is the fault of who made it: no try would help.
func TestHTTPImpossibleRequests(t *testing.T) {
	h, _ := newHandler(t)
	for _, r := range []*crawl.Request{
		{Method: "BAD METHOD"},
		{Method: "G\r\nET"},
		{Header: http.Header{"Bad Name": {"x"}}},
		{Header: http.Header{"": {"x"}}},
		{Header: http.Header{"X": {"ok", "a\r\nEvil: 1"}}},
		{Header: http.Header{"X": {"a\x00b"}}},
	} {
		r.URL = "http://127.0.0.1:1/"
		_, err := h.Fetch(t.Context(), r)
		wantFailure(t, err, crawl.FailUnsupported, "UnsupportedURLSchemeError")
	}
}
