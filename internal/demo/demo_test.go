package demo_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/skeincrawl/skein/internal/demo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask gets a path of a site in this process.
func ask(t *testing.T, s *demo.Site, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://demo.test"+path, nil))
	return w
}

// TestQuotes follows the links to the next page from the first to the last.
func TestQuotes(t *testing.T) {
	t.Parallel()
	s, path, seen := demo.New(), "/", map[string]bool{}
	next := regexp.MustCompile(`<li class="next"><a href="([^"]+)">`)
	for n := 1; n <= demo.Pages; n++ {
		body := ask(t, s, path).Body.String()
		if got := strings.Count(body, `<div class="quote">`); got != demo.PerPage {
			t.Errorf("%s has %d quotes, want %d", path, got, demo.PerPage)
		}
		for _, q := range demo.PageOf(n) {
			if seen[q.Text] || !strings.Contains(body, q.Text) || !strings.Contains(body, q.Author.Path()) {
				t.Errorf("%s: the quote %q is there twice, or not as told", path, q.Text)
			}
			seen[q.Text] = true
		}
		m := next.FindStringSubmatch(body)
		if (m == nil) != (n == demo.Pages) {
			t.Fatalf("%s: link to the next page: %v", path, m)
		}
		if m != nil {
			path = m[1]
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	s := demo.New()
	for _, tc := range []struct {
		path string
		code int
		body string
	}{
		{"/page/5/", 200, "page 5 of 5"},
		{"/page/6/", 404, ""},
		{"/page/0/", 404, ""},
		{"/page/x/", 404, ""},
		{"/author/ada-weaver/", 200, "March 3, 1871"},
		{"/author/nobody/", 404, ""},
		{"/nowhere", 404, ""},
		{"/robots.txt", 200, "Disallow: /private/\nSitemap: http://demo.test/sitemap.xml\n"},
		{"/private/x", 200, "stay out"},
		{"/sitemap.xml", 200, "<loc>http://demo.test/page/5/</loc>"},
		{"/sitemap.xml", 200, "<loc>http://demo.test/author/felix-bobbin/</loc>"},
		{"/account", 302, ""},
	} {
		if w := ask(t, s, tc.path); w.Code != tc.code || !strings.Contains(w.Body.String(), tc.body) {
			t.Errorf("%s: %d, want %d with %q in\n%s", tc.path, w.Code, tc.code, tc.body, w.Body)
		}
	}
}

// TestFail holds that the page answers the third try, again and again.
func TestFail(t *testing.T) {
	t.Parallel()
	s := demo.New()
	for i, want := range []int{503, 503, 200, 503, 503, 200} {
		if w := ask(t, s, "/fail"); w.Code != want {
			t.Errorf("try %d: %d, want %d", i+1, w.Code, want)
		}
	}
}

func TestSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, start := demo.New(), time.Now()
		if w := ask(t, s, "/slow"); w.Code != 200 || time.Since(start) != 2*time.Second {
			t.Errorf("%d after %v, want 200 after 2s", w.Code, time.Since(start))
		}
	})
}

var token = regexp.MustCompile(`name="csrf_token" value="([^"]+)"`)

// TestLogin goes through the form as a browser does.
func TestLogin(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(demo.New())
	t.Cleanup(srv.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Transport: srv.Client().Transport}
	send := func(form url.Values) (int, string) {
		t.Helper()
		method, path := http.MethodGet, "/account"
		if form != nil {
			method, path = http.MethodPost, "/login"
		}
		req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	if code, body := send(url.Values{"username": {"ann"}, "password": {"x"}}); code != 403 {
		t.Errorf("without the token: %d %s, want 403", code, body)
	}
	_, form := send(nil) // redirected to the login
	m := token.FindStringSubmatch(form)
	if m == nil {
		t.Fatalf("no form with a token in\n%s", form)
	}
	if code, _ := send(url.Values{"csrf_token": {m[1]}, "username": {"ann"}}); code != 401 {
		t.Errorf("without a password: %d, want 401", code)
	}
	if code, body := send(url.Values{"csrf_token": {m[1]}, "username": {"<ann>"}, "password": {"x"}}); code != 200 || !strings.Contains(body, "Account of &lt;ann&gt;") {
		t.Errorf("logged in: %d\n%s", code, body)
	}
	if _, body := send(nil); !strings.Contains(body, "Logout") {
		t.Errorf("the session is not kept:\n%s", body)
	}
}

func TestForgedSession(t *testing.T) {
	t.Parallel()
	s := demo.New()
	for _, value := range []string{"", "YW5u", "YW5u.YW5u", "%%.x", "."} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://demo.test/account", nil)
		r.AddCookie(&http.Cookie{Name: "session", Value: value})
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusFound {
			t.Errorf("session %q: %d, want to be sent to the login", value, w.Code)
		}
	}
}

// TestServeStops holds that a stop waits for what is open and returns nil.
func TestServeStops(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- demo.New().Serve(ctx, l) }()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := new(http.Transport).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if cerr := resp.Body.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Serve = %v, want nil", err)
	}
}

func TestServeFails(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := demo.New().Serve(t.Context(), l); err == nil {
		t.Error("Serve on a closed listener = nil, want an error")
	}
}
