package downloader

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// vsftpd starts the server of that name on a folder that holds a.txt, and returns
// the URL of the folder. Those who log in need the password "right".
func vsftpd(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("vsftpd")
	if err != nil {
		if program = "/usr/sbin/vsftpd"; exec.CommandContext(t.Context(), "test", "-x", program).Run() != nil {
			t.Skip("there is no vsftpd: install it to test ftp with a real server")
		}
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	addr := freePort(t)
	_, port, _ := net.SplitHostPort(addr)
	config := filepath.Join(dir, "vsftpd.conf")
	for name, text := range map[string]string{
		filepath.Join(dir, "a.txt"):  "from a real server",
		filepath.Join(dir, "emails"): "right\n",
		config: strings.Join([]string{
			"listen=YES", "listen_address=127.0.0.1", "listen_port=" + port, "background=NO", "run_as_launching_user=YES", "ftp_username=" + me.Username,
			"anonymous_enable=YES", "local_enable=NO", "anon_root=" + dir, "secure_email_list_enable=YES", "email_password_file=" + filepath.Join(dir, "emails"),
			"anon_world_readable_only=NO", "seccomp_sandbox=NO", "isolate=NO", "isolate_network=NO", "xferlog_enable=NO", "",
		}, "\n"),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := exec.CommandContext(t.Context(), program, config)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	awaitServer(t, addr)
	return fmt.Sprintf("ftp://%s%s", addr, dir)
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// awaitServer returns when somebody listens.
func awaitServer(t *testing.T, addr string) {
	t.Helper()
	tick, late := time.NewTicker(20*time.Millisecond), time.After(10*time.Second)
	defer tick.Stop()
	for {
		if c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr); err == nil {
			_ = c.Close()
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("nobody listens at %s", addr)
		}
	}
}

// The handler works with a real server: a file, one that is not there, and a
// wrong password.
func TestFTPRealServer(t *testing.T) {
	folder := vsftpd(t)
	h, _ := newFTP(t, func(c *FTPConfig) { c.Password = "right" })
	resp := mustFetch(t, h, &crawl.Request{URL: folder + "/a.txt"})
	if string(resp.Body) != "from a real server" || resp.Status != http.StatusOK || resp.Header.Get("Content-Type") != "text/plain" {
		t.Errorf("response = %d %q", resp.Status, resp.Body)
	}
	if resp := mustFetch(t, h, &crawl.Request{URL: folder + "/b.txt"}); resp.Status != http.StatusNotFound {
		t.Errorf("a missing file: %d %q, want 404", resp.Status, resp.Body)
	}
	wrong := crawl.Options{FTPPassword: "wrong"}
	if resp := mustFetch(t, h, &crawl.Request{URL: folder + "/a.txt", Options: wrong}); resp.Status != http.StatusServiceUnavailable {
		t.Errorf("a wrong password: %d %q, want 503", resp.Status, resp.Body)
	}
}
