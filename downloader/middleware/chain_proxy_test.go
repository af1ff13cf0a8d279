package middleware

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
)

// A retry goes through the proxy that is chosen for it, with its password and not
// that of the proxy before: one that is not there, one that fails, one that works.
func TestChainChangesProxy(t *testing.T) {
	setProxies(t, "", "", "")
	var mu sync.Mutex
	var asked []string
	serve := func(name string, status int) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, name+" "+r.RequestURI+" "+r.Header.Get("Proxy-Authorization"))
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(status)
		}))
		t.Cleanup(s.Close)
		return s.Listener.Addr().String()
	}
	proxies := []string{"http://a:1@127.0.0.1:1", "http://b:2@" + serve("fails", http.StatusBadGateway), "http://" + serve("works", http.StatusOK)}
	env, _ := newEnv(t, nil)
	next := chain(t, env)
	f := downloader.Follow(crawl.FetcherFunc(func(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
		c := *r
		c.Options.Proxy = proxies[r.Trail.Retries]
		return next.Fetch(ctx, &c)
	}))
	resp, err := f.Fetch(t.Context(), &crawl.Request{URL: "http://one.test/1"})
	if err != nil || resp.Status != http.StatusOK {
		t.Fatalf("%v, %v", resp, err)
	}
	if want := []string{"fails http://one.test/1 Basic Yjoy", "works http://one.test/1 "}; !slices.Equal(asked, want) {
		t.Errorf("the proxies were asked %q, want %q", asked, want)
	}
}

// One fetch through everything and through a proxy, which a redirect leads from
// host to host: what belongs to one of them does not reach another.
func TestChainThroughProxy(t *testing.T) {
	setProxies(t, "", "", "")
	var mu sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.RequestURI+" cookie="+r.Header.Get("Cookie")+" auth="+r.Header.Get("Authorization")+
			" proxy="+r.Header.Get("Proxy-Authorization")+" referer="+r.Header.Get("Referer"))
		w.Header().Add("Set-Cookie", "from="+r.Host)
		if to := map[string]string{"one.test": "http://two.test/2", "two.test": "http://one.test/3"}[r.Host]; to != "" && r.URL.Path != "/3" {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}
	}))
	t.Cleanup(s.Close)
	env, _ := newEnv(t, nil)
	f := downloader.Follow(chain(t, env))
	proxy := "http://u:p@" + s.Listener.Addr().String()
	r := &crawl.Request{
		URL: "http://one.test/1", Header: header("Referer", "http://zero.test/"), Cookies: []*http.Cookie{{Name: "mine", Value: "1"}},
		Options: crawl.Options{Proxy: proxy, HTTPUser: "user", HTTPPass: "pass"},
	}
	resp, err := f.Fetch(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"http://one.test/1 cookie=mine=1 auth=Basic dXNlcjpwYXNz proxy=Basic dTpw referer=http://zero.test/",
		"http://two.test/2 cookie= auth= proxy=Basic dTpw referer=http://one.test/1",
		"http://one.test/3 cookie=mine=1; from=one.test auth=Basic dXNlcjpwYXNz proxy=Basic dTpw referer=http://two.test/2",
	}
	if !slices.Equal(asked, want) {
		t.Errorf("the proxy saw\n%q, want\n%q", asked, want)
	}
	for _, name := range []string{"Cookie", "Proxy-Authorization", "Authorization"} {
		if got := resp.Request.Header[name]; got != nil {
			t.Errorf("the request of the response has the header %s: %q", name, got)
		}
	}
	if resp.Request.Options.Proxy != proxy {
		t.Errorf("the request of the response has the proxy %q", resp.Request.Options.Proxy)
	}
}
