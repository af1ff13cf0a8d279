package engine_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/internal/faultfs"
)

// A server that wants silence gets it also from the run that resumes, for all
// pages of its slot and not only for the one that it refused (pain of Scrapy:
// what was learned ends with the process).
func TestRetryAfterOutlivesTheRun(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var refused time.Time
	var early []string
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path == "/0" && refused.IsZero() {
			refused = time.Now()
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		if since := time.Since(refused); since < 1900*time.Millisecond {
			early = append(early, fmt.Sprintf("%s after %v", r.URL.Path, since))
		}
		fmt.Fprint(w, "x")
	})
	ctx, cancel := context.WithCancel(t.Context())
	p := (&probe{}).starts(urls(srv.URL, 4)...)
	p.connect = func(env *crawl.Env) {
		crawl.On(env.Signals, func(context.Context, crawl.ResponseDownloaded) error { cancel(); return nil })
	}
	o := probeOptions(t, p, p, "JOBDIR=/job", "CONCURRENT_REQUESTS=1")
	o.FS = faultfs.New()
	finish(ctx, t, o).want(t, "shutdown", map[string]int64{"downloader/response_count": 1})
	finish(t.Context(), t, o).want(t, "finished", map[string]int64{"downloader/response_count": 4})
	if len(early) > 0 {
		t.Errorf("before its time: %q", early)
	}
}

// JOBDIR may hold the spider's name, and a path that is not there yet is made:
// SCH-16. Everybody sees it as it is.
func TestJobDirOfSpider(t *testing.T) {
	dir := t.TempDir()
	p := (&probe{fetch: always}).starts("http://a.test/1")
	want := filepath.Join(dir, "crawls", "probe", "100%")
	p.open = func(env *crawl.Env) error {
		if env.JobDir != want {
			t.Errorf("Env.JobDir is %q, want %q", env.JobDir, want)
		}
		return nil
	}
	o := probeOptions(t, p, p, "JOBDIR="+filepath.Join(dir, "crawls", "%(name)s", "100%%"))
	finish(t.Context(), t, o).want(t, "finished", nil)
	if _, err := os.Stat(filepath.Join(want, "job.json")); err != nil {
		t.Error(err)
	}
	p.wantLogged(t, map[string]int{"with the job in " + want: 1})
	o.Feeds = append(o.Feeds, target(t, filepath.Join(want, "requests.queue", "x.jsonl")))
	if _, err := engine.New(o); err == nil {
		t.Error("a feed within the job directory is not refused")
	}
}

// basket is what goes with requests of the spider sharer, which are all given
// the same.
type basket struct{ Items map[string]int }

type sharer struct {
	probe
	seen func(name string, r *crawl.Request, args basket)
}

// ParseShared is a callback with a name.
func (s *sharer) ParseShared(_ context.Context, r *crawl.Response, _ crawl.Out) error {
	args, err := crawl.ArgsOf[basket](r.Request)
	s.seen("own", r.Request, args)
	return err
}

// ParseBound is one with arguments.
func (s *sharer) ParseBound(_ context.Context, r *crawl.Response, _ crawl.Out, args basket) error {
	s.seen("bound", r.Request, args)
	return nil
}

// scrapy/scrapy#6120: callbacks get copies of what goes with a request, with a
// job directory and without, whether the callback has a name or is a closure.
func TestQueuedValuesAreCopies(t *testing.T) {
	for _, assign := range []string{"JOBDIR=", "JOBDIR=/job"} {
		t.Run(assign, func(t *testing.T) {
			s := &sharer{}
			s.fetch = always
			var mu sync.Mutex
			seen := map[string]int{}
			s.seen = func(name string, r *crawl.Request, args basket) {
				mu.Lock()
				defer mu.Unlock()
				seen[name]++
				meta := r.Meta["m"].(map[string]any)
				if meta["n"] != 1 || args.Items["n"] != 1 {
					t.Errorf("%s: another callback's change shows: Meta %v, arguments %v", name, meta, args)
				}
				meta["n"], args.Items["n"] = 2, 2
			}
			s.begin = func(_ context.Context, out crawl.Out) error {
				shared, args := map[string]any{"n": 1}, basket{map[string]int{"n": 1}}
				closure := func(_ context.Context, r *crawl.Response, _ crawl.Out) error {
					got, err := crawl.ArgsOf[basket](r.Request)
					s.seen("closure", r.Request, got)
					return err
				}
				boundClosure := func(_ context.Context, r *crawl.Response, _ crawl.Out, got basket) error {
					s.seen("bound closure", r.Request, got)
					return nil
				}
				for i, cb := range []crawl.Callback{s.ParseShared, crawl.With(s.ParseBound, args), closure, crawl.With(boundClosure, args)} {
					for j := range 2 {
						out.Request(&crawl.Request{
							URL: fmt.Sprintf("http://a.test/%d/%d", i, j), Callback: cb, Args: args, Meta: map[string]any{"m": shared},
						})
					}
				}
				shared["n"], args.Items["n"] = 3, 3
				return out.Err()
			}
			o := probeOptions(t, &s.probe, s, assign)
			o.FS = faultfs.New()
			finish(t.Context(), t, o).want(t, "finished", map[string]int64{"spider_exceptions/count": 0})
			if want := map[string]int{"own": 2, "bound": 2, "closure": 2, "bound closure": 2}; !maps.Equal(seen, want) {
				t.Errorf("callbacks %v, want %v", seen, want)
			}
		})
	}
}
