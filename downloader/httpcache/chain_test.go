package httpcache_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	_ "github.com/skeincrawl/skein/downloader/middleware"
	"github.com/skeincrawl/skein/settings"
)

// chain builds what a crawl has between its engine and the wire.
func chain(t *testing.T, values map[string]any) (crawl.Fetcher, *crawl.Env) {
	t.Helper()
	s, _, err := settings.New().Spider("test", values).Build()
	if err != nil {
		t.Fatal(err)
	}
	env := &crawl.Env{Settings: s, Stats: crawl.NewStats(), Signals: &crawl.Signals{}, Log: zerolog.Nop(), Spec: crawl.Spec{Name: "test"}}
	env.Fingerprint = func(r *crawl.Request) ([20]byte, error) { return sha1.Sum([]byte(r.Verb() + r.URL)), nil }
	h := downloader.NewHTTP(settings.Decode[downloader.HTTPConfig](s))
	t.Cleanup(func() { _ = h.Close() })
	var f crawl.Fetcher = h
	for _, c := range slices.Backward(s.Components("DOWNLOADER_MIDDLEWARES")) {
		m, err := crawl.Construct(env, "DOWNLOADER_MIDDLEWARES", downloader.Middlewares, c.Name)
		if err != nil {
			t.Fatal(err)
		}
		if m != nil {
			f = m(f)
		}
	}
	return downloader.Follow(f), env
}

// A site whose pages are compressed, vary and redirect, behind all middlewares: the second crawl sends nothing but the
// question about the page that is stale, and every page is decoded as in the first. The stats count what the spider got.
func TestChain(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	page := strings.Repeat("<p>page</p>", 100)
	if _, err := w.Write([]byte(page)); err != nil || w.Close() != nil {
		t.Fatal("gzip")
	}
	var sent, confirmed atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.Add(1)
		h := w.Header()
		switch r.URL.Path {
		case "/old":
			h.Set("Location", "/page")
			w.WriteHeader(http.StatusMovedPermanently)
			return
		case "/page":
			h.Set("Cache-Control", "max-age=3600")
		case "/stale":
			h.Set("Cache-Control", "no-cache")
			h.Set("Etag", `"one"`)
			if r.Header.Get("If-None-Match") == `"one"` {
				confirmed.Add(1)
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		h.Set("Content-Type", "text/html")
		h.Set("Vary", "Accept-Encoding, Cookie")
		h.Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	}))
	t.Cleanup(srv.Close)
	values := map[string]any{"HTTPCACHE_ENABLED": true, "HTTPCACHE_DIR": t.TempDir(), "HTTPCACHE_POLICY": "rfc9111"}
	for round := range 2 {
		f, env := chain(t, values)
		for _, path := range []string{"/old", "/stale"} {
			resp, err := f.Fetch(t.Context(), &crawl.Request{URL: srv.URL + path})
			if err != nil {
				t.Fatal(err)
			}
			if cached := slices.Contains(resp.Flags, "cached"); string(resp.Body) != page || resp.Status != 200 || cached != (round == 1) {
				t.Errorf("round %d, %s: %v with %d bytes, flags %v, want the page, cached from the second round on", round, path, resp, len(resp.Body), resp.Flags)
			}
		}
		if got := env.Stats.Count("downloader/response_count"); got != 3 {
			t.Errorf("round %d: downloader/response_count = %d, want 3", round, got)
		}
	}
	if sent.Load() != 4 || confirmed.Load() != 1 {
		t.Errorf("%d requests, %d of them confirmed, want 3, and one to ask about the stale page", sent.Load(), confirmed.Load())
	}
}

// Several crawls share one directory.
func TestSharedDirectory(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("page " + r.URL.Path))
	}))
	t.Cleanup(srv.Close)
	values := map[string]any{"HTTPCACHE_ENABLED": true, "HTTPCACHE_DIR": t.TempDir(), "HTTPCACHE_MAX_SIZE": 4000, "HTTPCACHE_GZIP": true}
	var crawls sync.WaitGroup
	for range 3 {
		f, env := chain(t, values)
		crawls.Go(func() {
			for i := range 40 {
				path := "/" + strings.Repeat("x", i%20)
				resp, err := f.Fetch(t.Context(), &crawl.Request{URL: srv.URL + path})
				if err != nil || string(resp.Body) != "page "+path {
					t.Errorf("%s: %v, %v", path, resp, err)
				}
			}
			for _, key := range []string{"retrieve_error", "store_error"} {
				if got := env.Stats.Count("httpcache/" + key); got != 0 {
					t.Errorf("httpcache/%s = %d, want 0", key, got)
				}
			}
		})
	}
	crawls.Wait()
}
