package downloader

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// announced returns the address in the argument of an EPRT or PORT.
func announced(argument string) string {
	if parts := strings.Split(argument, "|"); len(parts) == 5 {
		return net.JoinHostPort(parts[2], parts[3])
	}
	var b [6]int
	_, _ = fmt.Sscanf(argument, "%d,%d,%d,%d,%d,%d", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5]) // what is wrong is no address
	return fmt.Sprintf("%d.%d.%d.%d:%d", b[0], b[1], b[2], b[3], b[4]<<8|b[5])
}

func active(c *FTPConfig) { c.Active = true }

// FTP_PASSIVE_MODE=False: the server is told where the data is awaited, at the
// address of the control connection, in the words that it knows.
func TestFTPActive(t *testing.T) {
	for name, c := range map[string]struct {
		says map[string]string
		want []string // what the server hears, without the numbers
	}{
		"EPRT": {nil, []string{"EPRT |1|127.0.0.1|"}},
		"PORT": {map[string]string{"EPRT": "500 what?"}, []string{"EPRT |1|127.0.0.1|", "PORT 127,0,0,1,"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &ftpServer{file: "hello", says: c.says}
			h, _ := newFTP(t, active)
			if resp := mustFetch(t, h, &crawl.Request{URL: s.url(t, "/x")}); string(resp.Body) != "hello" {
				t.Errorf("body = %q", resp.Body)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			got := slices.DeleteFunc(slices.Clone(s.heard), func(line string) bool {
				return !strings.HasPrefix(line, "EPRT") && !strings.HasPrefix(line, "PORT")
			})
			if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("the server heard %q, want %q", s.heard, c.want)
			}
		})
	}
}

// Options.FTPMode, Scrapy's ftp_passive, counts before FTP_PASSIVE_MODE.
func TestFTPMode(t *testing.T) {
	for _, c := range []struct {
		active bool
		mode   string
		want   string
	}{{false, "", "EPSV"}, {true, "", "EPRT"}, {false, "active", "EPRT"}, {true, "passive", "EPSV"}} {
		s := &ftpServer{file: "x"}
		env, _ := newEnv(t, map[string]any{"FTP_PASSIVE_MODE": !c.active})
		env.Dial = plainDialer().Dial
		h, err := ftpFromSettings(env)
		if err != nil {
			t.Fatal(err)
		}
		mustFetch(t, h, &crawl.Request{URL: s.url(t, "/x"), Options: crawl.Options{FTPMode: c.mode}})
		s.mu.Lock()
		if command, _, _ := strings.Cut(s.heard[3], " "); command != c.want {
			t.Errorf("%+v: the server heard %s", c, command)
		}
		s.mu.Unlock()
	}
	h, _ := newFTP(t)
	_, err := h.Fetch(t.Context(), &crawl.Request{URL: "ftp://a.test/x", Options: crawl.Options{FTPMode: "port"}})
	wantFailure(t, err, crawl.FailUnsupported, "UnsupportedURLSchemeError")
}

// A file that another machine brings is not taken, although it comes first.
func TestFTPActiveStranger(t *testing.T) {
	s := &ftpServer{file: "hello"}
	s.before = func(client string) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
		c, err := d.DialContext(t.Context(), "tcp", client)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = c.Write([]byte("forged"))
		_ = c.Close()
	}
	h, _ := newFTP(t, active)
	if resp := mustFetch(t, h, &crawl.Request{URL: s.url(t, "/x")}); string(resp.Body) != "hello" {
		t.Errorf("body = %q", resp.Body)
	}
}

// What a server refuses is its answer, and one that never connects is left when the
// time is over.
func TestFTPActiveFails(t *testing.T) {
	h, _ := newFTP(t, active)
	for _, says := range []map[string]string{
		{"EPRT": "500 what?", "PORT": "500 illegal"}, {"RETR": "425 can not connect"},
	} {
		s := &ftpServer{says: says}
		if resp := mustFetch(t, h, &crawl.Request{URL: s.url(t, "/x")}); resp.Status != 503 {
			t.Errorf("%v: got %d %q, want 503", says, resp.Status, resp.Body)
		}
	}
	s := &ftpServer{says: map[string]string{"RETR": "150 coming"}}
	_, err := h.Fetch(t.Context(), &crawl.Request{URL: s.url(t, "/x"), Options: crawl.Options{Timeout: 50 * time.Millisecond}})
	wantFailure(t, err, crawl.FailTimeout, "DownloadTimeoutError")
}

// Options.FTPLocalFilename, Scrapy's ftp_local_filename: the file is there when it
// is whole, with its old content until then, and no part of it is left.
func TestFTPLocalFilename(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.html")
	h, _ := newFTP(t)
	fetch := func(s *ftpServer, name string) (*crawl.Response, error) {
		return h.Fetch(t.Context(), &crawl.Request{URL: s.url(t, "/a.html"), Options: crawl.Options{FTPLocalFilename: name}})
	}
	content := func() string {
		b, err := os.ReadFile(name)
		if files, _ := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(files) != 1 {
			t.Fatalf("there are the files %q, %v, want one", files, err)
		}
		return string(b)
	}
	resp, err := fetch(&ftpServer{file: "hello"}, name)
	if err != nil {
		t.Fatal(err)
	}
	if string(resp.Body) != name || resp.Header.Get("Local Filename") != name || resp.Header.Get("Size") != "5" || resp.Header.Get("Content-Type") != "" {
		t.Errorf("response = %q %v", resp.Body, resp.Header)
	}
	if got := content(); got != "hello" {
		t.Errorf("the file holds %q", got)
	}
	_, err = fetch(&ftpServer{file: "hal", says: map[string]string{"end": "426 broken off"}}, name)
	wantFailure(t, err, crawl.FailDataLoss, "ResponseDataLossError")
	_, err = fetch(&ftpServer{file: strings.Repeat("x", 101)}, name)
	wantFailure(t, err, crawl.FailTooLarge, "DownloadCancelledError")
	if typ := fmt.Sprintf("%T", err); typ != "*crawl.DownloadError" {
		t.Errorf("the error is a %s, want it as others are", typ)
	}
	_, err = fetch(&ftpServer{file: "x"}, filepath.Join(dir, "none", "a"))
	wantFailure(t, err, crawl.FailOther, "FileNotFoundError")
	_, err = fetch(&ftpServer{file: "x"}, dir)
	wantFailure(t, err, crawl.FailOther, "OSError")
	if got := content(); got != "hello" {
		t.Errorf("the file holds %q after failures", got)
	}
	if _, err := fetch(&ftpServer{file: strings.Repeat("y", 100)}, name); err != nil || content() != strings.Repeat("y", 100) {
		t.Errorf("the file holds %q, %v", content(), err)
	}
}
