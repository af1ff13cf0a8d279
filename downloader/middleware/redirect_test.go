package middleware

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/internal/weburl"
)

// hop sends a request through the redirect middleware to a server that answers
// with a status and a location, and returns the request that follows, or nil.
func hop(t testing.TB, env *crawl.Env, r *crawl.Request, status int, location ...string) *crawl.Request {
	t.Helper()
	resp, err := redirected(t, env, r, status, location...)
	next := rescheduled(err)
	if next == nil && (err != nil || resp.Status != status) {
		t.Errorf("response = %v, %v, want that of the handler", resp, err)
	}
	return next
}

// redirected is what comes of such an answer.
func redirected(t testing.TB, env *crawl.Env, r *crawl.Request, status int, location ...string) (*crawl.Response, error) {
	t.Helper()
	h := http.Header{}
	if len(location) > 0 {
		h["Location"] = location
	}
	return wrap(t, "redirect", env, respond(&crawl.Response{Status: status, Header: h})).Fetch(t.Context(), r)
}

// RED-01, RED-12, SCH: the marks of a request on its way.
func TestRedirectKeeps(t *testing.T) {
	env, log := newEnv(t, nil)
	r := &crawl.Request{
		URL: "http://a.test/1", Priority: 3, DontFilter: true, NotBefore: time.Now(), Header: header("X-A", "1"),
		Options: crawl.Options{Slot: "own"}, Meta: map[string]any{"k": 1},
		Trail: crawl.Trail{Depth: 2, Start: true, Retries: 1},
	}
	one := hop(t, env, r, 302, "/2")
	two := hop(t, env, one, 301, "http://b.test/3")
	other := hop(t, env, one, 307, "/4")
	want := *r
	want.URL, want.Priority, want.NotBefore = "http://b.test/3", 7, time.Time{}
	want.Trail.Redirects = []crawl.Hop{{URL: "http://a.test/1", Status: 302}, {URL: "http://a.test/2", Status: 301}}
	if !reflect.DeepEqual(*two, want) {
		t.Errorf("request = %+v, want %+v", *two, want)
	}
	if got := other.Trail.Redirects[1].Status; got != 307 {
		t.Errorf("two redirects of one request share their trail: %v", other.Trail.Redirects)
	}
	if len(r.Trail.Redirects) != 0 || r.URL != "http://a.test/1" {
		t.Errorf("the request was changed: %+v", r)
	}
	wantLog(t, log, "Redirecting (302) to <GET http://a.test/2> from <GET http://a.test/1>", 1)
	if next := hop(t, env, &crawl.Request{URL: "http://a.test/"}, 302, "/x"); next.DontFilter {
		t.Error("the target of a filtered request is not filtered")
	}
}

// RED-02, RED-08, RED-23 and statuses that are no redirects.
func TestRedirectNot(t *testing.T) {
	env, _ := newEnv(t, nil)
	for _, tt := range []struct {
		id      string
		options crawl.Options
		status  int
		follows bool
	}{
		{"RED-02", crawl.Options{NoRedirect: true}, 301, false},
		{"RED-02", crawl.Options{}, 301, true},
		{"RED-23", crawl.Options{Statuses: []int{404, 301}}, 301, false},
		{"RED-23", crawl.Options{Statuses: []int{404}}, 301, true},
		{"RED-23", crawl.Options{AnyStatus: true}, 301, false},
		{"no redirect", crawl.Options{}, 300, false},
		{"no redirect", crawl.Options{}, 304, false},
		{"no redirect", crawl.Options{}, 200, false},
		{"no redirect", crawl.Options{}, 404, false},
	} {
		next := hop(t, env, &crawl.Request{URL: "http://a.test/", Options: tt.options}, tt.status, "/x")
		if (next != nil) != tt.follows {
			t.Errorf("%s: %d with %+v: followed = %v, want %v", tt.id, tt.status, tt.options, next != nil, tt.follows)
		}
	}
	if next := hop(t, env, &crawl.Request{URL: "http://a.test/"}, 301); next != nil {
		t.Errorf("RED-08: without Location the request is %v", next)
	}
	off, _ := newEnv(t, map[string]any{"REDIRECT_ENABLED": false}) // RED-29
	if next := hop(t, off, &crawl.Request{URL: "http://a.test/"}, 301, "/x"); next != nil {
		t.Errorf("RED-29: switched off the request is %v", next)
	}
}

