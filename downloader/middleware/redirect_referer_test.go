package middleware

import (
	"net/http"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// RED-25 to RED-28.
func TestRedirectReferer(t *testing.T) {
	for _, tt := range []struct {
		id, from, to, old string
		settings          map[string]any
		options           crawl.Options
		policy            string
		want              string
	}{
		{id: "RED-25", from: "http://a.test/1", to: "http://b.test/2", old: "http://old.test/", want: "http://a.test/1"},
		{id: "RED-25", from: "http://u:p@a.test/1", to: "/2", old: "http://old.test/", want: "http://a.test/1"},
		{id: "none is added", from: "http://a.test/1", to: "/2"},
		{id: "RED-26", from: "https://a.test/1", to: "http://a.test/2", old: "https://a.test/0"},
		{id: "RED-27", from: "http://a.test/1", to: "/2", old: "http://old.test/", policy: "origin", want: "http://a.test/"},
		{id: "RED-27", from: "https://a.test/1", to: "http://a.test/2", old: "http://old.test/", policy: "unsafe-url", want: "https://a.test/1"},
		{id: "RED-27", from: "http://a.test/1", to: "/2", old: "http://old.test/", policy: "no-referrer"},
		{id: "of the request", from: "http://a.test/1", to: "/2", old: "http://old.test/", policy: "no-referrer", options: crawl.Options{ReferrerPolicy: "origin"}, want: "http://a.test/"},
		{id: "setting", from: "http://a.test/1", to: "/2", old: "http://old.test/", settings: map[string]any{"REFERRER_POLICY": "no-referrer"}},
		{id: "RED-28", from: "http://a.test/1", to: "/2", old: "http://old.test/", settings: map[string]any{"REFERER_ENABLED": false}},
		{id: "RED-28", from: "http://a.test/1", to: "/2", old: "http://old.test/", settings: map[string]any{"SPIDER_MIDDLEWARES": map[string]any{"referer": nil}}},
	} {
		t.Run(tt.id, func(t *testing.T) {
			env, log := newEnv(t, tt.settings)
			r := &crawl.Request{URL: tt.from, Options: tt.options, Header: http.Header{"X-A": {"1"}}}
			if tt.old != "" {
				r.Header["referer"] = []string{tt.old}
			}
			h := http.Header{"Location": {tt.to}}
			if tt.policy != "" {
				h.Set("Referrer-Policy", tt.policy)
			}
			_, err := wrap(t, "redirect", env, respond(&crawl.Response{Status: 302, Header: h})).Fetch(t.Context(), r)
			next := rescheduled(err)
			if next == nil {
				t.Fatal(err)
			}
			values, has := fold(next.Header, "Referer")
			if has != (tt.want != "") || has && (len(values) != 1 || values[0] != tt.want) || next.Header.Get("X-A") != "1" {
				t.Errorf("Referer %q, want %q; header %v", values, tt.want, next.Header)
			}
			if err := crawl.Send(t.Context(), env.Signals, crawl.EngineStarted{}); err != nil {
				t.Fatal(err)
			}
			warnings := 0
			if tt.id == "RED-28" {
				warnings = 1
			}
			wantLog(t, log, "requests lose their Referer", warnings)
		})
	}
}

// RED-18, gocolly#916, scrapy#7601: credentials for a proxy stay with the proxy
// that the request asked for.
func TestRedirectProxyAuthorization(t *testing.T) {
	env, _ := newEnv(t, nil)
	r := &crawl.Request{URL: "http://a.test/", Header: header("Proxy-Authorization", "Basic x")}
	if next := hop(t, env, r, 302, "http://b.test/"); next.Header["Proxy-Authorization"] != nil {
		t.Errorf("without a proxy: %v", next.Header)
	}
	r.Options.Proxy = "http://proxy:1"
	if next := hop(t, env, r, 302, "https://b.test/"); next.Header.Get("Proxy-Authorization") != "Basic x" || next.Options.Proxy != r.Options.Proxy {
		t.Errorf("with a proxy: %v, %+v", next.Header, next.Options)
	}
}
