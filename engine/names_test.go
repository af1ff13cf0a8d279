package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/settings"
)

// componentNames are the short names and Scrapy's class paths that each setting of
// a component of the scheduler answers to, by what they stand for.
var componentNames = map[string]map[string][]string{
	"SCHEDULER": {"default": {"default", "scrapy.core.scheduler.Scheduler"}},
	"SCHEDULER_PRIORITY_QUEUE": {
		"downloader-aware": {"downloader-aware", "scrapy.pqueues.DownloaderAwarePriorityQueue"},
		"priority":         {"priority", "scrapy.pqueues.ScrapyPriorityQueue"},
	},
	"SCHEDULER_DISK_QUEUE": {
		"lifo": {"lifo", "scrapy.squeues.PickleLifoDiskQueue", "scrapy.squeues.MarshalLifoDiskQueue"},
		"fifo": {"fifo", "scrapy.squeues.PickleFifoDiskQueue", "scrapy.squeues.MarshalFifoDiskQueue"},
	},
	"SCHEDULER_START_DISK_QUEUE": {
		"lifo": {"lifo", "scrapy.squeues.PickleLifoDiskQueue", "scrapy.squeues.MarshalLifoDiskQueue"},
		"fifo": {"fifo", "scrapy.squeues.PickleFifoDiskQueue", "scrapy.squeues.MarshalFifoDiskQueue"},
		"":     {"None", ""},
	},
	"SCHEDULER_MEMORY_QUEUE": {
		"lifo": {"lifo", "scrapy.squeues.LifoMemoryQueue"},
		"fifo": {"fifo", "scrapy.squeues.FifoMemoryQueue"},
	},
	"SCHEDULER_START_MEMORY_QUEUE": {
		"lifo": {"lifo", "scrapy.squeues.LifoMemoryQueue"},
		"fifo": {"fifo", "scrapy.squeues.FifoMemoryQueue"},
		"":     {"None", ""},
	},
	"DUPEFILTER_CLASS": {
		"fingerprint": {"fingerprint", "scrapy.dupefilters.RFPDupeFilter"},
		"none":        {"none", "scrapy.dupefilters.BaseDupeFilter"},
	},
	"REQUEST_FINGERPRINTER_CLASS": {"sha1": {"sha1", "scrapy.utils.request.RequestFingerprinter"}},
	"STATS_CLASS": {
		"memory": {"memory", "scrapy.statscollectors.MemoryStatsCollector"},
		"dummy":  {"dummy", "scrapy.statscollectors.DummyStatsCollector"},
	},
}

// Every name runs a crawl, in memory and in a job directory.
func TestComponentNames(t *testing.T) {
	for setting, byName := range componentNames {
		for name, spellings := range byName {
			for _, spelling := range spellings {
				t.Run(setting+"="+spelling, func(t *testing.T) {
					assign := setting + "=" + spelling
					if got := options(t, crawl.Spec{}, assign).Settings.String(setting); got != name {
						t.Errorf("it means %q, want %q", got, name)
					}
					job, _, _ := inJob(t)
					for _, more := range []string{"JOBDIR=", job} {
						visited := 0
						p := &probe{fetch: always}
						p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
							visited++
							if strings.HasSuffix(r.URL, "start") {
								out.Follow("/1", nil)
								out.Follow("/2", nil)
							}
							return nil
						}
						p.starts("http://a.test/start").crawl(t, assign, more, "CONCURRENT_PARSES=1").want(t, "finished", nil)
						if visited != 3 {
							t.Errorf("%s: visited %d pages, want 3", more, visited)
						}
					}
				})
			}
		}
	}
}

// A name that is missing or unknown stops the start, and the message lists what
// there is.
func TestUnknownComponentNames(t *testing.T) {
	t.Parallel()
	for setting, byName := range componentNames {
		_, none := byName[""]
		for _, value := range []string{"nobody", "scrapy.Nobody", ""} {
			if value == "" && none {
				continue
			}
			_, _, err := settings.New().Assign(setting + "=" + value).Build()
			if err == nil || !strings.Contains(err.Error(), "this binary has") {
				t.Errorf("%s=%q: error %v, want what this binary has", setting, value, err)
				continue
			}
			for name := range byName {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("%s=%q: error %v, want %s in it", setting, value, err, name)
				}
			}
		}
	}
}

// SCH-09: the downloader-aware queue has no limits by address. Nothing is sent
// and no job is made.
func TestPerAddressNeedsThePlainQueue(t *testing.T) {
	p := (&probe{fetch: always}).starts("http://a.test/1")
	_, err := engine.New(probeOptions(t, p, p, "CONCURRENT_REQUESTS_PER_IP=2"))
	if !errors.As(err, new(*engine.ConfigError)) || !strings.Contains(err.Error(), "does not support CONCURRENT_REQUESTS_PER_IP") {
		t.Errorf("error %v, want that the queue does not support it", err)
	}
	for _, assign := range [][]string{{"CONCURRENT_REQUESTS_PER_IP=0"}, {"CONCURRENT_REQUESTS_PER_IP=None"}, {"CONCURRENT_REQUESTS_PER_IP=2", "SCHEDULER_PRIORITY_QUEUE=priority"}} {
		if _, err := engine.New(probeOptions(t, p, p, assign...)); err != nil {
			t.Errorf("%v: %v", assign, err)
		}
	}
}

// Below the limits of concurrency the first requests start together, whatever
// their priorities.
func TestFirstRequestsStartTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *probe
		all := make(chan struct{})
		sent := make(chan string, 8)
		p = &probe{fetch: func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
			sent <- r.URL
			<-all
			return answer(r, ""), nil
		}}
		p.begin = func(_ context.Context, out crawl.Out) error {
			defer close(all)
			for i := range 8 {
				out.Request(&crawl.Request{URL: fmt.Sprintf("http://a.test/%d", i), Priority: i})
				synctest.Wait()
				if got := len(sent); got != i+1 {
					t.Errorf("%d requests are sent after %d were emitted", got, i+1)
				}
			}
			return out.Err()
		}
		p.crawl(t).want(t, "finished", nil)
	})
}
