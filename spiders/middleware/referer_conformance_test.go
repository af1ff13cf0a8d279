package middleware

import (
	"net/http"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/conformance"
)

// wantReferer checks one line of a vector. A nil want is no Referer.
func wantReferer(t testing.TB, env *crawl.Env, h http.Header, from, to string, o crawl.Options, want *string) {
	t.Helper()
	got := refererFor(t, env, from, h, &crawl.Request{URL: to, Options: o})
	switch {
	case want == nil && len(got) > 0:
		t.Errorf("%s → %s: Referer %q, want none", from, to, got)
	case want != nil && (len(got) != 1 || got[0] != *want):
		t.Errorf("%s → %s: Referer %q, want %q", from, to, got, *want)
	}
}

func TestConformanceRefererPolicy(t *testing.T) {
	conformance.Run(t, "referer/scrapy_policy", func(t *conformance.Row, c struct {
		Policy  string
		From    string `json:"from_url"`
		To      string `json:"to_url"`
		Referer *string
	},
	) {
		env, _ := newEnv(t, map[string]any{"REFERRER_POLICY": c.Policy})
		wantReferer(t, env, nil, c.From, c.To, crawl.Options{}, c.Referer)
	})
}

func TestConformanceRefererSource(t *testing.T) {
	conformance.Run(t, "referer/scrapy_policy_source", func(t *conformance.Row, c struct {
		Setting map[string]any
		Meta    struct {
			Policy string `json:"referrer_policy"`
		} `json:"request_meta"`
		Headers map[string]string `json:"response_headers"`
		Cases   [][3]*string
	},
	) {
		env, _ := newEnv(t, c.Setting)
		h := http.Header{}
		for name, v := range c.Headers {
			if word, method, ok := strings.Cut(v, "."); ok { // of Python, on the text before it
				v = map[string]func(string) string{"swapcase": strings.ToUpper, "upper": strings.ToUpper, "lower": strings.ToLower, "title": title}[method](word)
			}
			h.Set(name, v)
		}
		for _, k := range c.Cases {
			wantReferer(t, env, h, *k[0], *k[1], crawl.Options{ReferrerPolicy: c.Meta.Policy}, k[2])
		}
	})
}

func title(s string) string {
	words := strings.Split(s, "-")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "-")
}
