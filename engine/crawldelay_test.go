package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// polite serves pages of hosts that ask for a delay: the number in their names.
func (p *probe) polite(t *testing.T, v *visits) {
	t.Helper()
	p.serveHosts(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			time.Sleep(latency(r))
			fmt.Fprintf(w, "User-agent: *\nCrawl-delay: %s\n", strings.Trim(r.Host, "abcdefghijklmnopqrstuvwxyz."))
			return
		}
		v.enter(r.Host)
		time.Sleep(50*time.Millisecond + latency(r))
		v.leave(r.Host)
		fmt.Fprint(w, "x")
	})
}

// visit lets Start emit n requests to each host, in turn.
func (p *probe) visit(n int, hosts ...string) *probe {
	var all []string
	for i := range n {
		for _, host := range hosts {
			all = append(all, fmt.Sprintf("http://%s/%d", host, i))
		}
	}
	return p.starts(all...)
}

// RB-12: ROBOTSTXT_CRAWL_DELAY=enforce, from the first request of a host on, also
// for fetches within steps and beside AutoThrottle; who asks for nothing does not
// wait.
func TestCrawlDelay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		assign []string
		want   map[string]time.Duration // least gap, by host
	}{
		"alone": {nil, map[string]time.Duration{"a10.test": 10 * time.Second, "b0.2.test": 200 * time.Millisecond, "free.test": 0}},
		"with a maximum": {
			[]string{"ROBOTSTXT_MAX_CRAWL_DELAY=4"},
			map[string]time.Duration{"a10.test": 4 * time.Second, "b3.test": 3 * time.Second},
		},
		"below DOWNLOAD_DELAY": {
			[]string{"DOWNLOAD_DELAY=2", "RANDOMIZE_DOWNLOAD_DELAY=False"},
			map[string]time.Duration{"b1.test": 2 * time.Second, "a10.test": 10 * time.Second},
		},
		"below half of a drawn delay": {[]string{"DOWNLOAD_DELAY=11"}, map[string]time.Duration{"a10.test": 10 * time.Second}},
		"below that of its slot": {
			[]string{`DOWNLOAD_SLOTS={"b1.test": {"delay": 5, "randomize_delay": false}}`},
			map[string]time.Duration{"b1.test": 5 * time.Second, "c2.test": 2 * time.Second},
		},
		"beside AutoThrottle": {
			[]string{"AUTOTHROTTLE_ENABLED=True", "AUTOTHROTTLE_START_DELAY=0.1", "RANDOMIZE_DOWNLOAD_DELAY=True"},
			map[string]time.Duration{"a10.test": 10 * time.Second, "c2.test": 2 * time.Second},
		},
		"with one place": {[]string{"CONCURRENT_REQUESTS=1"}, map[string]time.Duration{"c2.test": 2 * time.Second, "b3.test": 3 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				v, p := newVisits(), &probe{}
				p.polite(t, v)
				var hosts []string
				for host := range c.want {
					hosts = append(hosts, host)
				}
				p.visit(6, hosts...)
				p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
					_, err := out.Fetch(ctx, &crawl.Request{URL: r.URL + "/inner"})
					return err
				}
				p.crawl(t, append(c.assign, overPipes, "ROBOTSTXT_OBEY=True", "ROBOTSTXT_CRAWL_DELAY=enforce")...).
					want(t, "finished", map[string]int64{"response_received_count": int64(6 * len(hosts))})
				for host, least := range c.want {
					gaps := v.gaps(host)
					if len(gaps) != 11 {
						t.Errorf("%s: %d requests, want 12", host, len(gaps)+1)
					}
					for i, gap := range gaps {
						if gap < least {
							t.Errorf("%s: %v before request %d, want %v at least", host, gap, i+2, least)
						}
					}
				}
				if at := v.at["free.test"]; len(at) > 0 && at[11].Sub(at[0]) > 5*time.Second {
					t.Errorf("the host that asks for nothing took %v", at[11].Sub(at[0]))
				}
			})
		})
	}
}

