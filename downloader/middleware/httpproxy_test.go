package middleware

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
)

// proxied returns a request as the proxy middleware passes it on.
func proxied(t testing.TB, env *crawl.Env, r *crawl.Request) *crawl.Request {
	t.Helper()
	var sent *crawl.Request
	f := wrap(t, "httpproxy", env, crawl.FetcherFunc(func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
		sent = r
		return &crawl.Response{Request: r, URL: r.URL, Status: 200}, nil
	}))
	resp, err := f.Fetch(t.Context(), r)
	if err != nil || resp.Request != r {
		t.Fatalf("%v: %v, %v", r, resp, err)
	}
	return sent
}

// setProxies sets the environment: http_proxy, https_proxy, no_proxy.
func setProxies(t *testing.T, web, secure, none string) {
	t.Helper()
	for name, v := range map[string]string{"http_proxy": web, "https_proxy": secure, "no_proxy": none, "HTTP_PROXY": "", "HTTPS_PROXY": "", "NO_PROXY": ""} {
		t.Setenv(name, v)
	}
}

func TestHTTPProxy(t *testing.T) {
	const p1, p2 = "https://proxy.for.http:3128", "http://proxy.for.https:8080"
	for _, tt := range []struct {
		id, web, secure, none, url string
		options                    crawl.Options
		header                     string // Proxy-Authorization of the user
		proxy, auth                string
	}{
		{id: "PX-02", web: p1, secure: p2, url: "http://a.com/", proxy: p1},
		{id: "PX-02", web: p1, secure: p2, url: "https://a.com/", proxy: p2},
		{id: "PX-02", web: p1, secure: p2, url: "file:///etc/hosts"},
		{id: "PX-02", secure: p2, url: "http://a.com/"},
		{id: "PX-03", web: p1, url: "http://a.com/", options: crawl.Options{Proxy: "http://own:1"}, proxy: "http://own:1"},
		{id: "PX-03", web: p1, url: "http://a.com/", options: crawl.Options{NoProxy: true}},
		{id: "PX-03", web: p1, url: "http://a.com/", options: crawl.Options{NoProxy: true, Proxy: "http://own:1"}},
		{id: "PX-04", web: "https://user:pass@proxy:3128", url: "http://a.com/", proxy: "https://proxy:3128", auth: "Basic dXNlcjpwYXNz"},
		{id: "PX-04", url: "http://a.com/", options: crawl.Options{Proxy: "https://user:pass@proxy:3128"}, proxy: "https://proxy:3128", auth: "Basic dXNlcjpwYXNz"},
		{id: "PX-05", web: "https://user:@proxy:3128", url: "http://a.com/", proxy: "https://proxy:3128", auth: "Basic dXNlcjo="},
		{id: "PX-06", web: "https://m%C3%A1n:pass@proxy:3128", url: "http://a.com/", proxy: "https://proxy:3128", auth: "Basic beFuOnBhc3M="},
		{id: "PX-07", web: p1, none: "*", url: "http://noproxy.com/"},
		{id: "PX-07", web: "foo://x", secure: ":", none: "other.com, *", url: "http://noproxy.com/"},
		{id: "PX-07", web: p1, none: "other.com", url: "http://noproxy.com/", proxy: p1},
		{id: "PX-07", web: p1, none: "other.com,noproxy.com", url: "http://noproxy.com/"},
		{id: "PX-07", web: p1, none: "*", url: "http://noproxy.com/", options: crawl.Options{Proxy: "http://own:1"}, proxy: "http://own:1"},
		{id: "PX-08", web: p1, none: "/var/run/docker.sock", url: "http://noproxy.com/", proxy: p1},
		{id: "PX-12", url: "http://a.com/", header: "Basic x"},
		{id: "PX-12", web: p1, url: "http://a.com/", options: crawl.Options{NoProxy: true}, header: "Basic x"},
		{id: "PX-13", url: "http://a.com/", options: crawl.Options{Proxy: "http://own:1"}, header: "Basic x", proxy: "http://own:1", auth: "Basic x"},
		{id: "PX-14", url: "http://a.com/", options: crawl.Options{Proxy: "http://a:b@own:1"}, header: "Basic x", proxy: "http://own:1", auth: "Basic YTpi"},
		{id: "crawlee#2696", url: "http://a.com/", options: crawl.Options{Proxy: "http://u%40x:p%3A1@p:8000"}, proxy: "http://p:8000", auth: "Basic dUB4OnA6MQ=="},
		{id: "no scheme", web: "proxy:3128", url: "http://a.com/", proxy: "http://proxy:3128"},
		{id: "socks", url: "http://a.com/", options: crawl.Options{Proxy: "socks5://u:p@proxy"}, proxy: "socks5://proxy", auth: "Basic dTpw"},
	} {
		t.Run(tt.id, func(t *testing.T) {
			setProxies(t, tt.web, tt.secure, tt.none)
			env, _ := newEnv(t, nil)
			r := &crawl.Request{URL: tt.url, Options: tt.options, Header: header("X-A", "1")}
			if tt.header != "" {
				r.Header["proxy-authorization"] = []string{tt.header}
			}
			before := r.Clone()
			sent := proxied(t, env, r)
			var auth []string
			for name, values := range sent.Header {
				if strings.EqualFold(name, "Proxy-Authorization") {
					auth = append(auth, values...)
				}
			}
			if got := strings.Join(auth, "|"); sent.Options.Proxy != tt.proxy || got != tt.auth || sent.Header.Get("X-A") != "1" {
				t.Errorf("proxy %q with %q, want %q with %q", sent.Options.Proxy, got, tt.proxy, tt.auth)
			}
			if !reflect.DeepEqual(r, before) {
				t.Errorf("the request was changed: %+v", r)
			}
		})
	}
}

