package scheduler

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/settings"
)

// Deps is what a frontier is made of.
type Deps struct {
	Env   *crawl.Env
	Slots Slots

	// SlotOf returns the slot of a request that does not come with an [Entry],
	// because a [Scheduler] has it from somewhere else. It is safe for concurrent
	// use, and asks the resolver under CONCURRENT_REQUESTS_PER_IP.
	SlotOf func(ctx context.Context, r *crawl.Request) string

	// Job is open and not yet recovered; the frontier recovers it with Feeds, and
	// closes it. Without JOBDIR, when Env.JobDir is "", it is volatile: it takes
	// the bytes of the feeds that it was made with, and nothing else.
	Job   *jobs.Job
	Feeds []jobs.Feed
}

// Open opens a frontier. It recovers the job, and closes it if it fails. It is
// called once, by the goroutine that runs the crawl, before the first request.
type Open func(ctx context.Context, d Deps) (Frontier, Resume, error)

// Frontiers is the registry behind SCHEDULER. A constructor reads the settings
// and touches nothing, neither the job nor anything else that lasts: its error is
// the user's, who may try again. It names the setting that is wrong.
var Frontiers = crawl.NewRegistry[func(*crawl.Env) (Open, error)]("scheduler").For("SCHEDULER") //nolint:gochecknoglobals // a registry.

func init() {
	Frontiers.Register("default", func(env *crawl.Env) (Open, error) {
		k, err := newKit(env, settings.Decode[Config](env.Settings))
		if err != nil {
			return nil, err
		}
		return func(_ context.Context, d Deps) (Frontier, Resume, error) {
			f, resume, err := k.open(d)
			if err != nil {
				return nil, resume, err
			}
			return f, resume, nil
		}, nil
	})
}

// Config is the default frontier's share of the settings.
type Config struct {
	// PriorityQueue chooses among slots: a name of [PriorityQueues].
	PriorityQueue string `setting:"SCHEDULER_PRIORITY_QUEUE"`

	// Disk and Memory name, as in [Queues], the queue of the requests of callbacks in each layer,
	// StartDisk and StartMemory that of start requests; "" for the latter means
	// that start requests share the queue of the others.
	Disk        string `setting:"SCHEDULER_DISK_QUEUE"`
	Memory      string `setting:"SCHEDULER_MEMORY_QUEUE"`
	StartDisk   string `setting:"SCHEDULER_START_DISK_QUEUE"`
	StartMemory string `setting:"SCHEDULER_START_MEMORY_QUEUE"`

	// DupeFilter is a name of [Filters].
	DupeFilter string `setting:"DUPEFILTER_CLASS"`

	// Debug and DupeDebug log every request that can not be stored, and every
	// duplicate, instead of the first.
	Debug     bool `setting:"SCHEDULER_DEBUG"`
	DupeDebug bool `setting:"DUPEFILTER_DEBUG"`
}

// layer is one of the two places of requests.
type layer struct {
	ready    readySet
	newQueue queueMaker
	starts   bool // start requests have queues of their own
	n        int  // queued
}

// reporter counts and logs what the frontier does with requests.
type reporter struct {
	log                             zerolog.Logger
	debug, dupeDebug                bool
	enqueued, dequeued              [layers]counter
	allEnqueued, allDequeued        counter
	filtered                        counter // nil before the first
	stats                           *crawl.Stats
	filteredLogged, unserialzLogged bool
}

type counter interface{ Add(int64) int64 }

func newReporter(env *crawl.Env, cfg Config) *reporter {
	st := env.Stats
	r := &reporter{log: env.Logger("scheduler"), debug: cfg.Debug, dupeDebug: cfg.DupeDebug, stats: st}
	r.enqueued = [layers]counter{st.Counter("scheduler/enqueued/memory"), st.Counter("scheduler/enqueued/disk")}
	r.dequeued = [layers]counter{st.Counter("scheduler/dequeued/memory"), st.Counter("scheduler/dequeued/disk")}
	r.allEnqueued, r.allDequeued = st.Counter("scheduler/enqueued"), st.Counter("scheduler/dequeued")
	return r
}

func (r *reporter) enqueue(layer int) { r.allEnqueued.Add(1); r.enqueued[layer].Add(1) }

func (r *reporter) dequeue(layer int) { r.allDequeued.Add(1); r.dequeued[layer].Add(1) }

// countDuplicate counts a refused request. The counter is made by the first.
func (r *reporter) countDuplicate() {
	if r.filtered == nil {
		r.filtered = r.stats.Counter("dupefilter/filtered")
	}
	r.filtered.Add(1)
}

// duplicate counts a refused request, and logs the first or every one as Scrapy
// does.
func (r *reporter) duplicate(req *crawl.Request) {
	r.countDuplicate()
	switch {
	case r.dupeDebug:
		referer := req.Header.Get("Referer")
		if referer == "" {
			referer = "None"
		}
		r.log.Debug().Msgf("Filtered duplicate request: %v (referer: %s)", req, referer)
	case !r.filteredLogged:
		r.filteredLogged = true
		r.log.Debug().Msgf("Filtered duplicate request: %v - no more duplicates will be shown (see DUPEFILTER_DEBUG to show all duplicates)", req)
	}
}

// unstorable counts a request that stays in memory although there is a job
// directory, and under SCHEDULER_DEBUG logs the first.
func (r *reporter) unstorable(req *crawl.Request, why error) {
	r.stats.Inc("scheduler/unserializable")
	if r.debug && !r.unserialzLogged {
		r.unserialzLogged = true
		r.log.Warn().Msgf("Unable to serialize request: %v - reason: %v - no more unserializable requests will be logged (stats being collected)", req, why)
	}
}

// lost tells how many requests a job loses because they could not be stored.
func (r *reporter) lost(n int) {
	r.stats.Add("scheduler/unserializable_lost", int64(n))
	r.log.Warn().Msgf("%d requests are lost: they could not be stored, because their callbacks are not exported methods of the spider", n)
}

// clampNotBefore limits how far in the future a time read from a job may lie:
// the clock may have been set back since.
func clampNotBefore(millis int64, now time.Time) time.Time {
	if millis == 0 {
		return time.Time{}
	}
	t := time.UnixMilli(millis)
	if limit := now.Add(time.Hour); t.After(limit) {
		return limit
	}
	return t
}

func errClosed(op string) error { return fmt.Errorf("%s: the frontier is closed", op) }