// Fetches within steps are the first that a host hears of: also then one goes alone
// until its robots.txt is read.
func TestCrawlDelayOfFetches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, p := newVisits(), &probe{}
		p.polite(t, v)
		p.visit(8, "free.test").page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
			_, err := out.Fetch(ctx, &crawl.Request{URL: strings.Replace(r.URL, "free", "a10", 1)})
			return err
		}
		p.crawl(t, overPipes, "ROBOTSTXT_OBEY=True", "ROBOTSTXT_CRAWL_DELAY=enforce", "CONCURRENT_PARSES=8").
			want(t, "finished", map[string]int64{"downloader/response_count": 18})
		for i, gap := range v.gaps("a10.test") {
			if gap < 10*time.Second {
				t.Errorf("%v before request %d, want 10s at least", gap, i+2)
			}
		}
	})
}

// A host that asks for nothing has its whole concurrency once that is known, and so
// has one whose robots.txt is not read.
func TestCrawlDelayOfNobody(t *testing.T) {
	t.Parallel()
	for name, noRobots := range map[string]bool{"asked": false, "not asked": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				v, p := newVisits(), &probe{}
				p.polite(t, v)
				p.begin = func(_ context.Context, out crawl.Out) error {
					for i := range 40 {
						out.Request(&crawl.Request{URL: fmt.Sprintf("http://free.test/%d", i), Options: crawl.Options{NoRobots: noRobots}})
					}
					return nil
				}
				p.crawl(t, overPipes, "ROBOTSTXT_OBEY=True", "ROBOTSTXT_CRAWL_DELAY=enforce").want(t, "finished", nil)
				if most := v.most["free.test"]; most != 8 {
					t.Errorf("%d requests at once, want 8", most)
				}
			})
		})
	}
}

// ROBOTSTXT_CRAWL_DELAY=observe, the default, counts and logs, and changes nothing.
func TestCrawlDelayObserved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, p := newVisits(), &probe{}
		p.polite(t, v)
		p.visit(8, "a10.test", "b0.test").crawl(t, overPipes, "ROBOTSTXT_OBEY=True").want(t, "finished", map[string]int64{
			"robotstxt/crawl_delay_count": 1, "robotstxt/crawl_delay_slower_count": 1, "robotstxt/request_count": 2,
		})
		p.wantLogged(t, map[string]int{"robots.txt of http://a10.test asks for 10s between two requests; it gets 0s": 1})
		if most := v.most["a10.test"]; most != 8 {
			t.Errorf("%d requests at once, want 8", most)
		}
	})
}

// A job goes on with the delay that robots.txt asked for, before it is read again.
func TestCrawlDelayOutlivesTheRun(t *testing.T) {
	t.Parallel()
	v, p := newVisits(), &probe{}
	inBubble(t, p, func(s *stopped) {
		p.polite(s.T, v)
		p.begin = func(_ context.Context, out crawl.Out) error {
			out.Request(&crawl.Request{URL: "http://a10.test/first", Priority: 1})
			for i := range 4 {
				out.Request(&crawl.Request{URL: fmt.Sprintf("http://a10.test/%d", i), Options: crawl.Options{NoRobots: true}})
			}
			return nil
		}
		p.page = func(context.Context, *crawl.Response, crawl.Out) error { s.stop(); return nil }
		s.run()
		first := len(v.gaps("a10.test")) + 1
		finish(s.Context(), s.T, s.options()).want(s.T, "finished", map[string]int64{"robotstxt/request_count": 0})
		gaps := v.gaps("a10.test")
		if len(gaps) != 4 || first > 2 {
			s.Errorf("%d requests, %d of them in the first run; want 5, and 1 or 2", len(gaps)+1, first)
		}
		for i, gap := range gaps {
			if i != first-1 && gap < 10*time.Second { // the time between the runs is not kept
				s.Errorf("%v before request %d, want 10s at least", gap, i+2)
			}
		}
	}, overPipes, "ROBOTSTXT_OBEY=True", "ROBOTSTXT_CRAWL_DELAY=enforce")
}
