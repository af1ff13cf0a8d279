package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
)

// A job is of one scheduler and one fingerprinter.
func TestJobKnowsItsComponents(t *testing.T) {
	job, feed, _ := inJob(t)
	p := &probe{fetch: always, fingerprint: lower, schedule: newMinimal}
	crawlWith := func(assign ...string) error {
		o := probeOptions(t, p, p.starts("http://a.test/1"), append(assign, job)...)
		o.Feeds = feed
		return finish(t.Context(), t, o).err
	}
	if err := crawlWith("REQUEST_FINGERPRINTER_CLASS=probe"); err != nil {
		t.Fatal(err)
	}
	err := crawlWith()
	if !errors.Is(err, jobs.ErrUnusable) || !strings.Contains(err.Error(), `"probe"`) || !strings.Contains(err.Error(), `"sha1"`) {
		t.Errorf("another fingerprinter: error %v, want both names", err)
	}
	if err := crawlWith("REQUEST_FINGERPRINTER_CLASS=probe", "SCHEDULER=watched"); !errors.Is(err, jobs.ErrUnusable) {
		t.Errorf("another scheduler: error %v, want it refused", err)
	}
	if err := crawlWith("REQUEST_FINGERPRINTER_CLASS=probe"); err != nil {
		t.Errorf("the job was hurt: %v", err)
	}
}

// lower is a fingerprinter that takes no notice of letter case.
func lower(r *crawl.Request) (scheduler.Fingerprint, error) {
	return scheduler.FingerprintOf(r.Verb(), strings.ToLower(r.URL), r.Body), nil
}

// DUP-04 and FP-26: the fingerprinter of the settings decides what is a
// duplicate.
func TestFingerprinter(t *testing.T) {
	for class, want := range map[string]int64{"probe": 1, "sha1": 2} {
		p := &probe{fetch: always, fingerprint: lower}
		p.starts("http://a.test/index.html", "http://a.test/INDEX.html").crawl(t, "REQUEST_FINGERPRINTER_CLASS="+class).
			want(t, "finished", map[string]int64{"response_received_count": want, "dupefilter/filtered": 2 - want})
	}
}

// LOOP-16: a start request without fingerprint ends the crawl; in a callback it
// is an error of that.
func TestFingerprinterFails(t *testing.T) {
	for name, fail := range map[string]func() error{
		"error": func() error { return errors.New("no print") },
		"panic": func() error { panic("no print") },
	} {
		t.Run(name, func(t *testing.T) {
			p := &probe{fetch: always}
			p.fingerprint = func(r *crawl.Request) (fp scheduler.Fingerprint, err error) {
				if strings.HasSuffix(r.URL, "bad") {
					return fp, fail()
				}
				return lower(r)
			}
			p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
				if strings.HasSuffix(r.URL, "1") {
					out.Follow("/bad", nil)
					out.Follow("/2", nil)
				}
				return nil
			}
			p.starts("http://a.test/1").crawl(t, "REQUEST_FINGERPRINTER_CLASS=probe").
				want(t, "finished", map[string]int64{"response_received_count": 2, "spider_exceptions/count": 1})
			p.starts("http://a.test/bad", "http://a.test/3").crawl(t, "REQUEST_FINGERPRINTER_CLASS=probe").
				want(t, "shutdown", map[string]int64{"spider_exceptions/count": 0})
			p.wantLogged(t, map[string]int{"Error while processing requests from start()": 1, "Spider closed (shutdown)": 1, "Error while reading start": 0})
		})
	}
}

// STATS_CLASS: a collector gets all figures once, at the end, and its error is no
// failure of the crawl; dummy keeps none.
func TestStatsCollector(t *testing.T) {
	for class, want := range map[string]int{"memory": 0, "dummy": 0, "probe": 1} {
		t.Run(class, func(t *testing.T) {
			var mu sync.Mutex
			var got []map[string]any
			p := &probe{fetch: always}
			p.collect = func(reason string, figures map[string]any) error {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, figures)
				if reason != "finished" || figures["finish_reason"] != "finished" || figures["response_received_count"] != int64(1) {
					t.Errorf("reason %q, figures %v", reason, figures)
				}
				return errors.New("the disk is full")
			}
			end := p.starts("http://a.test/1").crawl(t, "STATS_CLASS="+class)
			if len(got) != want || p.logged("the disk is full") != want {
				t.Errorf("collected %d times, want %d", len(got), want)
			}
			if shown := len(end.stats) > 0; shown != (class != "dummy") {
				t.Errorf("stats %v", end.stats)
			}
			if class == "dummy" && p.logged("response_received_count") > 0 {
				t.Error("the log shows figures")
			}
		})
	}
}
