package middleware

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/cookie"
)

// browser is the cookies middleware in front of a server of the test's choice.
type browser struct {
	crawl.Fetcher
	env  *crawl.Env
	log  *strings.Builder
	sent *crawl.Request
	set  []string // Set-Cookie headers of the next response
}

func newBrowser(t testing.TB, values map[string]any) *browser {
	t.Helper()
	b := &browser{}
	b.env, b.log = newEnv(t, values)
	b.Fetcher = wrap(t, "cookies", b.env, crawl.FetcherFunc(func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
		b.sent = r
		h := http.Header{}
		if b.set != nil {
			h["Set-Cookie"] = b.set
		}
		return &crawl.Response{Request: r, URL: r.URL, Status: 200, Header: h}, nil
	}))
	return b
}

// get sends a request and returns the Cookie header that goes out. The server
// answers with cookies.
func (b *browser) get(t testing.TB, r *crawl.Request, set ...string) string {
	t.Helper()
	b.set = set
	resp, err := b.Fetch(t.Context(), r)
	if err != nil || resp.Request != r {
		t.Fatalf("%v: response to %v, %v", r, resp.Request, err)
	}
	return strings.Join(b.sent.Header["Cookie"], "\n")
}

func at(u string) *crawl.Request { return &crawl.Request{URL: u} }

func TestCookies(t *testing.T) {
	b := newBrowser(t, nil)
	if got := b.get(t, at("http://a.test/"), "C1=value1; path=/"); got != "" {
		t.Errorf("CK-01: first request: %q", got)
	}
	if got := b.get(t, at("http://a.test/sub1/")); got != "C1=value1" {
		t.Errorf("CK-01: %q", got)
	}
	if got := b.get(t, &crawl.Request{URL: "http://a.test/", Cookies: []*http.Cookie{{Name: "galleta", Value: "salada"}}}); got != "C1=value1; galleta=salada" {
		t.Errorf("CK-07: %q", got)
	}
	if got := b.get(t, at("http://a.test:1104/")); got != "C1=value1; galleta=salada" {
		t.Errorf("CK-07, CK-09: %q", got)
	}
	if got := b.get(t, at("file:///etc/hosts")); got != "" {
		t.Errorf("CK-10: %q", got)
	}
	b.get(t, at("http://bad.test/"), "C1=in\xa1valid; path=/")
	if got := b.get(t, at("http://bad.test/sub1/")); got != "C1=in\xa1valid" {
		t.Errorf("CK-04: %q", got)
	}
	b.get(t, at("http://p.test/"), "C1=1; path=/foo", "C2=2; path=/bar", "C3=3; path=/foo", "C4=4; path=/foo; domain=other.test")
	for path, want := range map[string]string{"/foo": "C1=1; C3=3", "/bar": "C2=2", "/baz": ""} {
		if got := b.get(t, at("http://p.test"+path)); got != want {
			t.Errorf("CK-06: %s: %q, want %q", path, got, want)
		}
	}
	off, _ := newEnv(t, map[string]any{"COOKIES_ENABLED": false})
	next := failWith(nil)
	if got := wrap(t, "cookies", off, next); reflect.ValueOf(got).Pointer() != reflect.ValueOf(next).Pointer() {
		t.Error("CK-02: COOKIES_ENABLED=False does not turn it off")
	}
}

// CK-05.
func TestCookiesNotMerged(t *testing.T) {
	b := newBrowser(t, nil)
	b.get(t, at("http://a.test/"), "C1=value1")
	no := crawl.Options{NoCookies: true}
	r := &crawl.Request{URL: "http://a.test/", Options: no, Cookies: []*http.Cookie{{Name: "k", Value: "v"}}}
	if got := b.get(t, r, "C2=value2"); got != "" {
		t.Errorf("sent %q", got)
	}
	own := &crawl.Request{URL: "http://a.test/", Options: no, Header: header("Cookie", "mine=1")}
	if got := b.get(t, own); got != "mine=1" {
		t.Errorf("sent %q, want the header of the user", got)
	}
	if got := b.get(t, at("http://a.test/")); got != "C1=value1" {
		t.Errorf("sent %q later", got)
	}
}

// CK-08.
func TestCookieJars(t *testing.T) {
	b := newBrowser(t, nil)
	b.get(t, &crawl.Request{URL: "http://a.test/", Jar: "store1"}, "C=1")
	b.get(t, &crawl.Request{URL: "http://a.test/", Jar: "store2"}, "C=2")
	for jar, want := range map[string]string{"store1": "C=1", "store2": "C=2", "": "", "store3": ""} {
		if got := b.get(t, &crawl.Request{URL: "http://a.test/", Jar: jar}); got != want {
			t.Errorf("jar %q: %q, want %q", jar, got, want)
		}
	}
}