// RED-03 to RED-07: the table of methods.
func TestRedirectMethod(t *testing.T) {
	env, _ := newEnv(t, nil)
	for _, tt := range []struct {
		id       string
		statuses []int
		methods  string
		get      bool
	}{
		{"RED-03", []int{301, 302}, "POST", true},
		{"RED-04", []int{301, 302}, "GET HEAD PUT DELETE PATCH", false},
		{"RED-05", []int{303}, "POST PUT DELETE PATCH", true},
		{"RED-06", []int{303}, "GET HEAD", false},
		{"RED-07", []int{307, 308}, "GET HEAD POST PUT DELETE", false},
	} {
		for _, status := range tt.statuses {
			for method := range strings.FieldsSeq(tt.methods) {
				r := &crawl.Request{URL: "http://a.test/", Method: method, Body: []byte("body"), Header: header(
					"Content-Type", "text/plain", "Content-Length", "4", "Content-Encoding", "x", "Content-Language", "en",
					"Content-Location", "/x", "X-Custom", "1")}
				next := hop(t, env, r, status, "/b")
				want := *r
				if tt.get {
					want.Method, want.Body, want.Header = "GET", nil, header("X-Custom", "1")
				}
				if next.Method != want.Method || string(next.Body) != string(want.Body) || !reflect.DeepEqual(next.Header, want.Header) {
					t.Errorf("%s: %d %s: %s %q %v", tt.id, status, method, next.Method, next.Body, next.Header)
				}
				if len(r.Header) != 6 {
					t.Fatalf("the request's own header became %v", r.Header)
				}
			}
		}
	}
}

// RED-11: an option makes the limit smaller, never larger.
func TestRedirectLimitOfRequest(t *testing.T) {
	for _, tt := range []struct{ limit, option, want int }{{5, 2, 2}, {2, 5, 2}, {2, 0, 2}} {
		env, _ := newEnv(t, map[string]any{"REDIRECT_MAX_TIMES": tt.limit})
		r, hops := &crawl.Request{URL: "http://a.test/", Options: crawl.Options{MaxRedirects: tt.option}}, 0
		for ; hops <= tt.limit; hops++ {
			_, err := redirected(t, env, r, 302, "/next")
			if crawl.KindOf(err) == crawl.FailIgnored {
				break
			}
			r = rescheduled(err)
		}
		if hops != tt.want {
			t.Errorf("%+v: %d redirects are followed", tt, hops)
		}
	}
}

// RED-10 and RED-29.
func TestRedirectLimit(t *testing.T) {
	for _, most := range []int{0, 1, 20} {
		env, log := newEnv(t, map[string]any{"REDIRECT_MAX_TIMES": most})
		f := wrap(t, "redirect", env, respond(&crawl.Response{Status: 302, Header: header("Location", "/x")}))
		n, _, err := attempts(t, f, &crawl.Request{URL: "http://a.test/"})
		var ignored *crawl.IgnoreError
		if n != most+1 || !errors.As(err, &ignored) || ignored.Reason != "max redirections reached" {
			t.Errorf("REDIRECT_MAX_TIMES %d: %d requests, %v", most, n, err)
		}
		wantLog(t, log, "/x>: max redirections reached", min(most, 1))
	}
}

