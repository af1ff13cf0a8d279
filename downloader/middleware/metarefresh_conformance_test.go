package middleware

import (
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

func TestConformanceFindRefresh(t *testing.T) {
	vectors(t, "links/meta_refresh.jsonl", func(t *testing.T, c struct {
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
		if strings.HasSuffix(c.Test, "no_catastrophic_backtracking_single_tag") {
			t.Skip("of an attribute that a tag repeats the first counts, and has no value there")
		}
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
	vectors(t, "redirect/scrapy_metarefresh.jsonl", func(t *testing.T, c struct {
		Test  string
		Steps []metaStep
	},
	) {
		if strings.Contains(c.Test, "proxy") {
			t.Skip("the proxy of a request is an option, which a redirect keeps")
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
				if crawl.KindOf(err) != crawl.FailIgnored {
					t.Errorf("error = %v, want %s", err, s.Expected.Raises)
				}
				continue
			}
			s.check(t, r, next)
		}
	})
}
