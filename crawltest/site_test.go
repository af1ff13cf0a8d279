package crawltest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client neither follows redirects nor decodes bodies.
type client struct {
	http.Client
	base string
}

func serve(t *testing.T, cfg Config) (*Site, *client) {
	t.Helper()
	site := NewSite(cfg)
	srv := httptest.NewServer(site)
	t.Cleanup(srv.Close)
	c := &client{base: srv.URL}
	tr := &http.Transport{DisableCompression: true}
	t.Cleanup(tr.CloseIdleConnections)
	c.Transport = tr
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return site, c
}

// answer is a response that was read.
type answer struct {
	status int
	header http.Header
	length int64 // as announced
	body   string
}

func (c *client) get(ctx context.Context, path string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return answer{}, err
	}
	resp, err := c.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, resp.ContentLength, string(body)}, err
}

func (c *client) must(t *testing.T, path string) answer {
	t.Helper()
	a, err := c.get(t.Context(), path)
	if err != nil {
		t.Fatalf("get %s: %v", path, err)
	}
	return a
}

func TestEveryPageIsReachable(t *testing.T) {
	t.Parallel()
	site := NewSite(Config{Pages: 337, Links: 7})
	all := slices.Collect(site.Pages())
	seen := map[string]bool{all[0].Path: true}
	for queue := []Page{all[0]}; len(queue) > 0; queue = queue[1:] {
		for _, l := range queue[0].Links {
			if i, ok := site.pageIndex(l); ok && !seen[l] {
				seen[l] = true
				queue = append(queue, all[i])
			}
		}
	}
	if len(seen) != 337 {
		t.Errorf("%d pages can be reached, want 337", len(seen))
	}
}

func TestPagesHoldWhatPageSays(t *testing.T) {
	t.Parallel()
	site := NewSite(Config{Size: 10 << 10})
	for p := range site.Pages() {
		i, _ := site.pageIndex(p.Path)
		body := site.Render(i)
		r := Response("http://site.test"+p.Path, body)
		if !bytes.Equal(body, NewSite(Config{Size: 10 << 10}).Render(i)) {
			t.Fatalf("page %d differs between two sites", i)
		}
		if len(body) < 10<<10 || len(body) > 11<<10 {
			t.Errorf("page %d has %d bytes, want about 10 KiB", i, len(body))
		}
		var links []string
		for l := range r.Links() {
			links = append(links, strings.TrimPrefix(l.URL, "http://site.test"))
		}
		got := Page{Path: p.Path, Title: r.CSS("h1.name::text").Get(), Price: r.CSS("span.price::text").Get(), Desc: r.CSS("p.desc").Text(), Links: links}
		if got.Title != p.Title || got.Price != p.Price || got.Desc != p.Desc || !slices.Equal(got.Links, p.Links) {
			t.Errorf("page %d:\n got %+v\nwant %+v", i, got, p)
		}
	}
}

func TestHits(t *testing.T) {
	t.Parallel()
	site, c := serve(t, Config{Pages: 5, Robots: "User-agent: *\n"})
	for _, path := range []string{"/p/3", "/p/3", "/p/03", "/p/5", "/p/1?x=1", "/robots.txt", "/nowhere"} {
		c.must(t, path)
	}
	want := map[string]int{"/p/3": 2, "/p/03": 1, "/p/5": 1, "/p/1?x=1": 1, "/robots.txt": 1, "/nowhere": 1}
	if got := site.Hits(); !maps.Equal(got, want) {
		t.Errorf("hits = %v, want %v", got, want)
	}
	site.Reset()
	if got := site.Hits(); len(got) != 0 {
		t.Errorf("hits after Reset = %v, want none", got)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	_, c := serve(t, Config{Pages: 5})
	for _, tc := range []struct {
		path     string
		status   int
		location string
	}{
		{"/", 302, "/p/0"},
		{"/p/4", 200, ""},
		{"/p/5", 404, ""},
		{"/p/x", 404, ""},
		{"/robots.txt", 404, ""},
		{"/status/204", 204, ""},
		{"/status/503", 503, ""},
		{"/status/x", 400, ""},
		{"/redirect/1", 302, "/p/0"},
		{"/redirect/2?code=301&to=%2Fp%2F2", 301, "/redirect/1?code=301&to=%2Fp%2F2"},
		{"/redirect/1?code=308&to=%2Fp%2F2", 308, "/p/2"},
		{"/redirect/loop", 302, "/redirect/loop"},
		{"/redirect/0", 404, ""},
		{"/slow?wait=1ms", 200, ""},
	} {
		t.Run(tc.path, func(t *testing.T) {
			t.Parallel()
			a := c.must(t, tc.path)
			if got := a.header.Get("Location"); a.status != tc.status || got != tc.location {
				t.Errorf("got %d to %q, want %d to %q", a.status, got, tc.status, tc.location)
			}
		})
	}
}

func TestStatusTheFirstTimes(t *testing.T) {
	t.Parallel()
	_, c := serve(t, Config{})
	var got []int
	for range 4 {
		got = append(got, c.must(t, "/status/503?first=2").status)
	}
	if want := []int{503, 503, 200, 200}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLatencyEndsWithTheClient(t *testing.T) {
	t.Parallel()
	_, c := serve(t, Config{Latency: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.get(ctx, "/p/0"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the client's time-out", err)
	}
}

func TestTrouble(t *testing.T) {
	t.Parallel()
	site, c := serve(t, Config{})
	t.Run("short", func(t *testing.T) {
		t.Parallel()
		a, err := c.get(t.Context(), "/short")
		if !errors.Is(err, io.ErrUnexpectedEOF) || a.body == "" || int64(len(a.body)) >= a.length {
			t.Errorf("got %d of %d bytes and %v, want a part and an unexpected EOF", len(a.body), a.length, err)
		}
	})
	t.Run("reset", func(t *testing.T) {
		t.Parallel()
		if _, err := c.get(t.Context(), "/reset"); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("got %v, want a reset connection", err)
		}
	})
	t.Run("stall", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := c.get(ctx, "/stall"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the client's time-out", err)
		}
	})
	t.Run("gzip", func(t *testing.T) {
		t.Parallel()
		a := c.must(t, "/gzip")
		if a.header.Get("Content-Encoding") != "gzip" || !strings.HasPrefix(a.body, "\x1f\x8b") || len(a.body) >= len(site.Render(0)) {
			t.Errorf("got %d bytes, %v: no gzip", len(a.body), a.header)
		}
	})
	t.Run("endless", func(t *testing.T) {
		t.Parallel()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+"/endless", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if n, err := io.CopyN(io.Discard, resp.Body, 4<<20); err != nil {
			t.Errorf("the page ended after %d bytes: %v", n, err)
		}
	})
}

func TestServeUntilClosed(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- NewSite(Config{}).Serve(l) }()
	c := &client{base: "http://" + l.Addr().String()}
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	c.Transport = tr
	if a := c.must(t, "/p/7"); !strings.Contains(a.body, "Item number 7") {
		t.Errorf("page 7 is %q", a.body)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func BenchmarkRender(b *testing.B) {
	site := NewSite(Config{Pages: 20000, Links: 20, Size: 10 << 10})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_ = site.Render(i % 20000)
	}
}
