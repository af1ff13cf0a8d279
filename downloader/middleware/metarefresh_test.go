package middleware

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/unicode"

	"github.com/skeincrawl/skein/crawl"
)

// refreshed sends an HTML page through the middleware. It returns the request
// that came of it, or nil and the error.
func refreshed(t testing.TB, env *crawl.Env, r *crawl.Request, body string, pairs ...string) (*crawl.Request, error) {
	t.Helper()
	h := header(pairs...)
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "text/html")
	}
	_, err := wrap(t, "metarefresh", env, respond(&crawl.Response{Status: 200, Header: h, Body: []byte(body)})).Fetch(t.Context(), r)
	return rescheduled(err), err
}

func metaTag(content string) string {
	return `<html><head><meta http-equiv="refresh" content="` + content + `"/></head></html>`
}

// RED-30 to RED-32, and the forms in which pages write it.
func TestMetaRefresh(t *testing.T) {
	t.Parallel()
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(metaTag("0; url=/n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ id, body, want string }{
		{"RED-30 in time", metaTag("5; url=/n"), "http://a.test/n"},
		{"RED-30 at the limit", metaTag("100; url=/n"), ""},
		{"RED-30 later", metaTag("1000; url=/n"), ""},
		{"RED-31", `<noscript><meta http-equiv="refresh" content="0; url=/n"></noscript>`, ""},
		{"after noscript", `<noscript></noscript><meta http-equiv=refresh content="0; url=/n">`, "http://a.test/n"},
		{"in a script", `<script>'<meta http-equiv="refresh" content="0; url=/n">'</script>`, ""},
		{"in a comment", `<!--<meta http-equiv="refresh" content="0; url=/n">-->`, ""},
		{"other order", `<meta content='0;URL="/n"' HTTP-EQUIV=Refresh>`, "http://a.test/n"},
		{"no url=", metaTag("0; /n"), "http://a.test/n"},
		{"comma", metaTag("0,url = /n"), "http://a.test/n"},
		{"entities", metaTag("0;url=&#39;/n?a=1&amp;b=2&#39;"), "http://a.test/n?a=1&b=2"},
		{"fraction", metaTag("99.5;url=/n"), "http://a.test/n"},
		{"reload", metaTag("5"), ""},
		{"no number", metaTag("url=/n"), ""},
		{"infinite", metaTag(strings.Repeat("9", 400) + ";url=/n"), ""},
		{"script URL", metaTag("0;url=javascript:alert(1)"), ""},
		{"file", metaTag("0;url=file:///etc/passwd"), ""},
		{"base", `<base href="http://b.test/dir/">` + metaTag("0;url=n"), "http://b.test/dir/n"},
		{"too far down", strings.Repeat("é", 4096) + metaTag("0;url=/n"), ""},
		{"far down", strings.Repeat("é", 4000) + metaTag("0;url=/n"), "http://a.test/n"},
		{"first of two", metaTag("0;url=/n") + metaTag("0;url=/m"), "http://a.test/n"},
		{"another header", `<meta http-equiv="X-UA-Compatible" content="0;url=/n">`, ""},
		{"UTF-16", utf16, "http://a.test/n"},
	} {
		t.Run(tt.id, func(t *testing.T) {
			t.Parallel()
			env, _ := newEnv(t, nil)
			got, err := refreshed(t, env, &crawl.Request{URL: "http://a.test/dir/page"}, tt.body)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("error = %v, want the response", err)
			case tt.want != "" && (got == nil || got.URL != tt.want):
				t.Errorf("next = %v, %v, want %s", got, err, tt.want)
			}
		})
	}
}

// RED-09, RED-01, RED-12.
func TestMetaRefreshRequest(t *testing.T) {
	t.Parallel()
	env, log := newEnv(t, nil)
	for _, method := range []string{"POST", "GET", "PUT", ""} {
		r := &crawl.Request{
			URL: "http://a.test/form", Method: method, Body: []byte("x=1"), Priority: 3, DontFilter: true, NotBefore: time.Now(),
			Header: header("Content-Type", "text/plain", "X-Custom", "y"),
		}
		got, err := refreshed(t, env, r, metaTag("1; url=/done"))
		if got == nil {
			t.Fatalf("%s: %v", method, err)
		}
		want := []crawl.Hop{{URL: "http://a.test/form", Status: 200}}
		if got.Verb() != "GET" || got.Body != nil || got.Header.Get("Content-Type") != "" || got.Header.Get("X-Custom") != "y" ||
			got.Priority != 5 || !got.DontFilter || !got.NotBefore.IsZero() || !slices.Equal(got.Trail.Redirects, want) {
			t.Errorf("%s: next = %+v", method, got)
		}
	}
	wantLog(t, log, "Redirecting (meta refresh) to <GET http://a.test/done> from <POST http://a.test/form>", 1)
}

