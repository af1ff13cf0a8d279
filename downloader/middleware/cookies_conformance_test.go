package middleware

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/conformance"
)

// aCookie is a cookie of a vector: a value that is null or not there is none.
type aCookie struct {
	Name, Value, Domain *text
	Secure              *bool
}

// cookieStep is one message of a scenario. Cookies is an object from name to value
// or a list of cookies.
type cookieStep struct {
	Op, URL, Location string
	Status            int
	Cookies           cookieList
	Headers           map[string]string
	SetCookie         flat    `json:"set_cookie"`
	Cookie            *string `json:"expect_cookie"`
	Present           bool    `json:"expect_cookie_present"`
}

func TestConformanceCookies(t *testing.T) {
	conformance.Run(t, "cookies/scrapy_scenarios", func(t *conformance.Row, c struct {
		Test  string
		Steps []cookieStep
	},
	) {
		b := newBrowser(t, nil)
		var last *crawl.Request
		for i := 0; i < len(c.Steps); i++ {
			s := &c.Steps[i]
			switch s.Op {
			case "request", "request_after_redirect":
				if s.Op == "request" {
					last = &crawl.Request{URL: s.URL, Cookies: s.Cookies}
					for name, v := range s.Headers {
						last.Header = header(name, v)
					}
				}
				var set []string
				if i+1 < len(c.Steps) && c.Steps[i+1].Op == "response" {
					set = c.Steps[i+1].SetCookie
				}
				s.check(t, b.get(t, last, set...))
			case "redirect":
				last = hop(t, b.env, last, s.Status, s.Location)
			}
		}
	})
}

func (s *cookieStep) check(t testing.TB, got string) {
	t.Helper()
	if s.Present && got == "" {
		t.Errorf("%s: no cookies", s.URL)
	}
	if s.Cookie == nil {
		return
	}
	list := func(s string) []string { return slices.Sorted(strings.SplitSeq(s, "; ")) }
	if !slices.Equal(list(got), list(*s.Cookie)) {
		t.Errorf("%s: sent %q, want %q", s.URL, got, *s.Cookie)
	}
}

type cookieList []*http.Cookie

func (l *cookieList) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if b[0] == '[' {
		var all []aCookie
		if err := json.Unmarshal(b, &all); err != nil {
			return err
		}
		for _, c := range all {
			if c.Name != nil && c.Value == nil {
				continue // in Go there is no cookie without a value
			}
			*l = append(*l, c.make())
		}
		return nil
	}
	all := map[string]text{}
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	for name, v := range all {
		*l = append(*l, &http.Cookie{Name: name, Value: string(v)})
	}
	return nil
}

func (c *aCookie) make() *http.Cookie {
	or := func(s *text) string {
		if s == nil {
			return ""
		}
		return string(*s)
	}
	out := &http.Cookie{Name: or(c.Name), Value: or(c.Value), Domain: or(c.Domain)}
	if c.Secure != nil {
		if out.Secure = *c.Secure; !out.Secure {
			out.Unparsed = []string{"secure=false"}
		}
	}
	return out
}

// flat is a list of texts, some of them in lists of their own.
type flat []string

func (f *flat) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		var one text
		if err := json.Unmarshal(b, &one); err != nil {
			return err
		}
		*f = append(*f, string(one))
		return nil
	}
	var all []flat
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	for _, a := range all {
		*f = append(*f, a...)
	}
	return nil
}