// no_proxy holds names, with all below them, and addresses, alone or as networks,
// with a port or without; however the URL writes the host.
func TestHTTPProxyNone(t *testing.T) {
	for _, tt := range []struct {
		none, direct, proxied string
	}{
		{"corp.test", "http://corp.test/ https://a.corp.test:8443/ http://CORP.test/ http://corp.test./ http://corp.test.:80/ http://u:p@corp.test/", "http://notcorp.test/ http://corp.test.evil.test/"},
		{"CORP.test.", "http://corp.test/ http://a.corp.test./", "http://corp/"},
		{".corp.test", "http://a.corp.test/ http://corp.test/", "http://notcorp.test/"},
		{"*.corp.test", "http://a.corp.test/", "http://corp.test/"},
		{"corp.test:8080", "http://corp.test:8080/", "http://corp.test/ http://corp.test:80/"},
		{"corp.test:443", "https://corp.test/", "http://corp.test/"},
		{"a.test , b.test,", "http://a.test/ http://b.test/", "http://c.test/"},
		{"10.0.0.0/8", "http://10.1.2.3/ http://0xa.1/ http://167772161/ http://[::ffff:10.0.0.1]/", "http://11.1.2.3/ http://ten.test/"},
		{"[fd00::1],fe80::/10", "http://[fd00::1]/ http://[FD00:0:0::1]:99/ http://[fe80::2]/", "http://[fd00::2]/"},
		{"bücher.test", "http://xn--bcher-kva.test/ http://bücher.test/", "http://buecher.test/"},
		{" * ", "http://a.test/ https://b.test/", ""},
		{"", "http://localhost/ http://127.0.0.1:8000/ http://[::1]/", "http://a.test/ http://my_host.test/ http://💩.test/"},
	} {
		setProxies(t, "http://proxy:1", "http://proxy:1", tt.none)
		env, _ := newEnv(t, nil)
		for want, urls := range map[string]string{"": tt.direct, "http://proxy:1": tt.proxied} {
			for u := range strings.FieldsSeq(urls) {
				if got := proxied(t, env, &crawl.Request{URL: u}).Options.Proxy; got != want {
					t.Errorf("no_proxy=%q: %s goes through %q, want %q", tt.none, u, got, want)
				}
			}
		}
	}
}

// PX-06, the other encoding.
func TestHTTPProxyEncoding(t *testing.T) {
	setProxies(t, "", "", "")
	env, _ := newEnv(t, map[string]any{"HTTPPROXY_AUTH_ENCODING": "UTF-8"})
	r := &crawl.Request{URL: "http://a.com/", Options: crawl.Options{Proxy: "https://m%C3%A1n:pass@proxy:3128"}}
	if got := proxied(t, env, r).Header.Get("Proxy-Authorization"); got != "Basic bcOhbjpwYXNz" {
		t.Errorf("%q", got)
	}
}

