package main

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawltest"
)

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
