package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/faultfs"
)

// counted is a probe of n pages, each an item and a link deeper than the one
// before, that counts in the statistics itself.
func counted(n int, onPage func(i int)) *probe {
	p := (&probe{fetch: always}).starts("http://a.test/1")
	var stats *crawl.Stats
	p.connect = func(env *crawl.Env) { stats = env.Stats }
	p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		var i int
		if _, err := fmt.Sscanf(r.URL, "http://a.test/%d", &i); err != nil {
			return err
		}
		stats.Inc("mine")
		out.Item(record(r.URL))
		if i < n {
			out.Follow(fmt.Sprintf("/%d", i+1), nil)
		}
		onPage(i)
		return nil
	}
	return p
}

// apify/crawlee#2462: the figures of this run are its own, and from the second
// run on those of all runs stand beside them: sums of what adds up, the highest
// of what does not, nothing of what is no counter. A new round goes on, a fresh
// job begins at zero.
func TestStatsOfAllRuns(t *testing.T) {
	fs := faultfs.New()
	for i, c := range []struct {
		assign, reason string
		stopAt         int
		want           map[string]any
	}{
		{"JOB_WHEN_FINISHED=again", "shutdown", 7, map[string]any{
			"item_scraped_count": int64(7), "mine": int64(7), "request_depth_max": int64(7),
			"job/runs": nil, "job/item_scraped_count": nil,
		}},
		{"JOB_WHEN_FINISHED=again", "finished", 0, map[string]any{
			"item_scraped_count": int64(3), "mine": int64(3), "request_depth_max": int64(9), "job/runs": int64(2),
			"job/item_scraped_count": int64(10), "job/mine": int64(10), "job/request_depth_max": int64(9),
			"job/start_time": nil, "job/finish_reason": nil, "job/elapsed_time_seconds": nil, "job/memusage/startup": nil,
			"job/job/runs": nil,
		}},
		{"JOB_WHEN_FINISHED=again", "finished", 0, map[string]any{ // the second round: the start request is a duplicate
			"item_scraped_count": nil, "mine": nil, "job/runs": int64(3), "job/mine": int64(10), "job/item_scraped_count": int64(10),
			"job/request_depth_max": int64(9), "job/dupefilter/filtered": int64(1),
		}},
		{"JOB_WHEN_FINISHED=fresh", "finished", 0, map[string]any{
			"item_scraped_count": int64(10), "job/runs": nil, "job/item_scraped_count": nil,
		}},
		{"JOB_WHEN_FINISHED=again", "finished", 0, map[string]any{"job/runs": int64(2), "job/item_scraped_count": int64(10)}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		p := counted(10, func(page int) {
			if page == c.stopAt {
				cancel()
			}
		})
		o := probeOptions(t, p, p, "JOBDIR=/job", c.assign)
		o.FS = fs
		end := finish(ctx, t, o)
		cancel()
		if end.Reason != c.reason || end.err != nil {
			t.Fatalf("run %d: %+v, want reason %s", i+1, end.Result, c.reason)
		}
		for key, want := range c.want {
			if got := end.stats[key]; got != want {
				t.Errorf("run %d: %s = %v, want %v", i+1, key, got, want)
			}
		}
		if _, max := end.stats["memusage/max"]; max && i == 1 {
			if end.stats["job/memusage/max"].(int64) < end.stats["memusage/max"].(int64) {
				t.Errorf("the highest memory of all runs is %v, that of this one %v", end.stats["job/memusage/max"], end.stats["memusage/max"])
			}
		}
		dumped := strings.Contains(p.lines.String(), fmt.Sprintf(`'job/runs': %v`, c.want["job/runs"]))
		if dumped != (c.want["job/runs"] != nil) {
			t.Errorf("run %d: job/runs is in the dump: %v", i+1, dumped)
		}
	}
}

// Without a job there are no totals.
func TestStatsWithoutJob(t *testing.T) {
	end := counted(2, func(int) {}).crawl(t)
	for key := range end.stats {
		if strings.HasPrefix(key, "job/") {
			t.Errorf("%s = %v", key, end.stats[key])
		}
	}
}

// After kill -9 at most the last ten seconds are missing in the totals.
func TestStatsAfterKill(t *testing.T) {
	const pages, killedAt = 40, 27 // a page a second
	synctest.Test(t, func(t *testing.T) {
		fs := faultfs.New()
		var killed *faultfs.FS
		run := func(ctx context.Context, fs *faultfs.FS, onPage func(int)) ending {
			p := counted(pages, onPage)
			p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
				<-time.After(time.Second)
				return answer(r, ""), nil
			}
			o := probeOptions(t, p, p, "JOBDIR=/job")
			o.FS = fs
			return finish(ctx, t, o)
		}
		ctx, cancel := context.WithCancel(t.Context())
		run(ctx, fs, func(page int) {
			if page == killedAt {
				killed = fs.Kill()
				cancel()
			}
		})
		end := run(t.Context(), killed, func(int) {})
		end.want(t, "finished", map[string]int64{"mine": pages - killedAt + 1, "job/runs": 2})
		// The note is of second 20, in which page 20 may be counted or not.
		got := end.stats["job/mine"].(int64)
		if least := int64(pages - 10); got < least || got >= pages {
			t.Errorf("job/mine = %d, want %d at least, and not all of %d", got, least, pages)
		}
	})
}

// keeping is a component of a user's that keeps something in the job.
func keeping(value func() []byte, kept func([]byte)) *probe {
	p := (&probe{fetch: always}).starts("http://a.test/1")
	p.connect = func(env *crawl.Env) { env.Keep("mine", value) }
	p.open = func(env *crawl.Env) error { kept(env.Kept("mine")); return nil }
	return p
}

// A component gets back what it kept last; one that fails harms nobody.
func TestComponentKeepsANote(t *testing.T) {
	fs := faultfs.New()
	values := []func() []byte{
		func() []byte { return []byte("1") }, func() []byte { panic("broken") }, func() []byte { return nil }, func() []byte { return []byte("2") },
		func() []byte { return nil },
	}
	for i, want := range []string{"", "1", "1", "1", "2"} {
		p := keeping(values[i], func(kept []byte) {
			if string(kept) != want {
				t.Errorf("run %d: kept %q, want %q", i+1, kept, want)
			}
		})
		o := probeOptions(t, p, p, "JOBDIR=/job")
		o.FS = fs
		finish(t.Context(), t, o).want(t, "finished", nil)
		p.wantLogged(t, map[string]int{"note mine: panic: broken": map[bool]int{true: 1}[i == 1]})
	}
	never := keeping(func() []byte { t.Error("asked without a job"); return nil }, func(kept []byte) {
		if kept != nil {
			t.Errorf("kept %q without a job", kept)
		}
	})
	never.crawl(t)
}
