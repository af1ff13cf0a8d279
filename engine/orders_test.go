package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// received is a site that notes the paths in the order of their arrival.
type received struct {
	url   string
	mu    sync.Mutex
	paths []string
}

func receive(t *testing.T) *received {
	t.Helper()
	got := &received{}
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got.mu.Lock()
		defer got.mu.Unlock()
		got.paths = append(got.paths, strings.TrimPrefix(r.URL.Path, "/"))
		w.Header().Set("Content-Type", "text/html")
	})
	got.url = srv.URL
	return got
}

// want compares the order of all but the seed page.
func (g *received) want(t *testing.T, want string) {
	t.Helper()
	got := strings.TrimPrefix(strings.Join(g.paths, " "), "seed ")
	if got != want {
		t.Errorf("received %s\nwant     %s", got, want)
	}
}

// fromSeed is a spider whose seed page emits all at once.
func fromSeed(g *received, emit func(out crawl.Out)) *probe {
	p := (&probe{}).starts(g.url + "/seed")
	p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		if strings.HasSuffix(r.URL, "/seed") {
			emit(out)
		}
		return nil
	}
	return p
}

// stepByStep lets nothing start before the step of the page before is committed.
const stepByStep = "SCRAPER_SLOT_MAX_ACTIVE_SIZE=1"

// eitherWay runs a test without and with a job directory, one request at a time.
func eitherWay(t *testing.T, f func(t *testing.T, layer string, assign []string)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) { f(t, "memory", []string{"CONCURRENT_REQUESTS=1"}) })
	t.Run("job", func(t *testing.T) {
		job, _, _ := inJob(t)
		f(t, "disk", []string{"CONCURRENT_REQUESTS=1", job})
	})
}

// queuesOf returns the settings that make the queues of callbacks' requests of a
// kind; "" leaves the default.
func queuesOf(kind string) []string {
	if kind == "" {
		return nil
	}
	return []string{"SCHEDULER_MEMORY_QUEUE=" + kind, "SCHEDULER_DISK_QUEUE=" + kind}
}

// SCH-04: the order of twelve requests of one page, as Scrapy has it.
func TestOrderOfPriorities(t *testing.T) {
	const emit = "0:0 1:5 2:-3 3:10 4:0 5:5 6:-3 7:10 8:1 9:1 10:0 11:0"
	for kind, want := range map[string]string{
		"":     "7:10 3:10 5:5 1:5 9:1 8:1 11:0 10:0 4:0 0:0 6:-3 2:-3",
		"fifo": "3:10 7:10 1:5 5:5 8:1 9:1 0:0 4:0 10:0 11:0 2:-3 6:-3",
	} {
		t.Run("queue "+kind, func(t *testing.T) {
			eitherWay(t, func(t *testing.T, _ string, assign []string) {
				g := receive(t)
				p := fromSeed(g, func(out crawl.Out) {
					for name := range strings.FieldsSeq(emit) {
						_, digits, _ := strings.Cut(name, ":")
						priority, err := strconv.Atoi(digits)
						if err != nil {
							t.Error(err)
						}
						out.Request(&crawl.Request{URL: g.url + "/" + name, Priority: priority})
					}
				})
				p.crawl(t, append(assign, queuesOf(kind)...)...).want(t, "finished", nil)
				g.want(t, want)
			})
		})
	}
}

// SCH-15: a request that can not be stored goes first, whatever its priority, and
// is logged under SCHEDULER_DEBUG only, once.
func TestOrderOfLayers(t *testing.T) {
	for debug, lines := range map[string]int{"False": 0, "True": 1} {
		t.Run("SCHEDULER_DEBUG="+debug, func(t *testing.T) {
			g := receive(t)
			p := fromSeed(g, func(out crawl.Out) {
				out.Request(&crawl.Request{URL: g.url + "/disk-p5", Priority: 5})
				out.Request(&crawl.Request{URL: g.url + "/mem-p-1", Priority: -1, Callback: func(context.Context, *crawl.Response, crawl.Out) error {
					return nil
				}})
				out.Request(&crawl.Request{URL: g.url + "/disk-p9", Priority: 9})
			})
			job, _, _ := inJob(t)
			p.crawl(t, "CONCURRENT_REQUESTS=1", "SCHEDULER_DEBUG="+debug, job).want(t, "finished", map[string]int64{
				"scheduler/enqueued": 4, "scheduler/enqueued/disk": 3, "scheduler/enqueued/memory": 1, "scheduler/unserializable": 1,
				"scheduler/dequeued": 4, "scheduler/dequeued/disk": 3, "scheduler/dequeued/memory": 1, "scheduler/unserializable_lost": 0,
			})
			g.want(t, "mem-p-1 disk-p9 disk-p5")
			p.wantLogged(t, map[string]int{
				"Unable to serialize request":                                               lines,
				"Unable to serialize request: <GET " + g.url + "/mem-p-1> - reason: ":       lines,
				" - no more unserializable requests will be logged (stats being collected)": lines,
			})
		})
	}
}

