package downloader

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// program returns a server that is installed on this machine, to test with what
// others have written, and skips the test where it is not.
func program(t *testing.T, name string) string {
	t.Helper()
	for _, file := range []string{name, "/usr/sbin/" + name} { // which is not on the path of every user
		if path, err := exec.LookPath(file); err == nil {
			return path
		}
	}
	t.Skipf("there is no %s: install it to test with a real server", name)
	return ""
}

// start runs a server until the test ends, and returns when it listens.
func start(t *testing.T, addr, program string, args ...string) {
	t.Helper()
	var output logBuffer
	server := exec.CommandContext(t.Context(), program, args...)
	server.Stdout, server.Stderr = &output, &output
	server.Cancel = func() error { return server.Process.Signal(syscall.SIGTERM) } // so that it tidies up
	server.WaitDelay = 10 * time.Second
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Wait() }) // the context of the test has ended then
	if !listening(t, addr) {
		t.Fatalf("%s does not listen at %s: %s", program, addr, output.String())
	}
}

// listening waits until somebody listens, and reports whether that came to pass.
func listening(t *testing.T, addr string) bool {
	t.Helper()
	tick, late := time.NewTicker(10*time.Millisecond), time.After(30*time.Second)
	defer tick.Stop()
	for {
		if c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr); err == nil {
			_ = c.Close()
			return true
		}
		select {
		case <-tick.C:
		case <-late:
			return false
		}
	}
}

// freeAddr returns an address of a host at which nobody listens. Without such a
// host, as where there is no IPv6, the test is skipped.
func freeAddr(t *testing.T, host string) (addr, port string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Skipf("this machine has no address %s: %v", host, err)
	}
	defer l.Close()
	addr = l.Addr().String()
	_, port, _ = net.SplitHostPort(addr)
	return addr, port
}

// folder returns a folder with some files, which the user that a server becomes
// can read.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // there is nothing secret in it.
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil { //nolint:gosec // the same.
			t.Fatal(err)
		}
	}
	return dir
}
