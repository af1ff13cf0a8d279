package middleware

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/conformance"
)

func TestConformanceFindRefresh(t *testing.T) {
	conformance.Run(t, "links/meta_refresh", func(t *conformance.Row, c struct {
		Test     string
		Body     string
		Raw      []byte `json:"body_b64"`
		Document string `json:"document_url"`
		Encoding string
		Options  struct {
			Ignore *[]string `json:"ignore_tags"`
		}
		Delay *float64 `json:"expected_delay"`
		URL   *string  `json:"expected_url"`
	},
	) {
		ignore := []string{"noscript"}
		if c.Options.Ignore != nil {
			ignore = *c.Options.Ignore
		}
		page := &crawl.Response{URL: c.Document, Header: header("Content-Type", "text/html"), Body: []byte(c.Body)}
		if c.Encoding != "" {
			page.Header.Set("Content-Type", "text/html; charset="+c.Encoding)
		}
		if c.Raw != nil {
			page.Body = c.Raw
		}
		delay, ref, ok := findRefresh(page.Text(), true, ignore)
		if ok != (c.URL != nil) {
			t.Fatalf("found = %v, %q, want %v", ok, ref, c.URL)
		}
		if !ok {
			return
		}
		got, err := page.Join(ref)
		if err != nil || got != *c.URL || delay != time.Duration(*c.Delay*float64(time.Second)) {
			t.Errorf("got %v, %q, %v, want %v, %q", delay, got, err, *c.Delay, *c.URL)
		}
	})
}

func TestConformanceResponseHelpers(t *testing.T) {
	conformance.Run(t, "links/scrapy_response_helpers", func(r *conformance.Row, c struct {
		Fn, URL, Body string
		Expected      json.RawMessage // delay and URL
	},
	) {
		if c.Fn != "get_meta_refresh" {
			r.Skipf("function %s", c.Fn)
		}
		page := &crawl.Response{URL: c.URL, Header: header("Content-Type", "text/html"), Body: []byte(c.Body)}
		delay, ref, ok := findRefresh(page.Text(), true, []string{"script", "noscript"})
		var want [2]any
		if err := json.Unmarshal(c.Expected, &want); err != nil {
			r.T.Fatal(err)
		}
		got := [2]any{}
		if ok {
			u, err := page.Join(ref)
			if err != nil {
				r.Fatal(err)
			}
			got = [2]any{delay.Seconds(), u}
		}
		r.Equal(got, want)
	})
}

type metaStep struct {
	redirectStep
	Response struct {
		Class, Body string
		URL         any
	}
	Options struct {
		MaxTimes int `json:"max_redirect_times"`
	} `json:"middleware_options"`
}

func TestConformanceMetaRefresh(t *testing.T) {
	conformance.Run(t, "redirect/scrapy_metarefresh", func(t *conformance.Row, c struct {
		Test  string
		Steps []metaStep
	},
	) {
		if strings.Contains(c.Test, "system_proxy") {
			systemProxies(t, c.Test)
		}
		var results []*crawl.Request
		for i := range c.Steps {
			s := &c.Steps[i]
			o, ok := s.options()
			if !ok {
				t.Skipf("a request has no counterpart of %v", s.Request.Meta)
			}
			values := map[string]any{}
			if s.Options.MaxTimes > 0 {
				values["REDIRECT_MAX_TIMES"] = s.Options.MaxTimes
			}
			env, _ := newEnv(t, values)
			r := &crawl.Request{URL: s.Request.URL, Method: s.Request.Method, Body: []byte(s.Request.Body), Header: textHeader(s.Request.Headers), Options: o}
			if s.Request.From != nil {
				r = results[*s.Request.From]
			}
			next, err := refreshed(t, env, r, s.Response.Body)
			results = append(results, next)
			if s.Expected.Raises != "" {
				s.checkRaised(t, err)
				return
			}
			if strings.Contains(c.Test, "proxy") {
				s.checkProxy(t, env, next)
				continue
			}
			s.check(t, r, next)
		}
	})
}
