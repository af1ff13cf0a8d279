package middleware

import (
	"errors"
	"fmt"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

func TestStats(t *testing.T) {
	env, _ := newEnv(t, nil)
	if n := len(env.Stats.Snapshot()); n != 0 {
		t.Errorf("%d stats before the first request", n)
	}
	fetch := func(f crawl.Fetcher, r *crawl.Request) { _, _ = wrap(t, "stats", env, f).Fetch(t.Context(), r) }
	page := &crawl.Response{Status: 200, Header: header("A", "1", "Set-Cookie", "x", "Set-Cookie", "y"), Body: []byte("12345")}
	for range 2 {
		fetch(respond(page), &crawl.Request{URL: "http://a.test:80/p?q#f", Header: header("Accept", "x")})
	}
	fetch(respond(&crawl.Response{Status: 999}), &crawl.Request{URL: "http://a.test", Method: "POST", Body: []byte("abc")})
	fetch(failWith(&crawl.DownloadError{Name: "DownloadTimeoutError", Err: errors.New("x")}), &crawl.Request{URL: "http://a.test/"})
	fetch(failWith(fmt.Errorf("cut: %w", crawl.ErrStopped)), &crawl.Request{URL: "http://a.test/"})

	get := len("GET /p?q HTTP/1.1\r\nHost: a.test\r\nAccept: x\r\n\r\n")
	post := len("POST / HTTP/1.1\r\nHost: a.test\r\n\r\nabc")
	bare := len("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
	ok := len("HTTP/1.1 200 OK\r\nA: 1\r\nSet-Cookie: x\r\nSet-Cookie: y\r\n\r\n12345")
	wantStats(t, env, map[string]int64{
		"downloader/request_count":                             5,
		"downloader/request_method_count/GET":                  4,
		"downloader/request_method_count/POST":                 1,
		"downloader/request_bytes":                             int64(2*get + post + 2*bare),
		"downloader/response_count":                            3,
		"downloader/response_status_count/200":                 2,
		"downloader/response_status_count/999":                 1,
		"downloader/response_bytes":                            int64(2*ok + len("HTTP/1.1 999 \r\n\r\n")),
		"downloader/exception_count":                           1,
		"downloader/exception_type_count/DownloadTimeoutError": 1,
	})
}
