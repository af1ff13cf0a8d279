package httpcache

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/internal/conformance"
)

// runRow runs a case on a clock of its own, and fails the row if the case says
// why it is not passed.
func runRow(r *conformance.Row, run func(t *testing.T) error) {
	var failure error
	synctest.Test(r.T, func(t *testing.T) {
		<-time.After(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
		failure = run(t)
	})
	if failure != nil {
		r.Error(failure)
	}
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
	conformance.Run(t, "httpcache/scrapy_rfc2616", func(r *conformance.Row, c *scrapyCase) {
		run := map[string]func(t *testing.T) error{
			"response_cacheability": c.checkStored, "cached_and_fresh": c.checkFresh, "cached_and_stale": c.checkStale,
		}[c.Test]
		if run == nil {
			r.Skipf("test %s", c.Test)
		}
		runRow(r, run)
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

func (c *scrapyCase) checkStored(t *testing.T) error {
	for always, want := range map[bool]bool{false: c.Stored, true: c.StoredAlways} {
		o := c.begin(t, always)
		if got := o.env.Stats.Count("httpcache/store") == 1; got != want {
			return errors.New("stored wrongly")
		}
		o.says(http.StatusNotModified, "")
		if want && o.get(t).Status == http.StatusNotModified {
			return errors.New("a 304 came through")
		}
	}
	return nil
}

func (c *scrapyCase) checkFresh(t *testing.T) error {
	o := c.begin(t, false)
	o.fails(errLost)
	if resp := o.get(t); !isCached(resp) || o.env.Stats.Count("httpcache/hit") != 1 {
		return errors.New("not fresh")
	}
	o.says(http.StatusNotModified, "")
	if resp := o.get(t, "Cache-Control", "max-age=0"); string(resp.Body) != "first" || o.env.Stats.Count("httpcache/revalidate") != 1 {
		return errors.New("not revalidated with max-age=0")
	}
	return nil
}

func (c *scrapyCase) checkStale(t *testing.T) error {
	o := c.begin(t, false)
	if c.On500 != nil {
		o.says(http.StatusInternalServerError, "error")
		if got := isCached(o.get(t)); got != *c.On500 {
			return errors.New("served wrongly after a 500")
		}
	}
	if c.With304 {
		o = c.begin(t, false)
		o.says(http.StatusNotModified, "")
		if resp := o.get(t); string(resp.Body) != "first" || resp.Status != c.Status {
			return errors.New("no stored response after a 304")
		}
	}
	o = c.begin(t, false)
	o.says(c.Status, "second", "Last-Modified", ago(10))
	if got := isCached(o.get(t, "Cache-Control", "max-stale")); got != c.MaxStale {
		return errors.New("served wrongly with max-stale")
	}
	o = c.begin(t, false)
	o.says(c.Status, "second", "Last-Modified", ago(10), "Cache-Control", "max-age=60")
	if resp := o.get(t); isCached(resp) || string(resp.Body) != "second" {
		return errors.New("fresh")
	}
	if resp := o.get(t); !isCached(resp) || string(resp.Body) != "second" {
		return errors.New("the new response is not stored")
	}
	return nil
}

func TestConformanceCacheTests(t *testing.T) {
	conformance.Run(t, "httpcache/cache_tests", func(r *conformance.Row, c *cacheCase) { runRow(r, c.run) })
}