// RED-02, RED-10, RED-29, RED-32 and what else is handed on.
func TestMetaRefreshNot(t *testing.T) {
	t.Parallel()
	body := metaTag("0; url=/n")
	many := crawl.Trail{Redirects: []crawl.Hop{{URL: "http://a.test/"}}}
	for name, tt := range map[string]struct {
		values map[string]any
		r      crawl.Request
		header []string
		ignore bool // the error is an Ignore
	}{
		"RED-02":       {r: crawl.Request{Options: crawl.Options{NoRedirect: true}}},
		"RED-10":       {values: map[string]any{"REDIRECT_MAX_TIMES": 1}, r: crawl.Request{Trail: many}, ignore: true},
		"RED-29":       {values: map[string]any{"METAREFRESH_ENABLED": false}},
		"RED-32":       {r: crawl.Request{URL: "file:///index.html"}},
		"HEAD":         {r: crawl.Request{Method: "HEAD"}},
		"text":         {header: []string{"Content-Type", "text/plain"}},
		"no time":      {values: map[string]any{"METAREFRESH_MAXDELAY": 0}},
		"ignored tags": {values: map[string]any{"METAREFRESH_IGNORE_TAGS": []string{"HEAD"}}},
	} {
		env, _ := newEnv(t, tt.values)
		if tt.r.URL == "" {
			tt.r.URL = "http://a.test/"
		}
		_, err := refreshed(t, env, &tt.r, body, tt.header...)
		if ig := (*crawl.IgnoreError)(nil); errors.As(err, &ig) != tt.ignore || !tt.ignore && err != nil {
			t.Errorf("%s: error = %v", name, err)
		}
	}
	env, _ := newEnv(t, map[string]any{"METAREFRESH_IGNORE_TAGS": []string{}})
	if got, err := refreshed(t, env, &crawl.Request{URL: "http://a.test/"}, "<noscript>"+body+"</noscript>"); got == nil {
		t.Errorf("noscript that counts: %v", err)
	}
	patient, _ := newEnv(t, map[string]any{"METAREFRESH_MAXDELAY": math.MaxInt})
	if got, err := refreshed(t, patient, &crawl.Request{URL: "http://a.test/"}, metaTag("999999; url=/n")); got == nil {
		t.Errorf("a time without bounds: %v", err)
	}
	wide := crawl.Request{URL: "http://a.test/", Options: crawl.Options{AnyStatus: true, Statuses: []int{200}}}
	if got, err := refreshed(t, env, &wide, body); got == nil {
		t.Errorf("the statuses of a callback do not matter: %v", err)
	}
}

// The page itself is neither decoded nor changed.
func TestMetaRefreshLeavesThePage(t *testing.T) {
	t.Parallel()
	env, _ := newEnv(t, nil)
	page := &crawl.Response{URL: "http://a.test/", Status: 200, Header: http.Header{}, Body: []byte(`<meta http-equiv="content-type">` + strings.Repeat("é", 9000))}
	f := wrap(t, "metarefresh", env, crawl.FetcherFunc(func(context.Context, *crawl.Request) (*crawl.Response, error) { return page, nil }))
	resp, err := f.Fetch(t.Context(), &crawl.Request{URL: "http://a.test/"})
	if err != nil || resp != page || len(resp.Body) != 18032 {
		t.Errorf("response = %v with %d bytes, %v", resp, len(resp.Body), err)
	}
}

func TestHasWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "qhttp-equi": false, "http-equiv": true, "<META HTTP-EQUIV=": true, "q Http-Equiv": true, "http-equi v": false,
		"q http-equiq": false, strings.Repeat("q", 20): false,
	} {
		if got := hasWord([]byte(text), "http-equiv", 'q'); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// BenchmarkMetaRefresh is a page without a refresh, one whose head has other
// such elements, and one that mentions it.
func BenchmarkMetaRefresh(b *testing.B) {
	text := strings.Repeat("<p>some words of a page of the usual kind</p>\n", 250)
	for name, body := range map[string]string{
		"plain": text, "equiv": `<meta http-equiv="content-type" content="text/html">` + text,
		"mentioned": `<meta http-equiv="content-type" content="text/html"><p>refreshments</p>` + text,
	} {
		b.Run(name, func(b *testing.B) {
			env, _ := newEnv(b, nil)
			page := &crawl.Response{URL: "http://a.test/", Status: 200, Header: header("Content-Type", "text/html"), Body: []byte(body)}
			f := wrap(b, "metarefresh", env, crawl.FetcherFunc(func(context.Context, *crawl.Request) (*crawl.Response, error) { return page, nil }))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Fetch(b.Context(), &crawl.Request{URL: "http://a.test/"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzMetaRefresh(f *testing.F) {
	f.Add(metaTag("5; url=/next"))
	f.Add(`<meta http-equiv=refresh content="0;url='x`)
	f.Fuzz(func(t *testing.T, text string) {
		delay, ref, ok := findRefresh(text, true, []string{"noscript"})
		if ok != (ref != "") || delay < 0 {
			t.Errorf("delay %v, reference %q, %v", delay, ref, ok)
		}
		if ok && !mayRefresh([]byte(text)) && len(text) <= 4*refreshChars {
			t.Error("the quick look misses it")
		}
	})
}