// RED-13 to RED-17, RED-26, gocolly/colly#916.
func TestRedirectCredentials(t *testing.T) {
	const all = "Authorization Cookie Proxy-Authorization Referer X-A"
	for _, tt := range []struct{ id, from, to, want string }{
		{"RED-13", "https://a.test/", "https://a.test:443/b", all},
		{"RED-13", "http://a.test/", "http://A.test/b", all},
		{"RED-14", "https://a.test/", "https://a.test:8443/", "Cookie Referer X-A"},
		{"RED-15", "https://a.test/", "https://b.test/", "Referer X-A"},
		{"RED-15", "https://a.test/", "https://www.a.test/", "Referer X-A"},
		{"RED-16", "http://a.test/", "https://a.test/", "Cookie Referer X-A"},
		{"RED-17", "https://a.test/", "http://a.test/", "X-A"},
		{"RED-17", "https://a.test:8080/", "http://a.test:8080/", "X-A"},
		{"RED-26", "https://a.test/", "http://b.test/", "X-A"},
	} {
		env, _ := newEnv(t, nil)
		h := http.Header{}
		for name := range strings.FieldsSeq(all) {
			h.Set(name, "secret")
		}
		small := strings.ToLower("Authorization") // as a user may write it
		h[small] = []string{"secret"}
		next := hop(t, env, &crawl.Request{URL: tt.from, Header: h}, 307, tt.to)
		var got []string
		for name := range strings.FieldsSeq(all) {
			if next.Header.Get(name) != "" {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != tt.want || len(next.Header[small]) != strings.Count(tt.want, "Auth")/2 {
			t.Errorf("%s: from %s to %s kept %v, want %v", tt.id, tt.from, tt.to, got, tt.want)
		}
	}
}

// RED-20 to RED-22, RED-24, scrapy/scrapy#4032 and #2321, go_stdlib_gaps.
func TestRedirectTarget(t *testing.T) {
	for _, tt := range []struct{ id, from, location, want string }{
		{"RED-20", "http://a.test/302", "///i8n.example2.com/302", "http://i8n.example2.com/302"},
		{"RED-20", "https://a.test/x", "///b.test/new/1/", "https://b.test/new/1/"},
		{"backslashes", "http://a.test/", `\\b.test\x`, "http://b.test/x"},
		{"no scheme", "https://a.test/", "//b.test/x", "https://b.test/x"},
		{"RED-21", "http://a.test/1#frag", "/2", "http://a.test/2#frag"},
		{"RED-21", "http://a.test/1#frag", "/2#own", "http://a.test/2#own"},
		{"RED-21", "http://a.test/1#frag", "/2#", "http://a.test/2#"},
		{"RED-22", "http://a.test/", "/a\xe7\xe3o", "http://a.test/a%E7%E3o"},
		{"RED-22", "http://a.test/", "/ação", "http://a.test/a%C3%A7%C3%A3o"},
		{"#2321", "http://a.test/", "/\xd8\xa7", "http://a.test/%D8%A7"},
		{"spaces", "http://a.test/", " /a b ", "http://a.test/a%20b"},
		{"stray %", "http://a.test/", "/a%zz", "http://a.test/a%zz"},
		{"query only", "http://a.test/p?x=1", "?y=2", "http://a.test/p?y=2"},
		{"line breaks", "http://a.test/", "/a\tb", "http://a.test/ab"},
		{"RED-24", "http://a.test/", "data:,x", ""},
		{"RED-24", "http://a.test/", "file:///etc/passwd", ""},
		{"RED-24", "http://a.test/", "ftp://a.test/", ""},
		{"RED-24", "http://a.test/", "javascript:alert(1)", ""},
		{"empty", "http://a.test/", "", ""},
		{"blank", "http://a.test/", "  ", ""},
		{"bad port", "http://a.test/", "http://h:80a/", ""},
		{"bad port", "http://a.test/", "http://h:99999/", ""},
	} {
		if got := target(tt.from, tt.location); got != tt.want {
			t.Errorf("%s: %s with Location %q leads to %q, want %q", tt.id, tt.from, tt.location, got, tt.want)
		}
	}
}

func FuzzRedirectTarget(f *testing.F) {
	for _, s := range []string{"/a", "///b.test/", "\\\\b\\x", "/a\xe7", "http://[::1", "?%zz#x", "https://u:p@h:1/\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, location string) {
		to := target("https://a.test/dir/page?q#f", location)
		if to == "" {
			return
		}
		if s := weburl.Scheme(to); s != "http" && s != "https" {
			t.Errorf("Location %q leads to %q", location, to)
		}
		for i := range len(to) {
			if to[i] <= ' ' || to[i] >= 0x7f {
				t.Fatalf("Location %q leads to %q, which can not go on the wire", location, to)
			}
		}
	})
}

// apify/crawlee-python#1606: a retry is sent although it was seen. That does not go on to where it is
// redirected, which may be off the site, and seen as well.
func TestRedirectOfRetry(t *testing.T) {
	env, _ := newEnv(t, nil)
	env.Spec.AllowedDomains = []string{"a.test"}
	offsite := wrap(t, "offsite", env, respond(&crawl.Response{Status: 200}))
	hop := wrap(t, "redirect", env, respond(&crawl.Response{Status: 302, Header: header("Location", "http://b.test/")}))
	for _, wish := range []bool{false, true} {
		again, ok := downloader.NewRetryPolicy(env).Next(&crawl.Request{URL: "http://a.test/", DontFilter: wish}, "x")
		if !ok || !again.DontFilter {
			t.Fatalf("the retry is %+v", again)
		}
		_, err := hop.Fetch(t.Context(), again)
		to := rescheduled(err)
		if to == nil || to.DontFilter != wish {
			t.Fatalf("DontFilter of the spider = %v, of the redirect of a retry: %+v", wish, to)
		}
		if _, err := offsite.Fetch(t.Context(), to); (err == nil) != wish {
			t.Errorf("DontFilter of the spider = %v, off the site: %v", wish, err)
		}
	}
	back := &crawl.Request{URL: "http://b.test/", Trail: crawl.Trail{Redirects: []crawl.Hop{{URL: "http://b.test/", Status: 302}}}}
	_, err := hop.Fetch(t.Context(), back)
	if to := rescheduled(err); to == nil || !to.DontFilter || !to.Trail.Unfiltered {
		t.Errorf("a redirect back is %+v, want one that is sent again", to)
	} else if _, err := offsite.Fetch(t.Context(), to); err == nil {
		t.Error("a redirect back may leave the site")
	}
}

// The name of the host goes on within an origin only.
func TestRedirectDropsHost(t *testing.T) {
	env, _ := newEnv(t, nil)
	for location, want := range map[string]string{"/x": "virtual.test", "http://b.test/": "", "http://a.test:81/": ""} {
		f := wrap(t, "redirect", env, respond(&crawl.Response{Status: 302, Header: header("Location", location)}))
		_, err := f.Fetch(t.Context(), &crawl.Request{URL: "http://a.test/", Header: header("Host", "virtual.test")})
		if to := rescheduled(err); to == nil || to.Header.Get("Host") != want {
			t.Errorf("to %s: %+v, want the Host %q", location, to, want)
		}
	}
}
