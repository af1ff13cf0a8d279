package httpcache

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/internal/conformance"
)

// vectors calls f for each case of a file of published test vectors. f returns
// why the case is not passed, and "" if it is; judge hears of each. What did not pass is logged as
// "family passed total" with the IDs.
func vectors[C any](t *testing.T, name string, f func(t *testing.T, c *C) string, judge func(t *testing.T, c *C, failure string)) {
	t.Helper()
	cases := conformance.Cases[C](t, name)
	total, others := len(cases), []string{}
	for i := range cases {
		id, c := cases[i].ID, &cases[i].V
		t.Run(id, func(t *testing.T) {
			failure := ""
			synctest.Test(t, func(t *testing.T) {
				<-time.After(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
				failure = f(t, c)
			})
			if failure != "" {
				others = append(others, id)
			}
			judge(t, c, failure)
		})
	}
	t.Logf("%s %d %d %s", strings.TrimSuffix(name, ".jsonl"), total-len(others), total, strings.Join(others, " "))
}

// A scrapyCase is a response and what becomes of it (HC-14 to HC-23).
type scrapyCase struct {
	Test    string
	Status  int
	Headers map[string]string `json:"response_headers"`

	Stored       bool  `json:"expected_stored"`
	StoredAlways bool  `json:"expected_stored_always_store"`
	Fresh        bool  `json:"expected_fresh"`
	With304      bool  `json:"expected_revalidates_with_304"`
	On500        *bool `json:"expected_served_on_500"`
	MaxStale     bool  `json:"expected_max_stale_served"`
}

func TestConformanceScrapy(t *testing.T) {
	vectors(t, "httpcache/scrapy_rfc2616.jsonl", func(t *testing.T, c *scrapyCase) string {
		switch c.Test {
		case "response_cacheability":
			return c.checkStored(t)
		case "cached_and_fresh":
			return c.checkFresh(t)
		case "cached_and_stale":
			return c.checkStale(t)
		}
		return "no such test: " + c.Test
	}, func(t *testing.T, c *scrapyCase, failure string) {
		if failure != "" {
			t.Errorf("%d %v: %s", c.Status, c.Headers, failure)
		}
	})
}

// begin returns an origin whose response is stored.
func (c *scrapyCase) begin(t *testing.T, always bool) *origin {
	o := newOrigin(t, map[string]any{"HTTPCACHE_POLICY": "scrapy.extensions.httpcache.RFC2616Policy", "HTTPCACHE_ALWAYS_STORE": always})
	pairs := []string{}
	for name, v := range c.Headers {
		if inner, ok := strings.CutPrefix(v, "{date"); ok {
			d, err := time.ParseDuration(strings.TrimSuffix(inner, "}") + "s")
			if err != nil {
				t.Fatal(err)
			}
			v = ago(-int(d.Seconds()))
		}
		pairs = append(pairs, name, v)
	}
	o.says(c.Status, "first", pairs...)
	o.get(t)
	return o
}

func (c *scrapyCase) checkStored(t *testing.T) string {
	for always, want := range map[bool]bool{false: c.Stored, true: c.StoredAlways} {
		o := c.begin(t, always)
		if got := o.env.Stats.Count("httpcache/store") == 1; got != want {
			return "stored wrongly"
		}
		o.says(http.StatusNotModified, "")
		if want && o.get(t).Status == http.StatusNotModified {
			return "a 304 came through"
		}
	}
	return ""
}

func (c *scrapyCase) checkFresh(t *testing.T) string {
	o := c.begin(t, false)
	o.fails(errLost)
	if resp := o.get(t); !isCached(resp) || o.env.Stats.Count("httpcache/hit") != 1 {
		return "not fresh"
	}
	o.says(http.StatusNotModified, "")
	if resp := o.get(t, "Cache-Control", "max-age=0"); string(resp.Body) != "first" || o.env.Stats.Count("httpcache/revalidate") != 1 {
		return "not revalidated with max-age=0"
	}
	return ""
}

func (c *scrapyCase) checkStale(t *testing.T) string {
	o := c.begin(t, false)
	if c.On500 != nil {
		o.says(http.StatusInternalServerError, "error")
		if got := isCached(o.get(t)); got != *c.On500 {
			return "served wrongly after a 500"
		}
	}
	if c.With304 {
		o = c.begin(t, false)
		o.says(http.StatusNotModified, "")
		if resp := o.get(t); string(resp.Body) != "first" || resp.Status != c.Status {
			return "no stored response after a 304"
		}
	}
	o = c.begin(t, false)
	o.says(c.Status, "second", "Last-Modified", ago(10))
	if got := isCached(o.get(t, "Cache-Control", "max-stale")); got != c.MaxStale {
		return "served wrongly with max-stale"
	}
	o = c.begin(t, false)
	o.says(c.Status, "second", "Last-Modified", ago(10), "Cache-Control", "max-age=60")
	if resp := o.get(t); isCached(resp) || string(resp.Body) != "second" {
		return "fresh"
	}
	if resp := o.get(t); !isCached(resp) || string(resp.Body) != "second" {
		return "the new response is not stored"
	}
	return ""
}

// The required cases that are not passed, by the reason. docs/http-cache.md lists
// them.
func (c *cacheCase) excuse() (why string, applies bool) {
	switch {
	case c.CDN:
		return "CDN-Cache-Control is for shared caches", false
	case c.BrowserSkip && (strings.Contains(c.Test, "s-maxage") || strings.HasSuffix(c.Test, "-shared")):
		return "s-maxage and private are for shared caches", false
	case strings.HasPrefix(c.Test, "partial-"):
		return "a request for a range passes by", true
	case strings.HasPrefix(c.Test, "stale-while-revalidate"):
		return "nothing is fetched in the background", true
	}
	return "", true
}

func TestConformanceCacheTests(t *testing.T) {
	apply, passed := 0, 0
	vectors(t, "httpcache/cache_tests.jsonl", func(t *testing.T, c *cacheCase) string {
		if err := c.run(t); err != nil {
			return err.Error()
		}
		return ""
	}, func(t *testing.T, c *cacheCase, failure string) {
		required := c.Kind == "" || c.Kind == "required"
		why, applies := c.excuse()
		if required && (applies || failure == "") {
			apply++
		}
		switch {
		case failure == "" && required:
			passed++
		case failure == "":
		case !required || why != "":
			t.Skipf("%s (%s): %s: %s", c.Test, c.Kind, why, failure)
		default:
			t.Errorf("%s: %s", c.Test, failure)
		}
	})
	t.Logf("httpcache/required %d %d", passed, apply)
	if passed*100 < apply*95 {
		t.Errorf("%d of %d required cases that apply to a private cache are passed, want 95 %%", passed, apply)
	}
}
