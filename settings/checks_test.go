package settings

import (
	"strings"
	"testing"
)

// What each supported setting refuses although the type is right.
func TestBuiltinChecks(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	for words, args := range map[string][]string{
		"at least 1": {
			"CONCURRENT_REQUESTS=0", "CONCURRENT_REQUESTS_PER_DOMAIN=0", "DOWNLOAD_MAX_IDLE_CONNECTIONS=0",
		},
		"at least 0": {
			"CONCURRENT_PARSES=-1", "SCHEDULER_MAX_PENDING=-1", "RETRY_TIMES=-1", "REDIRECT_MAX_TIMES=-1", "DEPTH_LIMIT=-1",
			"CLOSESPIDER_PAGECOUNT=-1", "CLOSESPIDER_ITEMCOUNT=-1", "CLOSESPIDER_ERRORCOUNT=-1",
		},
		"want seconds": {
			"DOWNLOAD_DELAY=-1", "DOWNLOAD_TIMEOUT=0", "LOGSTATS_INTERVAL=-1", "CLOSESPIDER_TIMEOUT=-1s",
			"SHUTDOWN_GRACE=-1", "RETRY_BACKOFF=-1", "RETRY_BACKOFF_MAX=0", "ROBOTSTXT_MAX_CRAWL_DELAY=0", "JOB_SYNC_INTERVAL=NaN",
		},
		"want bytes":                 {"DOWNLOAD_MAXSIZE=-1", "DOWNLOAD_WARNSIZE=64M", "SCRAPER_SLOT_MAX_ACTIVE_SIZE=0"},
		"three digits":               {"HTTPCACHE_IGNORE_HTTP_CODES=20", "RETRY_HTTP_CODES=5", "HTTPERROR_ALLOWED_CODES=404,1000"},
		"without control characters": {"USER_AGENT=a\r\nX: b", "BOT_NAME=a\tb"},
		"want a name":                {"BOT_NAME="},
		"no storage in a DBM file":   {"HTTPCACHE_STORAGE=scrapy.extensions.httpcache.DbmCacheStorage", "HTTPCACHE_DBM_MODULE=gdbm"},
		"path of a directory":        {"HTTPCACHE_DIR=", "HTTPCACHE_DIR=a\x00b", "JOBDIR=a\x00b", "JOBDIR=a%b", "JOBDIR=a%%%b", "JOBDIR=%(time)s", "JOBDIR=%(name)d", "JOBDIR=%(na%%me)s", "JOBDIR=a%"},
		"above zero":                 {"AUTOTHROTTLE_TARGET_CONCURRENCY=0", "AUTOTHROTTLE_TARGET_CONCURRENCY=-1"},
		"quotes.example":             {"DOWNLOAD_SLOTS=quotes.example=1"},
		"of a.test": {
			`DOWNLOAD_SLOTS={"a.test": {"concurrency": 0}}`, `DOWNLOAD_SLOTS={"a.test": {"concurrency": 1.5}}`,
			`DOWNLOAD_SLOTS={"a.test": {"delay": -1}}`, `DOWNLOAD_SLOTS={"a.test": {"delay": "2 s"}}`, `DOWNLOAD_SLOTS={"a.test": {"delay": null}}`,
			`DOWNLOAD_SLOTS={"a.test": {"randomize_delay": 1}}`, `DOWNLOAD_SLOTS={"a.test": {"throttle": "no"}}`,
			`DOWNLOAD_SLOTS={"a.test": {"dely": 2}}`, `DOWNLOAD_SLOTS={"a.test": {"delay": 1e300}}`,
		},
		"is no error":          {"RETRY_EXCEPTIONS=dsn", "RETRY_EXCEPTIONS=dns,twisted.internet.error.TimeoutError", "RETRY_EXCEPTIONS=DownloadError", "RETRY_EXCEPTIONS=.x"},
		"want off, observe":    {"ROBOTSTXT_CRAWL_DELAY=on"},
		"no slot: want a host": {`DOWNLOAD_SLOTS={"": {}}`, `DOWNLOAD_SLOTS={"http://a.test/": {"delay": 1}}`, `DOWNLOAD_SLOTS={"*.http://a.test": {}}`},
		"want seconds such":    {`DOWNLOAD_SLOTS={"a.test": {"delay": "fast"}}`, `DOWNLOAD_SLOTS={"a.test": {"delay": "-1s"}}`},
		"stands for":           {`DOWNLOAD_SLOTS={"*": {}}`, `DOWNLOAD_SLOTS={"a.*.test": {}}`, `DOWNLOAD_SLOTS={"*.": {}}`},
	} {
		for _, arg := range args {
			_, _, err := r.Builder().Assign(arg).Build()
			if err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("%q: %v, want an error with %q", arg, err, words)
			}
		}
	}
}

