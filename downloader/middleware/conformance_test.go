package middleware

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/conformance"
)

func TestConformanceOffsite(t *testing.T) {
	conformance.Run(t, "misc/offsite", func(t *conformance.Row, c struct {
		Domains []string `json:"allowed_domains"`
		URL     string
		Allowed bool
	},
	) {
		env, _ := newEnv(t, nil)
		env.Spec.AllowedDomains = c.Domains
		if err := NewOffsite(env).Check(&crawl.Request{URL: c.URL}); (err == nil) != c.Allowed {
			t.Errorf("%s in %q: %v, want allowed = %v", c.URL, c.Domains, err, c.Allowed)
		}
	})
}

// A text of a vector is a string, or bytes in base64.
type text string

func (s *text) UnmarshalJSON(b []byte) error {
	var coded struct{ B64 string }
	if b[0] == '"' {
		return json.Unmarshal(b, (*string)(s))
	}
	if err := json.Unmarshal(b, &coded); err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(coded.B64)
	*s = text(raw)
	return err
}

type redirectStep struct {
	Request struct {
		URL, Method, Body string
		Headers           map[string]text
		Meta              map[string]any
		From              *int `json:"$from_step"`
	}
	Response struct {
		Status  int
		Headers map[string]text
	}
	Expected struct {
		URL, Method, Raises string
		Body                *string
		Headers             map[string]string
		All                 map[string]string `json:"all_headers"`
		Absent              []string          `json:"headers_absent"`
		Same                bool              `json:"same_response"`
		Unchanged           bool              `json:"headers_same_as_request"`
		Meta                struct {
			URLs  []string `json:"redirect_urls"`
			Proxy string
		}
	}
}

// options maps Scrapy's meta keys. It reports false for keys that this program
// does not have.
func (s *redirectStep) options() (o crawl.Options, ok bool) {
	for key, v := range s.Request.Meta {
		switch key {
		case "handle_httpstatus_all":
			o.AnyStatus = v == true
		case "handle_httpstatus_list":
			for _, code := range v.([]any) {
				o.Statuses = append(o.Statuses, int(code.(float64)))
			}
		case "dont_redirect":
			o.NoRedirect = v == true
		case "redirect_ttl":
			o.MaxRedirects = int(v.(float64))
		case "proxy":
			o.Proxy = v.(string)
		default:
			return o, false
		}
	}
	return o, true
}

func TestConformanceRedirect(t *testing.T) {
	conformance.Run(t, "redirect/scrapy_redirect", func(t *conformance.Row, c struct {
		Test  string
		Steps []redirectStep
	},
	) {
		if strings.Contains(c.Test, "system_proxy") {
			systemProxies(t, c.Test)
		}
		env, _ := newEnv(t, map[string]any{"REFERER_ENABLED": !strings.Contains(c.Test, "no_middleware")})
		var results []*crawl.Request
		for i := range c.Steps {
			s := &c.Steps[i]
			o, ok := s.options()
			if !ok {
				t.Skipf("a request has no counterpart of %v", s.Request.Meta)
			}
			r := &crawl.Request{URL: s.Request.URL, Method: s.Request.Method, Body: []byte(s.Request.Body), Header: textHeader(s.Request.Headers), Options: o}
			if s.Request.From != nil {
				r = results[*s.Request.From]
			}
			location := textHeader(s.Response.Headers)["Location"]
			if s.Expected.Raises != "" {
				_, err := redirected(t, env, r, s.Response.Status, location...)
				s.checkRaised(t, err)
				return
			}
			next := hop(t, env, r, s.Response.Status, location...)
			results = append(results, next)
			if strings.Contains(c.Test, "proxy") {
				s.checkProxy(t, env, next)
				continue
			}
			s.check(t, r, next)
		}
	})
}

// systemProxies sets the environment that a vector's name tells of.
func systemProxies(t testing.TB, test string) {
	t.Helper()
	for _, name := range []string{"http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"} {
		t.Setenv(name, "")
	}
	for scheme, url := range map[string]string{"http": "https://a:@a.example", "https": "https://b:@b.example"} {
		single := strings.Contains(test, "system_proxy_"+scheme+"_") // both requests of one scheme
		if single || strings.Contains(test+"_", "_proxied_"+scheme+"_") {
			if single {
				url = "https://a:@a.example"
			}
			t.Setenv(scheme+"_proxy", url)
		}
	}
}

func (s *redirectStep) checkRaised(t testing.TB, err error) {
	t.Helper()
	if crawl.KindOf(err) != crawl.FailIgnored {
		t.Errorf("error = %v, want %s", err, s.Expected.Raises)
	}
}

// checkProxy compares where a request that was redirected goes. In Scrapy that
// is part of the request, here of what the proxy middleware makes of it.
func (s *redirectStep) checkProxy(t testing.TB, env *crawl.Env, next *crawl.Request) {
	t.Helper()
	sent := proxied(t, env, next)
	if got := sent.Options.Proxy; got != s.Expected.Meta.Proxy {
		t.Errorf("%v goes to the proxy %q, want %q", next, got, s.Expected.Meta.Proxy)
	}
	if got, want := sent.Header.Get("Proxy-Authorization"), s.Expected.Headers["Proxy-Authorization"]; got != want {
		t.Errorf("%v: Proxy-Authorization %q, want %q", next, got, want)
	}
}

func textHeader(m map[string]text) http.Header {
	h := http.Header{}
	for name, v := range m {
		h.Set(name, string(v))
	}
	return h
}

func (s *redirectStep) check(t testing.TB, r, next *crawl.Request) {
	t.Helper()
	want := &s.Expected
	if want.Same || next == nil {
		if !want.Same || next != nil {
			t.Errorf("next = %v, want the response = %v", next, want.Same)
		}
		return
	}
	if want.URL != "" && next.URL != want.URL || want.Method != "" && next.Method != want.Method {
		t.Errorf("next = %v, want %s %s", next, want.Method, want.URL)
	}
	if want.Body != nil && string(next.Body) != *want.Body {
		t.Errorf("body = %q, want %q", next.Body, *want.Body)
	}
	s.checkHeader(t, r, next)
	for i, u := range want.Meta.URLs {
		if i >= len(next.Trail.Redirects) || next.Trail.Redirects[i].URL != u {
			t.Errorf("trail = %v, want %v", next.Trail.Redirects, want.Meta.URLs)
		}
	}
}

func (s *redirectStep) checkHeader(t testing.TB, r, next *crawl.Request) {
	t.Helper()
	want := &s.Expected
	all := http.Header{}
	for name, v := range want.All {
		all.Set(name, v)
	}
	if want.All != nil && !reflect.DeepEqual(next.Header, all) || want.Unchanged && !reflect.DeepEqual(next.Header, r.Header) {
		t.Errorf("header = %v, want %v", next.Header, all)
	}
	for name, v := range want.Headers {
		if got := next.Header.Get(name); got != v {
			t.Errorf("header %s = %q, want %q", name, got, v)
		}
	}
	for _, name := range want.Absent {
		if got, has := next.Header[name]; has {
			t.Errorf("header %s = %q, want none", name, got)
		}
	}
}
