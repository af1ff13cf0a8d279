package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// latency is how long a server takes for a page: 0 to 450 ms, by its URL.
func latency(r *http.Request) time.Duration {
	h := uint32(7)
	for _, c := range r.Host + r.URL.Path {
		h = h*31 + uint32(c)
	}
	return time.Duration(h%10) * 50 * time.Millisecond
}

// DOWNLOAD_DELAY at the servers: over 50 hosts none sees two requests earlier than
// that, whether pages are quick or take longer than the delay, and connections their
// time, with fetches within steps and retries among them.
func TestDelayOfManyHosts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, p := newVisits(), &probe{}
		p.serveHosts(t, func(w http.ResponseWriter, r *http.Request) {
			before := v.enter(r.Host)
			defer v.leave(r.Host)
			time.Sleep(latency(r))
			if before == 2 {
				w.WriteHeader(http.StatusInternalServerError)
			}
			fmt.Fprint(w, "x")
		})
		p.net.takes = 150 * time.Millisecond
		p.begin = func(_ context.Context, out crawl.Out) error {
			for page := range 12 {
				for host := range 50 {
					out.Request(&crawl.Request{URL: fmt.Sprintf("http://h%d.test/%d", host, page)})
				}
			}
			return nil
		}
		p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
			_, err := out.Fetch(ctx, &crawl.Request{URL: r.URL + "/inner"})
			return err
		}
		p.crawl(t, overPipes, "DOWNLOAD_DELAY=0.2", "RANDOMIZE_DOWNLOAD_DELAY=False", "CONCURRENT_REQUESTS=100").
			want(t, "finished", map[string]int64{"response_received_count": 50 * 12})
		for host := range 50 {
			gaps := v.gaps(fmt.Sprintf("h%d.test", host))
			if len(gaps) != 24 {
				t.Errorf("host %d: %d requests, want 24 and a retry", host, len(gaps)+1)
			}
			for i, gap := range gaps {
				if gap < 195*time.Millisecond {
					t.Errorf("host %d: %v before request %d, want 195ms at least", host, gap, i+2)
				}
			}
		}
	})
}

// CONCURRENT_REQUESTS_PER_DOMAIN at the servers is never exceeded, and is reached.
func TestLimitOfManyHosts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, p := newVisits(), &probe{}
		p.serveHosts(t, func(w http.ResponseWriter, r *http.Request) {
			v.enter(r.Host)
			time.Sleep(latency(r))
			v.leave(r.Host)
			fmt.Fprint(w, "x")
		})
		p.begin = func(_ context.Context, out crawl.Out) error {
			for page := range 600 {
				out.Request(&crawl.Request{URL: fmt.Sprintf("http://h%d.test/%d", page%20, page)})
			}
			return nil
		}
		p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
			_, err := out.Fetch(ctx, &crawl.Request{URL: r.URL + "/inner"})
			return err
		}
		p.crawl(t, overPipes, "CONCURRENT_REQUESTS_PER_DOMAIN=3", "CONCURRENT_REQUESTS=50").
			want(t, "finished", map[string]int64{"response_received_count": 600})
		for host, most := range v.most {
			if most != 3 {
				t.Errorf("%s: %d requests at once, want 3", host, most)
			}
		}
	})
}

// A host with 10,000 requests and a delay takes no time from others
// (scrapy/scrapy#2638): 50 hosts are as soon done as without it.
func TestLongHostSlowsNobody(t *testing.T) {
	t.Parallel()
	took := func(long int) (d time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			p := &probe{}
			p.serveHosts(t, func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(latency(r))
				fmt.Fprint(w, "x")
			})
			p.begin = func(_ context.Context, out crawl.Out) error {
				for i := range max(long, 50*40) {
					if i < long {
						out.Request(&crawl.Request{URL: fmt.Sprintf("http://long.test/%d", i), Priority: 1})
					}
					if i < 50*40 {
						out.Request(&crawl.Request{URL: fmt.Sprintf("http://h%d.test/%d", i%50, i)})
					}
				}
				return nil
			}
			began, left := time.Now(), 50*40
			p.page = func(_ context.Context, r *crawl.Response, _ crawl.Out) error {
				if r.Request.Priority > 0 {
					return nil
				}
				if left--; left > 0 {
					return nil
				}
				d = time.Since(began)
				return crawl.CloseSpider("done")
			}
			p.crawl(t, overPipes, "CONCURRENT_REQUESTS=32", "CONCURRENT_PARSES=1", "LOG_LEVEL=INFO",
				`DOWNLOAD_SLOTS={"long.test": {"delay": 1}}`).want(t, "done", nil)
		})
		return d
	}
	alone, beside := took(0), took(10_000)
	if ratio := float64(alone) / float64(beside); ratio < 0.95 {
		t.Errorf("%v alone and %v beside the host with a delay: the throughput is %.3f of what it was, want 0.95", alone, beside, ratio)
	} else {
		t.Logf("%v alone, %v beside: ratio %.3f", alone, beside, ratio)
	}
}
