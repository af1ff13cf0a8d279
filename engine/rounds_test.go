package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/faultfs"
)

// rounds is a job whose site gets a new page in each round.
type rounds struct {
	*stopped
	pages []string
	limit int // pages after which the run is stopped, 0 for none
}

func newRounds(t *testing.T, overwrite bool) *rounds {
	r := &rounds{stopped: &stopped{T: t, p: &probe{}}}
	r.prepare()
	r.feed[0].Overwrite = overwrite
	r.p.begin = func(_ context.Context, out crawl.Out) error {
		out.Request(&crawl.Request{URL: "http://a.test/", DontFilter: true})
		return nil
	}
	r.p.page = func(_ context.Context, q *crawl.Response, out crawl.Out) error {
		out.Item(map[string]string{"page": strings.TrimPrefix(q.URL, "http://a.test/")})
		for _, page := range r.pages {
			out.Follow("/"+page, nil)
		}
		return nil
	}
	return r
}

// round runs once and returns the feed as it is then.
func (r *rounds) round(reason string, assign ...string) string {
	r.Helper()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	n := 0
	r.p.fetch = func(_ context.Context, q *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
		if n++; n == r.limit {
			cancel()
		}
		return answer(q, ""), nil
	}
	o := probeOptions(r.T, r.p, r.p, append(assign, "JOBDIR=/job", "CONCURRENT_REQUESTS=1", "CONCURRENT_PARSES=1", "SCHEDULER_DISK_QUEUE=fifo")...)
	o.FS, o.Feeds = r.fs, r.feed
	end := finish(ctx, r.T, o)
	if end.Reason != reason || end.err != nil {
		r.Fatalf("%+v, want reason %s", end, reason)
	}
	var names []string
	for _, line := range order(r.T, r.file) {
		name := strings.NewReplacer(`{"page":"`, "/", `"}`, "", "\n", "").Replace(line)
		// Callbacks run side by side: the pages of a round are sorted.
		at := len(names)
		for at > 0 && name != "/" && names[at-1] > name {
			at--
		}
		names = slices.Insert(names, at, name)
	}
	return strings.Join(names, " ")
}

// A finished job begins another round: Start runs again, what was seen stays
// seen. -o appends over rounds and resumes; -O begins its file anew with each
// round, never with a resume. JOB_WHEN_FINISHED=fresh forgets what was seen, and
// stop touches nothing.
func TestRounds(t *testing.T) {
	for _, c := range []struct {
		name      string
		overwrite bool
		want      []string
	}{
		{"-o", false, []string{"/ /a", "/ /a / /b", "/ /a / /b", "/ /a / /b / /a /b", "/ /a / /b / /a /b / /c", "/ /a / /b / /a /b / /c /d"}},
		{"-O", true, []string{"/ /a", "/ /b", "/ /b", "/ /a /b", "/ /c", "/ /c /d"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRounds(t, c.overwrite)
			steps := []struct {
				pages, assign, reason string
				limit                 int
			}{
				{"a", "JOB_WHEN_FINISHED=again", "finished", 0},
				{"a b", "JOB_WHEN_FINISHED=again", "finished", 0},
				{"a b x", "JOB_WHEN_FINISHED=stop", "finished", 0},
				{"a b", "JOB_WHEN_FINISHED=fresh", "finished", 0},
				{"a b c d", "JOB_WHEN_FINISHED=again", "shutdown", 2},
				{"a b c d", "JOB_WHEN_FINISHED=stop", "finished", 0}, // stopped, not finished: it goes on
			}
			for i, s := range steps {
				r.pages, r.limit = strings.Fields(s.pages), s.limit
				if got := r.round(s.reason, s.assign); got != c.want[i] {
					t.Errorf("run %d: feed %q, want %q", i+1, got, c.want[i])
				}
			}
		})
	}
}

// visitor is a spider with a named callback, and one without it.
type (
	visitor  struct{ probe }
	stranger struct{ probe }
)

