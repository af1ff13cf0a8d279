package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// A callback may emit from goroutines of its own; what one emits after the
// callback has returned is lost, and nothing is torn.
func TestEmitFromGoroutines(t *testing.T) {
	srv := site(t, map[string]string{"/": "root"})
	for _, dir := range []string{"", "JOBDIR=" + t.TempDir() + "/job"} {
		s := &script{}
		s.start = func(_ *script, out crawl.Out) { out.Request(&crawl.Request{URL: srv.URL + "/"}) }
		var late sync.WaitGroup
		returned := make(chan struct{})
		s.parse = func(_ context.Context, s *script, r *crawl.Response, out crawl.Out) error {
			if !strings.HasSuffix(r.URL, "/") {
				return nil
			}
			defer close(returned)
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					for j := range 50 {
						out.Item(crawl.Record{{Name: "url", Value: fmt.Sprintf("%d-%d", i, j)}})
						out.Request(&crawl.Request{URL: fmt.Sprintf("/?%d-%d", i, j), Callback: s.Parse})
					}
				})
			}
			late.Go(func() {
				<-returned
				out.Item(crawl.Record{{Name: "url", Value: "late"}})
			})
			wg.Wait()
			return nil
		}
		var assign []string
		if dir != "" {
			assign = append(assign, dir)
		}
		stats, file := runScript(t, s, assign...)
		late.Wait()
		got := items(t, file)
		delete(got, "late") // it may just have made it
		if len(got) != 400 || stats["downloader/response_count"] != int64(401) {
			t.Errorf("%d items and %v responses, want 400 and 401", len(got), stats["downloader/response_count"])
		}
	}
}

// Requests that wait for a robots.txt which another reads take no place of
// CONCURRENT_REQUESTS: a host that stalls there holds up nobody else.
func TestStalledRobotsHoldNobodyUp(t *testing.T) {
	var good atomic.Int32
	all := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		slow := strings.HasPrefix(r.Host, "127.0.0.1")
		switch {
		case r.URL.Path == "/robots.txt" && slow:
			<-all // until the other host is crawled
			http.NotFound(w, r)
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case !slow && good.Add(1) == 5:
			close(all)
		}
	}))
	t.Cleanup(srv.Close)
	other := strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)
	s := &script{}
	s.start = func(_ *script, out crawl.Out) {
		for i := range 20 {
			out.Request(&crawl.Request{URL: fmt.Sprintf("%s/%d", srv.URL, i)})
		}
		for i := range 5 {
			out.Request(&crawl.Request{URL: fmt.Sprintf("%s/%d", other, i)})
		}
	}
	s.parse = func(context.Context, *script, *crawl.Response, crawl.Out) error { return nil }
	stats, _ := runScript(t, s, "ROBOTSTXT_OBEY=True", "CONCURRENT_REQUESTS=4", "CONCURRENT_REQUESTS_PER_DOMAIN=8")
	if n := stats["response_received_count"]; n != nil && n != int64(25) {
		t.Errorf("%v responses, want 25", n)
	}
}
