package settings

import (
	"strings"
	"testing"
)

// The counts by first word of the names that Scrapy 2.18 has, beside the ones
// that are ours. A setting that is lost from the table shows here.
func TestEveryScrapySettingIsKnown(t *testing.T) {
	t.Parallel()
	ours := map[string]bool{
		"CONCURRENT_PARSES": true, "COOKIES_PERSIST": true, "DOWNLOAD_MAX_IDLE_CONNECTIONS": true, "JOB_SYNC_INTERVAL": true,
		"JOB_MAX_DISK": true, "HTTPCACHE_MAX_SIZE": true, "DENY_PRIVATE_NETWORKS": true,
		"JOB_WHEN_FINISHED": true, "RETRY_BACKOFF": true, "RETRY_BACKOFF_MAX": true, "ROBOTSTXT_CRAWL_DELAY": true, "ROBOTSTXT_MAX_CRAWL_DELAY": true,
		"SCHEDULER_MAX_PENDING": true, "SHUTDOWN_GRACE": true,
		"DOWNLOAD_MAX_ACTIVE_SIZE": true, "HTTP_STRICT": true,
	}
	areas := map[string]int{}
	total := 0
	for d := range NewRegistry().Defs() {
		if ours[d.Name] {
			delete(ours, d.Name)
			continue
		}
		word, _, _ := strings.Cut(d.Name, "_")
		areas[word]++
		total++
	}
	if total != 216 || len(ours) != 0 {
		t.Errorf("%d names of Scrapy, want 216; ours that are missing: %v", total, ours)
	}
	for word, want := range map[string]int{
		"AUTOTHROTTLE": 5, "AWS": 8, "CLOSESPIDER": 6, "CONCURRENT": 4, "COOKIES": 2, "DEPTH": 3, "DNS": 2,
		"DNSCACHE": 2, "DOWNLOAD": 12, "DOWNLOADER": 8, "DUPEFILTER": 2, "EXTENSIONS": 2, "FEED": 16, "FEEDS": 1,
		"FILES": 6, "FTP": 3, "HTTPAUTH": 3, "HTTPCACHE": 12, "HTTPERROR": 2, "HTTPPROXY": 2, "IMAGES": 9,
		"ITEM": 3, "LOG": 11, "MAIL": 7, "MEMUSAGE": 5, "METAREFRESH": 3, "PERIODIC": 3, "REDIRECT": 3,
		"REFERRER": 2, "REMOTE": 6, "RETRY": 6, "ROBOTSTXT": 3, "SCHEDULER": 7, "SPIDER": 7, "TELNETCONSOLE": 5,
		"TWISTED": 3,
	} {
		if areas[word] != want {
			t.Errorf("%d settings named %s…, want %d", areas[word], word, want)
		}
	}
}

// Scrapy's own value of a setting that is missing here stops nobody, whatever
// the layer.
func TestUnsupportedDefaultsAreNoErrors(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	for d := range r.Defs() {
		if d.Status == Unsupported {
			if _, _, err := r.Builder().Assign(d.Name + "=" + Format(d.Default)).Build(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ arg, problem, warning string }{
		{arg: "TELNETCONSOLE_ENABLED=False"},
		{arg: "TELNETCONSOLE_ENABLED=0"},
		{arg: "MEMDEBUG_ENABLED=no"},
		{arg: "HTTPCACHE_DBM_MODULE=dbm"},
		{arg: "REMOTE_CONTROL_ENABLED=False"},
		{arg: "LOG_ENCODING=utf-8"},
		{arg: "LOG_VERSIONS="},
		{arg: "REMOTE_CONTROL_ENABLED=True", warning: "no remote control"}, // the default, but not what happens
		{arg: "TELNETCONSOLE_PORT=6023", problem: "no telnet console"},
		{arg: "MEMDEBUG_ENABLED=maybe", problem: "no Python objects"},
		{arg: "LOG_STDOUT=True", problem: "not redirected"},
		{arg: "FEED_EXPORT_BATCH_ITEM_COUNT=2", problem: "does not split a feed"},
	} {
		t.Run(c.arg, func(t *testing.T) {
			t.Parallel()
			_, warnings, err := NewRegistry().Builder().Assign(c.arg).Build()
			if !says(lines(err), c.problem) {
				t.Errorf("error %v, want %q", err, c.problem)
			}
			var texts []string
			for _, w := range warnings {
				texts = append(texts, w.String())
			}
			if !says(texts, c.warning) {
				t.Errorf("warnings %q, want %q", texts, c.warning)
			}
		})
	}
}

// says reports whether there is exactly one text with these words, or none if
// there are no words.
func says(texts []string, words string) bool {
	if words == "" {
		return len(texts) == 0
	}
	return len(texts) == 1 && strings.Contains(texts[0], words)
}