// ParseBook is stored by its name.
func (v *visitor) ParseBook(_ context.Context, r *crawl.Response, out crawl.Out) error {
	out.Item(record(r.URL))
	return nil
}

// SER-13: a queued callback that the binary lacks is refused before the first
// request, by its name and with their number, and the job is untouched.
func TestMissingCallback(t *testing.T) {
	fs := faultfs.New()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	v := &visitor{}
	v.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
		cancel()
		return answer(r, ""), nil
	}
	v.starts("http://a.test/")
	v.page = func(_ context.Context, _ *crawl.Response, out crawl.Out) error {
		out.Follow("/book", v.ParseBook)
		return nil
	}
	o := probeOptions(t, &v.probe, v, "JOBDIR=/job")
	o.FS = fs
	finish(ctx, t, o).want(t, "shutdown", nil)

	s := &stranger{}
	s.fetch = func(context.Context, *crawl.Request, crawl.Fetcher) (*crawl.Response, error) {
		t.Error("a request was sent")
		return nil, errors.New("no")
	}
	o = probeOptions(t, &s.probe, s, "JOBDIR=/job")
	o.FS = fs
	if end := finish(t.Context(), t, o); end.err == nil || !strings.Contains(end.err.Error(), "ParseBook (1 requests)") {
		t.Errorf("error %v: want one that names ParseBook and how many there are", end.err)
	}

	v.fetch = always
	o = probeOptions(t, &v.probe, v, "JOBDIR=/job")
	o.FS = fs
	finish(t.Context(), t, o).want(t, "finished", map[string]int64{"item_scraped_count": 1})
}

// NoResponse tells that nothing answered at all: one page of many, a response
// that no callback wants, or a stop in between make it false.
func TestNoResponse(t *testing.T) {
	down := errors.New("down")
	for name, c := range map[string]struct {
		status map[string]int // by path; 0 is an error
		stop   bool
		want   bool
	}{
		"nothing":       {map[string]int{"/1": 0, "/2": 0}, false, true},
		"one of two":    {map[string]int{"/1": 0, "/2": 200}, false, false},
		"404":           {map[string]int{"/1": 404}, false, false},
		"503 for ever":  {map[string]int{"/1": 503}, false, false},
		"no requests":   {nil, false, false},
		"stopped early": {map[string]int{"/1": -1}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p := &probe{}
			var all []string
			for _, path := range slices.Sorted(maps.Keys(c.status)) {
				all = append(all, "http://a.test"+path)
			}
			p.starts(all...)
			var e interface{ Cut() }
			// Below the statistics, as a handler is.
			p.fetch = func(ctx context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
				status := c.status[strings.TrimPrefix(r.URL, "http://a.test")]
				if status < 0 {
					cancel()
					e.Cut()
					<-ctx.Done()
					return nil, fmt.Errorf("read: %w", context.Cause(ctx))
				}
				if status == 0 {
					return nil, down
				}
				resp := answer(r, "")
				resp.Status = status
				return resp, nil
			}
			eng := mustNew(t, probeOptions(t, p, p))
			e = eng
			res, err := eng.Run(ctx)
			if err != nil || res.NoResponse != c.want || (res.Reason == "no_response") != c.want {
				t.Errorf("%+v, %v; want NoResponse %v", res, err, c.want)
			}
		})
	}
}

// A feed that is added to a job gets the items from then on.
func TestNewFeedOfJob(t *testing.T) {
	r := newRounds(t, false)
	r.pages = []string{"a", "b"}
	r.limit = 2
	if got := r.round("shutdown"); got != "/ /a" {
		t.Errorf("first run: %q", got)
	}
	second := r.file + "2.jsonl"
	r.feed, r.limit = append(r.feed, target(t, second)), 0
	if got := r.round("finished"); got != "/ /a /b" {
		t.Errorf("second run: %q", got)
	}
	b, err := os.ReadFile(second)
	if want := "{\"page\":\"b\"}\n"; err != nil || string(b) != want {
		t.Errorf("the new feed holds %q, %v; want %q", b, err, want)
	}
}
