package middleware

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
)

// paced is a slot that notes what it is told.
type paced struct {
	has  time.Duration
	told []time.Duration
}

func (p *paced) Delay() time.Duration { return p.has }

func (p *paced) SlowDown(delay time.Duration) { p.told = append(p.told, delay) }

// fetchIn fetches through a slot.
func (w *robotsWorld) fetchIn(t testing.TB, p *paced, r *crawl.Request) {
	t.Helper()
	if _, err := w.f.Fetch(downloader.WithPacer(t.Context(), p), r); err != nil && crawl.KindOf(err) != crawl.FailIgnored {
		t.Fatal(err)
	}
}

// RB-12: off, observe and enforce, for a slot that waits less, as long and longer.
func TestCrawlDelay(t *testing.T) {
	t.Parallel()
	const slower = "asks for 10s between two requests"
	for _, c := range []struct {
		mode    string
		has     time.Duration
		told    int
		stats   map[string]int64
		logged  int
		because string
	}{
		{"off", 0, 0, map[string]int64{"robotstxt/crawl_delay_count": 0}, 0, ""},
		{"observe", 0, 0, map[string]int64{"robotstxt/crawl_delay_count": 1, "robotstxt/crawl_delay_slower_count": 1}, 1, "it gets 0s (ROBOTSTXT_CRAWL_DELAY=observe)"},
		{"observe", 10 * time.Second, 0, map[string]int64{"robotstxt/crawl_delay_count": 1, "robotstxt/crawl_delay_slower_count": 0}, 0, ""},
		{"enforce", 2 * time.Second, 2, map[string]int64{"robotstxt/crawl_delay_count": 1, "robotstxt/crawl_delay_slower_count": 1, "robotstxt/crawl_delay_capped_count": 0}, 1, "and gets that"},
		{"enforce", 20 * time.Second, 2, map[string]int64{"robotstxt/crawl_delay_count": 1, "robotstxt/crawl_delay_slower_count": 0}, 0, ""},
	} {
		w := newRobots(t, map[string]any{"ROBOTSTXT_CRAWL_DELAY": c.mode}, body("User-agent: *\nCrawl-delay: 10\nDisallow: /no"))
		slot := &paced{has: c.has}
		w.fetchIn(t, slot, get("http://a.test/no"))
		w.fetchIn(t, slot, get("http://a.test/"))
		if len(slot.told) != c.told {
			t.Errorf("%s: the slot was told %v, want %d times 10s", c.mode, slot.told, c.told)
		}
		wantStats(t, w.env, c.stats)
		wantLog(t, w.log, slower, c.logged)
		if c.because != "" {
			wantLog(t, w.log, c.because, 1)
		}
	}
}

// The crawler's own group counts, and a maximum.
func TestCrawlDelayOfGroup(t *testing.T) {
	t.Parallel()
	w := newRobots(t, map[string]any{"ROBOTSTXT_CRAWL_DELAY": "enforce", "ROBOTSTXT_USER_AGENT": "mybot", "ROBOTSTXT_MAX_CRAWL_DELAY": "20s"},
		body("User-agent: *\nCrawl-delay: 10\nUser-agent: mybot\nRequest-rate: 1/1m"))
	slot := &paced{}
	w.fetchIn(t, slot, get("http://a.test/"))
	if len(slot.told) != 1 || slot.told[0] != time.Minute {
		t.Errorf("the slot was told %v, want 1m", slot.told)
	}
	wantStats(t, w.env, map[string]int64{"robotstxt/crawl_delay_capped_count": 1})
	wantLog(t, w.log, "asks for 1m0s between two requests; it gets 20s (ROBOTSTXT_MAX_CRAWL_DELAY)", 1)
}

// The slot is told when there is nothing to keep, so that others need not wait; but
// not by the request for robots.txt itself.
func TestCrawlDelayOfNothing(t *testing.T) {
	t.Parallel()
	w := newRobots(t, map[string]any{"ROBOTSTXT_CRAWL_DELAY": "enforce"}, body("User-agent: *\nDisallow: /no"))
	free := get("http://a.test/free")
	free.Options.NoRobots = true
	for _, r := range []*crawl.Request{get("http://a.test/"), get("http://a.test/no"), free, get("ftp://a.test/")} {
		slot := &paced{}
		w.fetchIn(t, slot, r)
		if len(slot.told) != 1 || slot.told[0] != 0 {
			t.Errorf("%v: the slot was told %v, want once 0", r, slot.told)
		}
	}
	slot := &paced{}
	w.fetchIn(t, slot, robotsRequest("http://a.test/robots.txt", &crawl.Options{}))
	if len(slot.told) > 0 {
		t.Errorf("the request for robots.txt told its slot %v", slot.told)
	}
}

// What is counted and logged once stays so when the file is read anew.
func TestCrawlDelayReadAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := body("User-agent: *\nCrawl-delay: 10")
		w := newRobots(t, nil, func(ctx context.Context, r *crawl.Request) (*crawl.Response, error) { return answer(ctx, r) })
		for range 3 {
			w.fetchIn(t, &paced{}, get("http://a.test/"))
			time.Sleep(robotsLifetime)
		}
		answer = statusOf(503)
		w.fetchIn(t, &paced{}, get("http://a.test/"))
		if len(w.fetched) != 4 {
			t.Errorf("%d fetches, want 4", len(w.fetched))
		}
		wantStats(t, w.env, map[string]int64{"robotstxt/crawl_delay_count": 1, "robotstxt/crawl_delay_slower_count": 1})
		wantLog(t, w.log, "asks for 10s", 1)
	})
}
