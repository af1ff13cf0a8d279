package main

import (
	"math/rand/v2"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawltest"
)

// The promise: whenever the process is killed, the same command goes on;
// nothing is lost, no item is there twice, no line is torn.
func TestKill(t *testing.T) {
	for killed := 0; killed < *kills; {
		j := newJob(t, crawltest.Config{Pages: 250, Latency: 4 * time.Millisecond}, "-s", "JOB_WHEN_FINISHED=stop")
		for range 5 {
			if j.killOnce() {
				killed++
			}
		}
		j.finish()
		j.check()
	}
}

// killOnce starts the crawl and kills it at a random moment. It reports whether
// that was before its end.
func (j *job) killOnce() bool {
	j.t.Helper()
	p := j.start()
	moment := time.NewTimer(time.Duration(rand.IntN(120)) * time.Millisecond)
	defer moment.Stop()
	select {
	case <-moment.C:
	case <-p.done:
	}
	p.signal(j.t, syscall.SIGKILL)
	switch c := p.code(); c {
	case -1:
		return true
	case 0:
		return false
	default:
		j.t.Fatalf("exit code %d; log:\n%s", c, p.log.String())
		return false
	}
}

// A container that is replaced: another pid namespace, another host name, the
// same directory. The crawl is process 1 there, and obeys SIGTERM.
func TestOtherNamespaces(t *testing.T) {
	wrap := func(host string) []string {
		return []string{"unshare", "--pid", "--uts", "--fork", "--kill-child", "sh", "-c", `hostname ` + host + ` && exec "$@"`, "sh"}
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", append(wrap("probe")[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no namespaces here: %v: %s", err, out)
	}
	j := newJob(t, crawltest.Config{Pages: 200, Latency: 4 * time.Millisecond}, "-s", "JOB_WHEN_FINISHED=stop")
	j.wrap = wrap("first")
	reached := j.after(60)
	p := j.start()
	<-reached
	p.signal(t, syscall.SIGKILL) // unshare dies, and its child with it
	<-p.done
	j.wrap = wrap("second")
	j.finish()
	j.check()
}