// What has to be good although it looks odd: zero as off, negative adjustments.
func TestBuiltinAccepts(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	for _, arg := range []string{
		"CONCURRENT_PARSES=0", "DOWNLOAD_DELAY=None", "DOWNLOAD_MAXSIZE=0", "DOWNLOAD_WARNSIZE=", "DEPTH_PRIORITY=-1",
		"RETRY_PRIORITY_ADJUST=-5", "REDIRECT_PRIORITY_ADJUST=-2", "RETRY_TIMES=0", "LOGSTATS_INTERVAL=0",
		"JOB_SYNC_INTERVAL=0", "SHUTDOWN_GRACE=0", "USER_AGENT=None", "JOBDIR=None", "JOBDIR=", "JOBDIR=crawls/%(name)s/100%%", "SCHEDULER_START_DISK_QUEUE=None",
		"SCHEDULER_START_MEMORY_QUEUE=", "DEFAULT_REQUEST_HEADERS={}", "ROBOTSTXT_OBEY=True", "AUTOTHROTTLE_MAX_DELAY=0.5", "METAREFRESH_MAXDELAY=0", "METAREFRESH_IGNORE_TAGS=",
		`DOWNLOAD_SLOTS={"*.a.test": {"concurrency": 1, "delay": 2.5, "randomize_delay": false, "throttle": false}, "mine": {"delay": "250ms"}, "a.test:80": {"delay": "2"}}`, "RETRY_HTTP_CODES=", "RETRY_BACKOFF=None", "RETRY_EXCEPTIONS=",
		"RETRY_EXCEPTIONS=dns,data loss,scrapy.exceptions.DownloadTimeoutError,mypackage.BusyError", "ROBOTSTXT_CRAWL_DELAY=Enforce",
		"SCHEDULER=scrapy.core.scheduler.Scheduler", "SCHEDULER_PRIORITY_QUEUE=scrapy.pqueues.ScrapyPriorityQueue",
		"SCHEDULER_MEMORY_QUEUE=scrapy.squeues.LifoMemoryQueue", "DUPEFILTER_CLASS=scrapy.dupefilters.BaseDupeFilter",
		"HTTPCACHE_POLICY=scrapy.extensions.httpcache.RFC2616Policy", "HTTPCACHE_POLICY=rfc2616", "HTTPCACHE_POLICY=scrapy.extensions.httpcache.DummyPolicy",
		"HTTPCACHE_STORAGE=scrapy.extensions.httpcache.FilesystemCacheStorage", "HTTPCACHE_EXPIRATION_SECS=3600", "HTTPCACHE_MAX_SIZE=2GiB",
	} {
		if _, warnings, err := r.Builder().Assign(arg).Build(); err != nil || len(warnings) > 0 {
			t.Errorf("%q: %v, %v", arg, err, warnings)
		}
	}
}

// A caller that changes a definition changes its own copy.
func TestDefsAreCopies(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	for d := range r.Defs() {
		switch d.Name {
		case "SCHEDULER":
			d.Choices[0] = "mine"
			clear(d.Aliases)
		case "HTTPCACHE_STORAGE":
			clear(d.Refused)
		case "SPIDER_MIDDLEWARES_BASE":
			clear(d.Default.(map[string]int))
		}
	}
	s, _, err := r.Builder().Assign("SCHEDULER=scrapy.core.scheduler.Scheduler").Build()
	if err != nil || len(s.Components("SPIDER_MIDDLEWARES")) != 5 {
		t.Errorf("after the change: %v", err)
	}
	if _, _, err := r.Builder().Assign("HTTPCACHE_STORAGE=scrapy.extensions.httpcache.DbmCacheStorage").Build(); err == nil || !strings.Contains(err.Error(), noDBM) {
		t.Errorf("after the change: %v, want %q", err, noDBM)
	}
}

func BenchmarkNewRegistry(b *testing.B) {
	for b.Loop() {
		NewRegistry()
	}
}

func BenchmarkBuild(b *testing.B) {
	r := NewRegistry()
	for b.Loop() {
		if _, _, err := r.Builder().Assign("DOWNLOAD_DELAY=0.25").Build(); err != nil {
			b.Fatal(err)
		}
	}
}
