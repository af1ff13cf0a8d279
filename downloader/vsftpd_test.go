package downloader

import (
	"net/http"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// vsftpd starts the server of that name on a folder that holds a.txt, and returns
// the URL of the folder. Those who log in need the password "right".
func vsftpd(t *testing.T, host string) string {
	t.Helper()
	path := program(t, "vsftpd")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	addr, port := freeAddr(t, host)
	dir := folder(t, map[string]string{"a.txt": "from a real server", "emails": "right\n"})
	listen := []string{"listen=YES", "listen_address=" + host}
	if strings.Contains(host, ":") {
		listen = []string{"listen_ipv6=YES", "listen_address6=" + host}
	}
	config := folder(t, map[string]string{"vsftpd.conf": strings.Join(append(
		listen, "listen_port="+port, "background=NO", "run_as_launching_user=YES", "ftp_username="+me.Username,
		"anonymous_enable=YES", "local_enable=NO", "anon_root="+dir, "secure_email_list_enable=YES", "email_password_file="+filepath.Join(dir, "emails"),
		"anon_world_readable_only=NO", "seccomp_sandbox=NO", "isolate=NO", "isolate_network=NO", "xferlog_enable=NO", "delay_failed_login=0", "",
	), "\n")})
	start(t, addr, path, filepath.Join(config, "vsftpd.conf"))
	return "ftp://" + addr + dir
}

// The handler works with a real server, over IPv4 and IPv6, in passive and in active
// mode: a file, one that is not there, and a wrong password.
func TestFTPVsftpd(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		t.Run(host, func(t *testing.T) {
			folder := vsftpd(t, host)
			for _, mode := range []string{"passive", "active"} {
				h, _ := newFTP(t, func(c *FTPConfig) { c.Password, c.Active = "right", mode == "active" })
				resp := mustFetch(t, h, &crawl.Request{URL: folder + "/a.txt"})
				if string(resp.Body) != "from a real server" || resp.Status != http.StatusOK || resp.Header.Get("Content-Type") != "text/plain" {
					t.Errorf("%s: response = %d %q", mode, resp.Status, resp.Body)
				}
				if resp := mustFetch(t, h, &crawl.Request{URL: folder + "/b.txt"}); resp.Status != http.StatusNotFound {
					t.Errorf("%s: a missing file: %d %q, want 404", mode, resp.Status, resp.Body)
				}
				wrong := crawl.Options{FTPPassword: "wrong"}
				if resp := mustFetch(t, h, &crawl.Request{URL: folder + "/a.txt", Options: wrong}); resp.Status != http.StatusUnauthorized {
					t.Errorf("%s: a wrong password: %d %q, want 401", mode, resp.Status, resp.Body)
				}
			}
		})
	}
}
