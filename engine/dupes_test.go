package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// colly#763: a page that sets a cookie and redirects to itself, at once or by way
// of another page, is not a duplicate of itself. A circle ends.
func TestRedirectToItself(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := r.Cookie("seen")
		switch {
		case r.URL.Path == "/circle":
			http.Redirect(w, r, "/circle", http.StatusFound)
		case r.URL.Path == "/check":
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
			http.Redirect(w, r, "/page", http.StatusFound)
		case err == nil:
			fmt.Fprint(w, "x")
		case r.URL.Path == "/page":
			http.Redirect(w, r, "/check", http.StatusFound)
		default:
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}
	})
	for path, requests := range map[string]int64{"/self": 2, "/page": 3, "/circle": 1 + 20} {
		t.Run(path, func(t *testing.T) {
			p := (&probe{}).starts(srv.URL + path)
			p.page = func(_ context.Context, r *crawl.Response, _ crawl.Out) error {
				p.note("%s", strings.TrimPrefix(r.URL, srv.URL))
				return nil
			}
			end, want, reason := p.crawl(t), []string{path}, "finished"
			if path == "/circle" {
				want, reason = nil, "no_response"
			}
			end.want(t, reason, map[string]int64{"downloader/request_count": requests, "dupefilter/filtered": 0})
			p.wantNotes(t, want...)
		})
	}
}

// stormcrawler#704: URLs that differ in blanks around them are one, and are sent
// as they are filtered. httrack#1160: long ones that differ in their last letter
// are two. scrapy#2017: so are those with and without www.
func TestSpellings(t *testing.T) {
	long := "http://a.test/" + strings.Repeat("long", 4096/4)
	for name, c := range map[string]struct{ emit, want []string }{
		"blanks": {[]string{"http://a.test/p ", "http://a.test/p", " http://a.test/p\n"}, []string{"http://a.test/p"}},
		"4 KB":   {[]string{long + "a", long + "b", long + "a"}, []string{"http://a.test/4 KBa", "http://a.test/4 KBb"}},
		"www":    {[]string{"http://www.a.test/123", "http://a.test/123"}, []string{"http://a.test/123", "http://www.a.test/123"}},
	} {
		t.Run(name, func(t *testing.T) {
			eitherWay(t, func(t *testing.T, _ string, assign []string) {
				p := (&probe{}).starts("http://a.test/")
				p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
					if r.URL != "http://a.test/" {
						p.note("%s", strings.Replace(r.URL, strings.Repeat("long", 4096/4), "4 KB", 1))
					}
					return answer(r, ""), nil
				}
				p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
					for _, u := range c.emit {
						out.Request(&crawl.Request{URL: u})
					}
					return nil
				}
				p.crawl(t, append(assign, "URLLENGTH_LIMIT=0")...).want(t, "finished", map[string]int64{"spider_exceptions/count": 0})
				p.wantNotes(t, c.want...)
			})
		})
	}
}

// crawlee-python#2176: a host that answers 429 is held, and takes no place of
// CONCURRENT_REQUESTS meanwhile.
func TestHeldHostTakesNoPlace(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var hosts []string
	held := false
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := strings.Cut(r.Host, ":")
		mu.Lock()
		defer mu.Unlock()
		hosts = append(hosts, host)
		if host == "localhost" && !held {
			held = true
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	slow := strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)
	p := (&probe{}).starts(srv.URL + "/")
	p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		if r.URL != srv.URL+"/" {
			return nil
		}
		for i := range 10 {
			out.Request(&crawl.Request{URL: fmt.Sprintf("%s/%d", slow, i), Priority: 9})
			out.Request(&crawl.Request{URL: fmt.Sprintf("%s/%d", srv.URL, i)})
		}
		return nil
	}
	p.crawl(t, "CONCURRENT_REQUESTS=2", "CONCURRENT_REQUESTS_PER_DOMAIN=1").want(t, "finished", map[string]int64{"response_received_count": 21})
	first := slices.Index(hosts, "localhost")
	second := first + 1 + slices.Index(hosts[first+1:], "localhost")
	if others := len(hosts) - 10; second != others { // the first, and all of the other host
		t.Errorf("the held host came at %d and %d of %q, want the second time at the end of the others", first, second, hosts)
	}
}
