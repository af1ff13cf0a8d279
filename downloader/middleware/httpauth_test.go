package middleware

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
)

// passedOn returns a request as a middleware passes it on.
func passedOn(t testing.TB, name string, env *crawl.Env, r *crawl.Request) *crawl.Request {
	t.Helper()
	var sent *crawl.Request
	f := wrap(t, name, env, crawl.FetcherFunc(func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
		sent = r
		return &crawl.Response{Request: r, URL: r.URL, Status: 200}, nil
	}))
	if _, err := f.Fetch(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return sent
}

func TestHTTPAuth(t *testing.T) {
	domain := map[string]any{"HTTPAUTH_USER": "foo", "HTTPAUTH_PASS": "bar", "HTTPAUTH_DOMAIN": "example.com"}
	everywhere := map[string]any{"HTTPAUTH_USER": "foo", "HTTPAUTH_PASS": "bar", "HTTPAUTH_DOMAIN": "None"}
	own := crawl.Options{HTTPUser: "a", HTTPPass: "b"}
	const foobar, ab = "Basic Zm9vOmJhcg==", "Basic YTpi"
	redirected := crawl.Trail{Redirects: []crawl.Hop{{URL: "http://example.org/", Status: 302}, {URL: "http://else.org/", Status: 302}}}
	for _, tt := range []struct {
		name     string
		settings map[string]any
		r        crawl.Request
		want     string
	}{
		{"none", nil, crawl.Request{URL: "http://example.com/"}, ""},
		{"domain", domain, crawl.Request{URL: "http://example.com/"}, foobar},
		{"below it", domain, crawl.Request{URL: "https://www.example.com:8080/"}, foobar},
		{"not in it", domain, crawl.Request{URL: "http://badexample.com/"}, ""},
		{"another", domain, crawl.Request{URL: "http://example.org/"}, ""},
		{"everywhere", everywhere, crawl.Request{URL: "http://example.org/"}, foobar},
		{"header wins", everywhere, crawl.Request{URL: "http://example.org/", Header: http.Header{"authorization": {"Digest 123"}}}, "Digest 123"},
		{"no header at all", everywhere, crawl.Request{URL: "http://example.org/", Header: http.Header{"Authorization": {}}}, ""},
		{"own", domain, crawl.Request{URL: "http://example.com/", Options: own}, ab},
		{"own, user alone", nil, crawl.Request{URL: "http://example.com/", Options: crawl.Options{HTTPUser: "a"}}, "Basic YTo="},
		{"own, another host", nil, crawl.Request{URL: "http://example.com/", Options: own, Trail: redirected}, ""},
		{"own, back again", nil, crawl.Request{URL: "http://example.org/x", Options: own, Trail: redirected}, ab},
		{"own, no longer encrypted", nil, crawl.Request{URL: "http://s.test/", Options: own, Trail: crawl.Trail{Redirects: []crawl.Hop{{URL: "https://s.test/", Status: 302}}}}, ""},
		{"own domain, no longer encrypted", nil, crawl.Request{URL: "http://s.test/", Options: crawl.Options{HTTPUser: "a", HTTPDomain: "s.test"}, Trail: crawl.Trail{Redirects: []crawl.Hop{{URL: "https://s.test/", Status: 302}}}}, ""},
		{"own domain", nil, crawl.Request{URL: "http://www.example.com/", Options: crawl.Options{HTTPUser: "a", HTTPPass: "b", HTTPDomain: "Example.com"}, Trail: redirected}, ab},
		{"own domain, another, no other credentials", everywhere, crawl.Request{URL: "http://else.com/", Options: crawl.Options{HTTPUser: "a", HTTPDomain: "example.com"}}, ""},
		{"own domain, bad", everywhere, crawl.Request{URL: "http://else.com/", Options: crawl.Options{HTTPUser: "a", HTTPDomain: "http://else.com/"}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env, _ := newEnv(t, tt.settings)
			before := tt.r.Clone()
			values, _ := fold(passedOn(t, "httpauth", env, &tt.r).Header, "Authorization")
			if got := strings.Join(values, "|"); got != tt.want {
				t.Errorf("Authorization %q, want %q", got, tt.want)
			}
			if !reflect.DeepEqual(&tt.r, before) {
				t.Errorf("the request was changed: %+v", tt.r)
			}
		})
	}
}

// Credentials without a domain would go to every server that the crawl meets.
func TestHTTPAuthNeedsDomain(t *testing.T) {
	build, err := downloader.Middlewares.Lookup("httpauth")
	if err != nil {
		t.Fatal(err)
	}
	for want, values := range map[string]map[string]any{
		"HTTPAUTH_DOMAIN is not set": {"HTTPAUTH_PASS": "secret"},
		"want a domain such as":      {"HTTPAUTH_PASS": "secret", "HTTPAUTH_DOMAIN": "http://example.com"},
	} {
		env, _ := newEnv(t, values)
		if _, err := build(env); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