// PX-09, PX-11: nothing of one proxy stays with the request for the next.
func TestHTTPProxyChanges(t *testing.T) {
	setProxies(t, "", "", "")
	env, _ := newEnv(t, nil)
	r := &crawl.Request{URL: "http://a.com/"}
	for _, tt := range []struct{ id, proxy, url, auth string }{
		{"PX-09", "https://a:b@one:1", "https://one:1", "Basic YTpi"},
		{"PX-09", "https://c:d@two:2", "https://two:2", "Basic Yzpk"},
		{"PX-11", "https://two:2", "https://two:2", ""},
		{"PX-11", "https://three:3", "https://three:3", ""},
		{"PX-11", "", "", ""},
	} {
		next := r.Clone()
		next.Options.Proxy = tt.proxy
		if sent := proxied(t, env, next); sent.Options.Proxy != tt.url || sent.Header.Get("Proxy-Authorization") != tt.auth {
			t.Errorf("%s: %q: %q %v", tt.id, tt.proxy, sent.Options.Proxy, sent.Header)
		}
		r = next
	}
}

// A proxy that cannot be used is an error and never a request that goes directly,
// where we differ from Scrapy (PX-15). No message has the password.
func TestHTTPProxyUnusable(t *testing.T) {
	setProxies(t, "", "", "")
	env, _ := newEnv(t, nil)
	f := wrap(t, "httpproxy", env, crawl.FetcherFunc(func(context.Context, *crawl.Request) (*crawl.Response, error) {
		t.Error("the request went out")
		return &crawl.Response{}, nil
	}))
	for _, proxy := range []string{"//", "gopher://u:secret@p:1", "http://", "http://u:secret@p:x", "http://\u4e2d:secret@p:1"} {
		_, err := f.Fetch(t.Context(), &crawl.Request{URL: "http://a.com/", Options: crawl.Options{Proxy: proxy}})
		if crawl.KindOf(err) != crawl.FailUnsupported || downloader.ErrorName(err) != "ProxyError" || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: error %v", proxy, err)
		}
	}
	setProxies(t, "gopher://u:secret@p:1", "", "")
	build, err := downloader.Middlewares.Lookup("httpproxy")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := build(env); err == nil || !strings.HasPrefix(err.Error(), "http_proxy in the environment: ") || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
	off, _ := newEnv(t, map[string]any{"HTTPPROXY_ENABLED": false}) // PX-01
	if m, err := build(off); m != nil || err != nil {
		t.Errorf("PX-01: switched off it is %v, %v", m, err)
	}
}

// RED-19, scrapy#767: the proxy of the environment is chosen anew for what a redirect leads
// to, of its scheme.
func TestHTTPProxyOfARedirect(t *testing.T) {
	setProxies(t, "http://web:1", "http://u:p@secure:2", "")
	env, _ := newEnv(t, nil)
	for _, tt := range []struct{ id, from, to, proxy, auth string }{
		{"same scheme", "http://a.test/", "http://b.test/", "http://web:1", ""},
		{"other scheme", "http://a.test/", "https://a.test/", "http://secure:2", "Basic dTpw"},
		{"back", "https://a.test/", "http://a.test/", "http://web:1", ""},
	} {
		var sent *crawl.Request
		wire := crawl.FetcherFunc(func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
			sent = r
			return &crawl.Response{Request: r, URL: r.URL, Status: 302, Header: header("Location", tt.to)}, nil
		})
		f := wrap(t, "redirect", env, wrap(t, "httpproxy", env, wire))
		_, err := f.Fetch(t.Context(), &crawl.Request{URL: tt.from})
		next := rescheduled(err)
		if next == nil || next.Options.Proxy != "" || next.Header.Get("Proxy-Authorization") != "" {
			t.Fatalf("%s: the redirect is %+v, %v, want one without a proxy", tt.id, next, err)
		}
		_, _ = f.Fetch(t.Context(), next)
		if got := sent.Header.Get("Proxy-Authorization"); sent.URL != tt.to || sent.Options.Proxy != tt.proxy || got != tt.auth {
			t.Errorf("%s: %v was sent to %q with %q, want %q with %q", tt.id, sent, sent.Options.Proxy, got, tt.proxy, tt.auth)
		}
	}
}
