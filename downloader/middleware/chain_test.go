package middleware

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/settings"
)

// chain builds what a crawl has between its engine and the wire.
func chain(t testing.TB, env *crawl.Env) crawl.Fetcher {
	t.Helper()
	h := downloader.NewHTTP(settings.Decode[downloader.HTTPConfig](env.Settings))
	t.Cleanup(func() { _ = h.Close() })
	var f crawl.Fetcher = downloader.Router{"http": h, "https": h}
	for _, c := range slices.Backward(env.Settings.Components("DOWNLOADER_MIDDLEWARES")) {
		f = wrap(t, c.Name, env, f)
	}
	return f
}

// One fetch through everything: a redirect whose body nobody decodes (MW-04), a failure that passes, a compressed
// page; and two that end otherwise.
func TestChain(t *testing.T) {
	page := bytes.Repeat([]byte("<p>page</p>"), 1000)
	var tries atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("/start", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/flaky")
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(http.StatusFound)
		_, _ = w.Write(zip(page))
	})
	mux.HandleFunc("/flaky", func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if r.Header.Get("Accept-Encoding") != "gzip, deflate, br, zstd" || r.Header.Get("User-Agent") != settings.DefaultUserAgent {
			t.Errorf("header = %v", r.Header)
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(zip(page))
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://elsewhere.test/")
		w.WriteHeader(http.StatusFound)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)

	env, log := newEnv(t, map[string]any{"DOWNLOAD_MAXSIZE": 20_000})
	env.Spec.AllowedDomains = []string{"127.0.0.1"}
	f := downloader.Follow(chain(t, env))
	resp, err := f.Fetch(t.Context(), &crawl.Request{URL: s.URL + "/start#top"})
	if err != nil {
		t.Fatal(err)
	}
	r := resp.Request
	if !bytes.Equal(resp.Body, page) || resp.URL != s.URL+"/flaky" || r.URL != s.URL+"/flaky#top" || r.Trail.Retries != 1 || len(r.Trail.Redirects) != 1 {
		t.Errorf("response = %v with %d bytes to %v, %+v", resp, len(resp.Body), r, r.Trail)
	}
	_, err = f.Fetch(t.Context(), &crawl.Request{URL: s.URL + "/away"})
	if ignored := (*crawl.IgnoreError)(nil); !errors.As(err, &ignored) {
		t.Errorf("error = %v, want the target refused as offsite", err)
	}
	_, err = f.Fetch(t.Context(), &crawl.Request{URL: "foo://127.0.0.1/"})
	if crawl.KindOf(err) != crawl.FailUnsupported {
		t.Errorf("error = %v, want unsupported", err)
	}
	wantStats(t, env, map[string]int64{
		"downloader/request_count": 5, "downloader/response_count": 4, "downloader/response_status_count/302": 2,
		"retry/count": 1, "httpcompression/response_count": 1, "offsite/filtered": 1,
		"downloader/exception_type_count/UnsupportedURLSchemeError": 1,
	})
	if strings.Contains(log.String(), `"level":"error"`) {
		t.Errorf("log has errors:\n%s", log)
	}
}
