package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skeincrawl/skein/crawltest"
)

// 2,500 hosts whose server never closes an idle connection, and 1,024
// descriptors: the idle connections must be closed from this side.
func TestManyHosts(t *testing.T) {
	const hosts = 2500
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	url := func(i int) string { return fmt.Sprintf("http://127.0.%d.%d:%s/p/%d", i/250, i%250+1, port, i) }
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var i int
		if _, err := fmt.Sscanf(r.URL.Path, "/p/%d", &i); err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		for _, c := range []int{2*i + 1, 2*i + 2} {
			if c < hosts {
				fmt.Fprintf(w, `<a href="%s">x</a>`, url(c))
			}
		}
	}))
	_ = srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	defer srv.Close()

	dir := t.TempDir()
	out := filepath.Join(dir, "out.jsonl")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -S -n 1024; ulimit -H -n 1024; exec "$@"`, "sh", binary, "site",
		"-a", "start="+url(0), "-a", "domains=*", "-o", out, "-s", "JOBDIR="+filepath.Join(dir, "job"), "-s", "CONCURRENT_REQUESTS=32")
	if log, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v; log:\n%s", err, log)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "\n"); n != hosts {
		t.Errorf("%d items, want %d", n, hosts)
	}
	if n := strings.Count(string(b), `"status":200`); n != hosts {
		t.Errorf("%d items of status 200, want %d", n, hosts)
	}
}

// A full disk ends the crawl with one sentence, and with more room the same
// command finishes it.
func TestFullDisk(t *testing.T) {
	j := newJob(t, crawltest.Config{Pages: 1500, Links: 20})
	dir := filepath.Join(j.dir, "job")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=640k"); err != nil {
		t.Skipf("a small file system can not be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	p := j.start()
	if c := p.code(); c != 1 || !strings.Contains(p.log.String(), "no space left on device") {
		t.Fatalf("exit code %d, want 1; log:\n%s", c, p.log.String())
	}
	lines := strings.Split(strings.TrimSpace(p.log.String()), "\n")
	if last := lines[len(lines)-1]; last != "crawl: the crawl failed: disk_full" {
		t.Errorf("last line: %s", last)
	}
	if err := syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	j.finish()
	j.check()
}