// CK-13, where we differ from Scrapy: the user's header is kept.
func TestCookieHeaderIsMerged(t *testing.T) {
	b := newBrowser(t, nil)
	b.get(t, at("http://a.test/"), "jar=1", "both=server", "set=server")
	r := &crawl.Request{
		URL: "http://a.test/", Header: http.Header{"cookie": {"both=user; x", "set=user;"}}, Cookies: []*http.Cookie{{Name: "set", Value: "new"}},
	}
	if got, want := b.get(t, r), "both=user; x; jar=1; set=new"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	if len(r.Header) != 1 || len(b.sent.Header) != 1 {
		t.Errorf("headers %v of the request, %v sent", r.Header, b.sent.Header)
	}
	if got := b.get(t, &crawl.Request{URL: "http://a.test/", Header: http.Header{"Cookie": {}}}); got != "" {
		t.Errorf("sent %q although the header is to be left out", got)
	}
}

// CK-03.
func TestCookiesDebug(t *testing.T) {
	b := newBrowser(t, map[string]any{"COOKIES_DEBUG": true})
	b.get(t, at("http://a.test/"))
	if b.log.Len() > 0 {
		t.Errorf("logged without cookies: %s", b.log)
	}
	b.get(t, at("http://a.test/"), "C1=value1; path=/", "C2=2")
	b.get(t, at("http://a.test/x"))
	wantLog(t, b.log, `Received cookies from: <200 http://a.test/>\nSet-Cookie: C1=value1; path=/\nSet-Cookie: C2=2\n"`, 1)
	wantLog(t, b.log, `Sending cookies to: <GET http://a.test/x>\nCookie: C1=value1; C2=2\n"`, 1)
	quiet := newBrowser(t, nil)
	quiet.get(t, at("http://a.test/"), "C1=value1")
	quiet.get(t, at("http://a.test/"))
	wantLog(t, quiet.log, "cookies", 0)
}

// CK-15, and what else is no cookie.
func TestInvalidCookies(t *testing.T) {
	b := newBrowser(t, nil)
	r := &crawl.Request{URL: "http://a.test/1", Cookies: []*http.Cookie{{Value: "bar"}, nil, {Name: "a;b", Value: "c"}, {Name: "key"}}}
	if got := b.get(t, r); got != "key=" {
		t.Errorf("sent %q", got)
	}
	wantLog(t, b.log, "Invalid cookie found in request <GET http://a.test/1>: ", 3)
	wantLog(t, b.log, "('name' is missing)", 1)
}

// CK-17 and CK-23 to CK-27: cookies over a redirect.
func TestCookiesOverRedirect(t *testing.T) {
	for _, tt := range []struct {
		id, from, to string
		cookie       http.Cookie
		first, then  string
	}{
		{"CK-17", "http://a.test/", "http://a.test/x", http.Cookie{}, "a=b", "a=b"},
		{"CK-17", "http://a.test/", "http://b.test/", http.Cookie{}, "a=b", ""},
		{"CK-23", "https://a.test/", "http://a.test/", http.Cookie{}, "a=b", ""},
		{"CK-24", "http://a.test/", "https://a.test/", http.Cookie{}, "a=b", "a=b"},
		{"CK-25", "https://a.test/", "http://a.test/", http.Cookie{Unparsed: []string{"secure=false"}}, "a=b", "a=b"},
		{"CK-26", "https://a.test/", "http://a.test/", http.Cookie{Secure: true}, "a=b", ""},
		{"CK-27", "http://a.test/", "https://a.test/", http.Cookie{Secure: true}, "", "a=b"},
		{"CK-19", "http://books.toscrape.com/", "http://quotes.toscrape.com/", http.Cookie{Domain: "toscrape.com"}, "a=b", "a=b"},
		{"scrapy#5841", "http://a.test/", "http://b.test/", http.Cookie{Domain: "b.test"}, "", "a=b"},
	} {
		for _, status := range []int{301, 302} {
			t.Run(fmt.Sprintf("%s %d", tt.id, status), func(t *testing.T) {
				b := newBrowser(t, nil)
				c := tt.cookie
				c.Name, c.Value = "a", "b"
				r := &crawl.Request{URL: tt.from, Cookies: []*http.Cookie{&c}}
				if got := b.get(t, r); got != tt.first {
					t.Errorf("first %q, want %q", got, tt.first)
				}
				next := hop(t, b.env, r, status, tt.to)
				if next.Cookies != nil || next.Header["Cookie"] != nil {
					t.Errorf("the redirect carries %v %v", next.Cookies, next.Header)
				}
				if got := b.get(t, next); got != tt.then {
					t.Errorf("then %q, want %q", got, tt.then)
				}
			})
		}
	}
}

