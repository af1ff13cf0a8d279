package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skeincrawl/skein/crawltest"
)

// 2,500 hosts whose server never closes an idle connection, and 1,024
// descriptors: the idle connections must be closed from this side. The job has
// fewer than 100 files, and fewer than 100 of them are open at a time, however
// many hosts wait in it.
func TestManyHosts(t *testing.T) {
	const hosts, few = 2500, 100
	looks := make(chan struct{}, 1)
	url := serveHosts(t, hosts, looks)
	dir := t.TempDir()
	out, job := filepath.Join(dir, "out.jsonl"), filepath.Join(dir, "job")
	p := startProcess(t, []string{
		"sh", "-c", `ulimit -S -n 1024; ulimit -H -n 1024; exec "$@"`, "sh", binary, "site",
		"-a", "start=" + url(0), "-a", "domains=*", "-o", out, "-s", "JOBDIR=" + job, "-s", "JOB_MAX_DISK=1MiB", "-s", "CONCURRENT_REQUESTS=32",
	})
	var most usage
	for p.running(looks) {
		most.raise(usage{files: countFiles(t, job), open: p.openFiles(), descriptors: p.descriptors()})
	}
	if c := p.code(); c != 0 {
		t.Fatalf("exit code %d; log:\n%s", c, p.log.String())
	}
	t.Logf("at most %d files in the job, %d files open, %d descriptors, at %d looks", most.files, most.open, most.descriptors, most.looks)
	if most.files >= few || most.open >= few || most.open == 0 || countFiles(t, job) >= few {
		t.Errorf("%d files in the job and %d open files, want fewer than %d", most.files, most.open, few)
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

// serveHosts serves a page of each host, to which that of the first one leads, and
// returns their addresses. It pokes looks with each request.
func serveHosts(t *testing.T, hosts int, looks chan<- struct{}) (url func(i int) string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	url = func(i int) string { return fmt.Sprintf("http://127.0.%d.%d:%s/p/%d", i/250, i%250+1, port, i) }
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var i int
		if _, err := fmt.Sscanf(r.URL.Path, "/p/%d", &i); err != nil {
			http.NotFound(w, r)
			return
		}
		select {
		case looks <- struct{}{}:
		default:
		}
		w.Header().Set("Content-Type", "text/html")
		for c := 1; c < hosts && i == 0; c++ {
			fmt.Fprintf(w, `<a href="%s">x</a>`, url(c))
		}
	}))
	_ = srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	t.Cleanup(srv.Close)
	return url
}

// usage is what a crawl takes of the system.
type usage struct{ files, open, descriptors, looks int }

func (u *usage) raise(v usage) {
	u.files, u.open, u.descriptors = max(u.files, v.files), max(u.open, v.open), max(u.descriptors, v.descriptors)
	u.looks++
}

// running waits for a poke, and reports false once the process has ended.
func (p *process) running(poke <-chan struct{}) bool {
	select {
	case <-poke:
		return true
	case <-p.done:
		return false
	}
}

// openFiles returns how many descriptors of the process are of files in some
// directory, and not of sockets and the like.
func (p *process) openFiles() (n int) {
	dir := fmt.Sprintf("/proc/%d/fd", p.Process.Pid)
	entries, _ := os.ReadDir(dir) // none once it has ended
	for _, e := range entries {
		if name, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "/dev/") {
			n++
		}
	}
	return n
}

func (p *process) descriptors() int {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Process.Pid))
	return len(entries)
}

// countFiles counts the files below a directory.
func countFiles(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		if errors.Is(err, fs.ErrNotExist) { // it went away just now
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
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
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "crawl: the crawl stopped: the disk of the job is full") {
		t.Errorf("last line: %s", last)
	}
	if err := syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	j.finish()
	j.check()
}
