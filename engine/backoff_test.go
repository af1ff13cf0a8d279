package engine_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// retries are the second attempts of requests whose first one fails.
type retries struct {
	mu    sync.Mutex
	first time.Time
	waits map[string]time.Duration // from the first attempt of all, by URL
	early map[string]time.Duration // before their time
}

func (a *retries) fetch(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	resp := answer(r, "<h1>page</h1>")
	if r.Trail.Retries == 0 {
		resp.Status = http.StatusInternalServerError
		return resp, nil
	}
	a.waits[r.URL] = time.Since(a.first)
	if left := time.Until(r.NotBefore); left > 0 {
		a.early[r.URL] = left
	}
	return resp, nil
}

// RETRY_BACKOFF: requests that fail together come back one by one, also in the run
// that goes on with the job, after a stop as after a kill.
func TestRetryBackoff(t *testing.T) {
	t.Parallel()
	const n = 30
	for name, killed := range map[string]bool{"stopped": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, p := &retries{waits: map[string]time.Duration{}, early: map[string]time.Duration{}}, &probe{}
			inBubble(t, p, func(s *stopped) {
				a.first = time.Now()
				p.fetch = a.fetch
				p.starts(urls("http://a.test", n)...)
				files := s.fs
				p.beside = func(context.Context) error {
					time.Sleep(time.Second) // all have failed, and the journal has it
					if killed {
						files = s.fs.Kill()
					}
					s.stop()
					return nil
				}
				s.run()
				before := len(a.waits)
				if killed {
					clear(a.waits) // of the process that is dead
				}
				p.beside, s.fs = nil, files
				finish(s.Context(), s.T, s.options()).want(s.T, "finished", map[string]int64{"retry/count": 0})
				apart := map[time.Duration]bool{}
				for _, wait := range a.waits {
					apart[wait.Round(time.Second)] = true
				}
				if len(a.waits) < n-before || len(a.early) > 0 || len(apart) < 5 {
					s.Errorf("%d of %d came back after %v, and before their time %v", len(a.waits), n, a.waits, a.early)
				}
			}, "RETRY_BACKOFF=100", "RETRY_BACKOFF_MAX=1h")
		})
	}
}

// A fetch within a callback waits as well, and a callback's own crawl.Retry.
func TestRetryBackoffElsewhere(t *testing.T) {
	t.Parallel()
	a, p := &retries{waits: map[string]time.Duration{}, early: map[string]time.Duration{}}, &probe{}
	inBubble(t, p, func(s *stopped) {
		a.first = time.Now()
		p.fetch = a.fetch
		p.begin = func(_ context.Context, out crawl.Out) error {
			out.Request(&crawl.Request{URL: "http://a.test/", Options: crawl.Options{NoRetry: true, AnyStatus: true}})
			return nil
		}
		p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
			if r.Request.Trail.Retries > 0 {
				return nil
			}
			if _, err := out.Fetch(ctx, &crawl.Request{URL: "http://b.test/"}); err != nil {
				return err
			}
			again := r.Request.Clone()
			again.Options.NoRetry = false
			return crawl.Retry(again, "not yet")
		}
		finish(s.Context(), s.T, s.options()).want(s.T, "finished", map[string]int64{"retry/count": 2})
		if len(a.waits) != 2 || len(a.early) > 0 || a.waits["http://b.test/"] == 0 || a.waits["http://a.test/"] <= a.waits["http://b.test/"] {
			s.Errorf("came back after %v, and before their time %v", a.waits, a.early)
		}
	}, "RETRY_BACKOFF=100", "RETRY_BACKOFF_MAX=1h")
}

// A level that does not exist is an error of the callback that asks for it.
func TestUnknownGiveUpLevel(t *testing.T) {
	t.Parallel()
	p := &probe{fetch: always}
	p.begin = func(_ context.Context, out crawl.Out) error {
		out.Request(&crawl.Request{URL: "http://a.test/", Options: crawl.Options{GiveUpLevel: "LOUD"}})
		return out.Err()
	}
	p.crawl(t).want(t, "start_error", nil)
	p.wantLogged(t, map[string]int{`give-up level \"LOUD\": want DEBUG`: 1})
}

// Retry-After holds the whole slot, also in the run that goes on after a kill a few
// seconds later.
func TestRetryAfterOutlivesAKill(t *testing.T) {
	t.Parallel()
	p := &probe{}
	inBubble(t, p, func(s *stopped) {
		var refused time.Time
		var early []string
		p.serveHosts(s.T, func(w http.ResponseWriter, r *http.Request) {
			if refused.IsZero() {
				refused = time.Now()
				w.Header().Set("Retry-After", "60")
				w.WriteHeader(http.StatusServiceUnavailable)
			} else if since := time.Since(refused); since < time.Minute {
				early = append(early, r.URL.Path+" after "+since.String())
			}
		})
		p.starts(urls("http://a.test", 5)...)
		files := s.fs
		p.beside = func(context.Context) error {
			time.Sleep(3 * time.Second)
			files = s.fs.Kill()
			s.stop()
			return nil
		}
		s.run()
		p.beside, s.fs = nil, files
		finish(s.Context(), s.T, s.options()).want(s.T, "finished", map[string]int64{"downloader/response_status_count/200": 5})
		if len(early) > 0 {
			s.Errorf("requests came too early: %v", early)
		}
		p.wantLogged(s.T, map[string]int{"The server of slot a.test wants no request before": 1})
	}, overPipes, "CONCURRENT_REQUESTS=1")
}
