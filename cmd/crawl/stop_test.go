package main

import (
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawltest"
)

// ENG-26, scrapy/scrapy#450, zoxy-io/zrk#41, katana#374: both signals stop the crawl, the
// same command finishes it, and nothing is lost or there twice.
func TestSignalAndResume(t *testing.T) {
	for _, s := range []struct {
		sig  syscall.Signal
		code int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
		t.Run(s.sig.String(), func(t *testing.T) {
			t.Parallel()
			for range 10 {
				j := newJob(t, crawltest.Config{Pages: 150, Latency: 3 * time.Millisecond})
				moment := 1 + rand.IntN(j.n-12)
				reached, release := j.after(moment), j.hold(moment+12)
				defer release()
				p := j.start()
				<-reached
				p.signal(t, s.sig)
				p.waitFor(t, "Received SIG")
				release()
				if c := p.code(); c != s.code {
					t.Fatalf("exit code %d, want %d; log:\n%s", c, s.code, p.log.String())
				}
				again := j.finish()
				if !strings.Contains(again.log.String(), "Resuming crawl (") {
					t.Errorf("the log of the second run lacks «Resuming crawl»:\n%s", again.log.String())
				}
				j.check()
				for path, n := range j.site.Hits() {
					if n != 1 && path != "/robots.txt" { // which each run asks for anew
						t.Errorf("%s was downloaded %d times", path, n)
					}
				}
			}
		})
	}
}

// A signal while only the last page is on the wire leaves a job to resume, even
// if nothing is left to crawl.
func TestSignalAtTheLastPage(t *testing.T) {
	j := newJob(t, crawltest.Config{Pages: 30, Latency: 100 * time.Millisecond}, "-s", "CONCURRENT_REQUESTS=30", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=30")
	reached := j.after(j.n)
	p := j.start()
	<-reached
	p.signal(t, syscall.SIGINT)
	if c := p.code(); c != 130 {
		t.Fatalf("exit code %d, want 130", c)
	}
	again := j.finish()
	if !strings.Contains(again.log.String(), "Resuming crawl (0 requests scheduled)") {
		t.Errorf("log of the second run:\n%s", again.log.String())
	}
	j.check()
}

// ENG-27, scrapy/scrapy#2399: the second signal cuts the wire and the job stays
// whole.
func TestSecondSignal(t *testing.T) {
	j := newJob(t, crawltest.Config{Pages: 40, Latency: 400 * time.Millisecond})
	reached := j.after(9)
	p := j.start()
	<-reached
	p.signal(t, syscall.SIGINT)
	p.waitFor(t, "Received SIGINT")
	p.signal(t, syscall.SIGTERM) // another signal: the same one might count as an echo
	if c := p.code(); c != 130 {
		t.Fatalf("exit code %d, want 130; log:\n%s", c, p.log.String())
	}
	j.finish()
	j.check()
}

// At most CONCURRENT_REQUESTS requests are in progress, and every page comes once.
func TestConcurrency(t *testing.T) {
	j := newJob(t, crawltest.Config{Pages: 400, Latency: time.Millisecond}, "-s", "CONCURRENT_REQUESTS=20", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=20")
	j.finish()
	j.check()
	if j.peak > 20 || j.peak < 2 {
		t.Errorf("%d requests at a time, want 20 at most", j.peak)
	}
	for path, n := range j.site.Hits() {
		if n != 1 {
			t.Errorf("%s was downloaded %d times", path, n)
		}
	}
}
