package middleware

import (
	"errors"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// OFF-01 to OFF-06.
func TestOffsite(t *testing.T) {
	for _, tt := range []struct {
		id      string
		domains []string
		url     string
		ok      bool
	}{
		{"OFF-01", []string{"example.com"}, "http://example.com/1", true},
		{"OFF-01", []string{"example.com"}, "http://sub.example.com/1", true},
		{"OFF-01", []string{"example.com"}, "http://example.com:8000/1", true},
		{"OFF-02", []string{"example.com"}, "http://example.org/1", false},
		{"OFF-02", []string{"example.com"}, "http://example.org/example.com", false},
		{"OFF-02", []string{"example.com"}, "http://example.org/foo.example.com", false},
		{"OFF-02", []string{"example.com"}, "http://example.com.example", false},
		{"OFF-02", []string{"example.com"}, "http://example.com@example.org/", false},
		{"OFF-03", []string{"sub.example.com"}, "http://example.com/1", false},
		{"OFF-03", []string{"a.example"}, "http://nota.example", false},
		{"OFF-03", []string{"b.a.example"}, "http://notb.a.example", false},
		{"OFF-06", nil, "http://any.test/", true},
		{"OFF-06", []string{}, "http://any.test/", true},
		{"OFF-07", []string{"a.example", "", "http:////b.example", "//c.example"}, "http://a.example/", true},
		{"OFF-07", []string{"a.example", "", "http:////b.example", "//c.example"}, "http://b.example/", false},
		{"OFF-07", []string{"a.example", "", "http:////b.example", "//c.example"}, "http://c.example/", false},
		{"only junk allows nothing", []string{"http://a.example"}, "http://a.example/", false},
		{"case", []string{"Example.COM"}, "HTTP://SUB.eXample.com/", true},
		{"A-labels", []string{"bücher.example"}, "http://xn--bcher-kva.example/", true},
		{"IPv6", []string{"[::1]"}, "http://[0::1]:80/", true},
		{"no host", []string{"a.example"}, "data:,x", false},
	} {
		env, _ := newEnv(t, nil)
		env.Spec.AllowedDomains = tt.domains
		err := NewOffsite(env).Check(&crawl.Request{URL: tt.url})
		if (err == nil) != tt.ok {
			t.Errorf("%s: %s with %q: %v, want allowed = %v", tt.id, tt.url, tt.domains, err, tt.ok)
		}
	}
}

// OFF-04, OFF-05.
func TestOffsiteBypass(t *testing.T) {
	env, _ := newEnv(t, nil)
	env.Spec.AllowedDomains = []string{"a.example"}
	o := NewOffsite(env)
	for _, tt := range []struct{ dontFilter, allow bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		err := o.Check(&crawl.Request{URL: "http://b.example/", DontFilter: tt.dontFilter, Options: crawl.Options{AllowOffsite: tt.allow}})
		if want := tt.dontFilter || tt.allow; (err == nil) != want {
			t.Errorf("%+v: %v, want allowed = %v", tt, err, want)
		}
	}
}

// OFF-08, OFF-09.
func TestOffsiteRefusal(t *testing.T) {
	env, log := newEnv(t, nil)
	env.Spec.AllowedDomains = []string{"a.example"}
	f := wrap(t, "offsite", env, respond(&crawl.Response{Status: 200}))
	for range 2 {
		_, err := f.Fetch(t.Context(), &crawl.Request{URL: "http://other.org/1"})
		var ignored *crawl.IgnoreError
		if !errors.As(err, &ignored) || ignored.Reason != "Filtered offsite request to 'other.org'" {
			t.Errorf("error = %v", err)
		}
	}
	if resp, err := f.Fetch(t.Context(), &crawl.Request{URL: "http://a.example/"}); err != nil || resp.Status != 200 {
		t.Errorf("response = %v, %v", resp, err)
	}
	wantStats(t, env, map[string]int64{"offsite/domains": 1, "offsite/filtered": 2})
	wantLog(t, log, "Filtered offsite request to 'other.org': <GET http://other.org/1>", 1)
}

type listing struct{ crawl.Spider }

func (listing) AllowedDomains() []string { return []string{"b.example"} }

// The spider's own list replaces that of the spec, and is asked for late.
func TestOffsiteLister(t *testing.T) {
	env, _ := newEnv(t, nil)
	env.Spec.AllowedDomains = []string{"a.example"}
	o := NewOffsite(env)
	env.Spider = listing{}
	if err := o.Check(&crawl.Request{URL: "http://b.example/"}); err != nil {
		t.Error(err)
	}
	if err := o.Check(&crawl.Request{URL: "http://a.example/"}); err == nil {
		t.Error("a.example is allowed")
	}
}

func TestOffsiteAllocs(t *testing.T) {
	env, _ := newEnv(t, nil)
	env.Spec.AllowedDomains = []string{"example.com"}
	o, r := NewOffsite(env), &crawl.Request{URL: "https://a.b.example.com/path?q=1"}
	if got := testing.AllocsPerRun(100, func() { _ = o.Check(r) }); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}
