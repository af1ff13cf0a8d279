package downloader

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// httrack#1008: nothing of a page, in a URL or in a header, becomes a line of its
// own in what goes to a server or a proxy.
func TestHTTPInjection(t *testing.T) {
	var mu sync.Mutex
	var injected []string
	arrived := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		arrived++
		if r.Header.Get("X-Evil") != "" || r.URL.Path == "/evil" || r.Method == "EVIL" {
			injected = append(injected, r.Method+" "+r.RequestURI)
		}
		if r.Method == http.MethodConnect {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	h, _ := newHandler(t)
	const line, request = "\r\nX-Evil: 1", "\r\n\r\nEVIL /evil HTTP/1.1\r\nHost: a\r\n\r\n"
	escaped := strings.NewReplacer("\r", "%0d", "\n", "%0A", " ", "%20")
	for _, evil := range []string{line, request, "\nX-Evil: 1", "\rX-Evil: 1"} {
		for _, in := range []*crawl.Request{
			{URL: s.URL + "/x" + evil},
			{URL: s.URL + "/x" + escaped.Replace(evil)},
			{URL: s.URL + "/?q=" + evil},
			{URL: s.URL + evil + "/x"},
			{URL: s.URL + escaped.Replace(evil) + "/x"},
			{URL: s.URL, Method: "GET / HTTP/1.1" + evil},
			{URL: s.URL, Header: http.Header{"X-A": {"1" + evil}}},
			{URL: s.URL, Header: http.Header{"X-A" + evil: {"1"}}},
			{URL: s.URL, Header: http.Header{"Host": {"a" + evil}}},
			{URL: s.URL, Header: http.Header{"Proxy-Authorization": {"Basic x" + evil}}},
		} {
			tunnelled := in.Clone()
			tunnelled.URL = strings.Replace(in.URL, "http:", "https:", 1)
			for _, r := range []*crawl.Request{in, in.Clone(), tunnelled} {
				if r != in {
					r.Options.Proxy = s.URL
				}
				_, _ = h.Fetch(t.Context(), r) // an error is as good as a harmless request
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(injected) > 0 || arrived < 12 {
		t.Errorf("injected %q, in %d requests", injected, arrived)
	}
}