// PQ-15, PQ-17: two hosts of unequal priority take turns, unless the queue is the
// plain one.
func TestOrderOfHosts(t *testing.T) {
	for queue, want := range map[string]string{
		"downloader-aware": "B2 A2 B1 A1 B0 A0",
		"priority":         "B2 B1 B0 A2 A1 A0",
	} {
		t.Run(queue, func(t *testing.T) {
			eitherWay(t, func(t *testing.T, _ string, assign []string) {
				g := receive(t)
				other := strings.Replace(g.url, "127.0.0.1", "localhost", 1)
				p := fromSeed(g, func(out crawl.Out) {
					for i := range 3 {
						out.Request(&crawl.Request{URL: fmt.Sprintf("%s/A%d", g.url, i)})
						out.Request(&crawl.Request{URL: fmt.Sprintf("%s/B%d", other, i), Priority: 100})
					}
				})
				p.crawl(t, append(assign, "SCHEDULER_PRIORITY_QUEUE="+queue)...).want(t, "finished", nil)
				g.want(t, want)
			})
		})
	}
}

// Each request is counted in the layer where it waits.
func TestStatsOfLayers(t *testing.T) {
	eitherWay(t, func(t *testing.T, layer string, assign []string) {
		g := receive(t)
		p := fromSeed(g, func(out crawl.Out) {
			for _, u := range urls(g.url, 20) {
				out.Request(&crawl.Request{URL: u})
			}
			out.Follow("/7", nil)
		})
		other := map[string]string{"memory": "disk", "disk": "memory"}[layer]
		p.crawl(t, assign...).want(t, "finished", map[string]int64{
			"scheduler/enqueued": 21, "scheduler/enqueued/" + layer: 21, "scheduler/enqueued/" + other: 0,
			"scheduler/dequeued": 21, "scheduler/dequeued/" + layer: 21, "scheduler/dequeued/" + other: 0,
			"dupefilter/filtered": 1, "scheduler/unserializable": 0,
		})
	})
}

// A tree of pages is crawled in depth first, and in breadth with DEPTH_PRIORITY=1
// and queues that are first in, first out.
func TestDepthAndBreadth(t *testing.T) {
	for name, c := range map[string]struct{ kind, depth, want string }{
		"depth first by default": {"", "0", "1 1.3 1.3.3 1.3.2 1.3.1 1.2 1.2.3 1.2.2 1.2.1 1.1 1.1.3 1.1.2 1.1.1"},
		"breadth first":          {"fifo", "1", "1 1.1 1.2 1.3 1.1.1 1.1.2 1.1.3 1.2.1 1.2.2 1.2.3 1.3.1 1.3.2 1.3.3"},
	} {
		t.Run(name, func(t *testing.T) {
			eitherWay(t, func(t *testing.T, _ string, assign []string) {
				g := receive(t)
				p := (&probe{}).starts(g.url + "/1")
				p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
					for i := range 3 {
						if len(r.URL)-len(g.url) < len("/1.2.3") {
							out.Request(&crawl.Request{URL: fmt.Sprint(r.URL, ".", i+1)})
						}
					}
					return nil
				}
				assign = append(assign, stepByStep, "DEPTH_PRIORITY="+c.depth)
				p.crawl(t, append(assign, queuesOf(c.kind)...)...).want(t, "finished", nil)
				g.want(t, c.want)
			})
		})
	}
}

// PQ-08, PQ-11: of equal priority the requests of callbacks go before those of
// Start, which are first in, first out.
func TestOrderOfStartRequests(t *testing.T) {
	eitherWay(t, func(t *testing.T, _ string, assign []string) {
		g := receive(t)
		emitted := make(chan struct{})
		p := fromSeed(g, func(out crawl.Out) {
			out.Follow("/page1", nil)
			out.Follow("/page2", nil)
			out.Request(&crawl.Request{URL: "/low", Priority: -1})
		})
		p.fetch = func(ctx context.Context, r *crawl.Request, next crawl.Fetcher) (*crawl.Response, error) {
			<-emitted
			return next.Fetch(ctx, r)
		}
		p.begin = func(_ context.Context, out crawl.Out) error {
			defer close(emitted)
			for _, path := range []string{"/seed", "/start1", "/start2"} {
				out.Request(&crawl.Request{URL: g.url + path})
			}
			out.Request(&crawl.Request{URL: g.url + "/high", Priority: 1})
			return nil
		}
		p.crawl(t, append(assign, stepByStep)...).want(t, "finished", nil)
		g.want(t, "high page2 page1 start1 start2 low")
	})
}