// CK-18: without the middleware the header is the user's business.
func TestCookieHeaderOverRedirect(t *testing.T) {
	env, _ := newEnv(t, map[string]any{"COOKIES_ENABLED": false})
	r := &crawl.Request{URL: "http://a.test/", Header: header("Cookie", "a=b")}
	if next := hop(t, env, r, 302, "/x"); next.Header.Get("Cookie") != "a=b" {
		t.Errorf("same host: %v", next.Header)
	}
	if next := hop(t, env, r, 302, "http://b.test/"); next.Header["Cookie"] != nil {
		t.Errorf("another host: %v", next.Header)
	}
}

// Changes are noted with their step, and a job goes on with them.
func TestCookiesOfAJob(t *testing.T) {
	b := newBrowser(t, nil)
	var steps crawl.StepLog
	fetch := func(r *crawl.Request, set ...string) {
		b.set = set
		if _, err := b.Fetch(crawl.WithStepLog(t.Context(), &steps), r); err != nil {
			t.Fatal(err)
		}
	}
	fetch(at("http://a.test/"), "session=1", "old=1; Max-Age=1000", "gone=1", "raw=\xff")
	fetch(at("http://a.test/"), "session=2", "gone=; Max-Age=0", "raw=\xff")
	fetch(&crawl.Request{URL: "http://a.test/", Jar: "x", Cookies: []*http.Cookie{{Name: "mine", Value: "1"}}})
	var names []string
	changes := steps.TakeCookies()
	if err := cookie.ReadChanges(changes, func(c *cookie.Change) { names = append(names, c.Jar+c.Name) }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"session", "old", "gone", "raw", "session", "gone", "xmine"}; !slices.Equal(names, want) {
		t.Errorf("noted %q, want %q", names, want)
	}
	again := newBrowser(t, nil)
	expired := `{"name":"expired","value":"1","domain":"a.test","path":"/","expires":1}` + "\n"
	again.env.Cookies = append(changes, expired...)
	if err := crawl.Send(t.Context(), again.env.Signals, crawl.SpiderOpened{}); err != nil {
		t.Fatal(err)
	}
	if got, want := again.get(t, at("http://a.test/")), "session=2; old=1; raw=\xff"; got != want {
		t.Errorf("the resumed job sends %q, want %q", got, want)
	}
	if got := again.get(t, &crawl.Request{URL: "http://a.test/", Jar: "x"}); got != "mine=1" {
		t.Errorf("the resumed job sends %q from the jar x", got)
	}
	bad := newBrowser(t, nil)
	bad.env.Cookies = []byte("{")
	if err := crawl.Send(t.Context(), bad.env.Signals, crawl.SpiderOpened{}); err == nil || !strings.Contains(err.Error(), "restore the cookies of the job: cookie change 1") {
		t.Errorf("error = %v", err)
	}
}

// COOKIES_PERSIST=False keeps cookies out of the job, not out of the crawl.
func TestCookiesThatAreNotPersisted(t *testing.T) {
	b := newBrowser(t, map[string]any{"COOKIES_PERSIST": false})
	b.env.Cookies = []byte(`{"name":"old","value":"1","domain":"a.test","path":"/"}` + "\n")
	if err := crawl.Send(t.Context(), b.env.Signals, crawl.SpiderOpened{}); err != nil {
		t.Fatal(err)
	}
	var steps crawl.StepLog
	b.set = []string{"session=1"}
	for _, want := range []string{"", "session=1"} {
		if _, err := b.Fetch(crawl.WithStepLog(t.Context(), &steps), at("http://a.test/")); err != nil {
			t.Fatal(err)
		}
		if got := b.sent.Header.Get("Cookie"); got != want {
			t.Errorf("sent %q, want %q", got, want)
		}
	}
	if changes := steps.TakeCookies(); changes != nil {
		t.Errorf("noted %s, want nothing", changes)
	}
}

func TestCookiesFailure(t *testing.T) {
	env, _ := newEnv(t, nil)
	if _, err := wrap(t, "cookies", env, failWith(crawl.ErrStopped)).Fetch(t.Context(), at("http://a.test/")); err != crawl.ErrStopped { //nolint:errorlint // the very same.
		t.Errorf("error = %v", err)
	}
}
