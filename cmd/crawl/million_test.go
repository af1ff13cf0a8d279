package main

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A million queued requests take little memory, and are there again after a
// stop, within seconds (crawlee#1845).
func TestMillionQueued(t *testing.T) {
	if testing.Short() {
		t.Skip("queues a million requests")
	}
	const n = 1_000_000
	dir := t.TempDir()
	hit := make(chan struct{})
	var once sync.Once
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		once.Do(func() { close(hit) })
		<-r.Context().Done()
	}))
	defer srv.Close()
	list := filepath.Join(dir, "urls.txt")
	writeURLs(t, list, srv.URL, n)
	args := []string{binary, "site", "-a", "start=@" + list, "-s", "JOBDIR=" + filepath.Join(dir, "job"), "-s", "CONCURRENT_REQUESTS=1", "-s", "SHUTDOWN_GRACE=0"}

	start := time.Now()
	p := startProcess(t, args)
	<-hit
	waitUntilStill(t, filepath.Join(dir, "job", "requests.queue"))
	p.signal(t, syscall.SIGINT)
	if c := p.code(); c != 130 {
		t.Fatalf("exit code %d; log:\n%s", c, p.log.String())
	}
	rss := p.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	t.Logf("queued for %v, %d MiB resident at most", time.Since(start).Round(time.Millisecond), rss)
	if rss >= 150 {
		t.Errorf("%d MiB resident, want under 150", rss)
	}

	start = time.Now()
	p = startProcess(t, args)
	p.waitFor(t, fmt.Sprintf("Resuming crawl (%d requests scheduled)", n))
	t.Logf("reopened in %v", time.Since(start).Round(time.Millisecond))
	p.signal(t, syscall.SIGINT)
	if c := p.code(); c != 130 {
		t.Fatalf("exit code %d; log:\n%s", c, p.log.String())
	}
	if rss := p.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10; rss >= 150 {
		t.Errorf("%d MiB resident after reopening, want under 150", rss)
	}
}

// writeURLs writes a list of distinct URLs.
func writeURLs(t *testing.T, name, base string, n int) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for i := range n {
		fmt.Fprintf(w, "%s/some/path/to/page-%d\n", base, i)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// waitUntilStill waits until a directory has stopped growing.
func waitUntilStill(t *testing.T, dir string) {
	t.Helper()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	last, still := int64(-1), 0
	for still < 6 {
		<-tick.C
		size := sizeOf(t, dir)
		if size == last {
			still++
		} else {
			last, still = size, 0
		}
	}
}

func sizeOf(t *testing.T, dir string) int64 {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var n int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}
