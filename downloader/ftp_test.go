package downloader

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
)

// ftpServer is a server that says what a test wants of it.
type ftpServer struct {
	says map[string]string // by command, in place of what is usual
	file string
	hold chan struct{} // if not nil, the file ends when it is closed

	before func(client string) // called in active mode before the server connects

	mu    sync.Mutex
	heard []string
}

// url serves on a port of its own.
func (s *ftpServer) url(t testing.TB, path string) string {
	t.Helper()
	return strings.Replace(listen(t, func(c net.Conn, r *bufio.Reader) { s.talk(t, c, r) }), "http://", "ftp://", 1) + path
}

func (s *ftpServer) talk(t testing.TB, c net.Conn, r *bufio.Reader) {
	data, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Error(err)
		return
	}
	defer data.Close()
	client := "" // where it awaits the data, in active mode
	port := data.Addr().(*net.TCPAddr).Port
	usual := map[string]string{
		"": "220-A server\r\n220 ready", "USER": "331 password", "PASS": "230 in", "TYPE": "200 binary",
		"EPSV": fmt.Sprintf("229 here (|||%d|)", port), "PASV": fmt.Sprintf("227 there (192,0,2,1,%d,%d)", port>>8, port&255),
		"EPRT": "200 there", "PORT": "200 there", "RETR": "150 coming", "end": "226 all", "QUIT": "221 bye",
	}
	reply := func(command string) bool {
		text, ok := s.says[command]
		if !ok {
			text = usual[command]
		}
		if text == "" {
			return false
		}
		_, err := io.WriteString(c, text+"\r\n")
		return err == nil && command != "QUIT"
	}
	for goOn := reply(""); goOn; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		s.mu.Lock()
		s.heard = append(s.heard, line)
		s.mu.Unlock()
		command, argument, _ := strings.Cut(line, " ")
		goOn = reply(command)
		if s.says[command] == "" && (command == "EPRT" || command == "PORT") {
			client = announced(argument)
		}
		if command == "RETR" && s.says["RETR"] == "" {
			s.send(t, data, client)
			goOn = reply("end")
		}
	}
}

// send sends the file to who connects, or in active mode to the client.
func (s *ftpServer) send(t testing.TB, l net.Listener, client string) {
	var c net.Conn
	var err error
	if client == "" {
		c, err = l.Accept()
	} else {
		if s.before != nil {
			s.before(client)
		}
		c, err = new(net.Dialer).DialContext(t.Context(), "tcp", client)
	}
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = io.WriteString(c, s.file)
	if s.hold != nil {
		<-s.hold
	}
}

func newFTP(t testing.TB, change ...func(*FTPConfig)) (*FTP, *logBuffer) {
	t.Helper()
	log := &logBuffer{}
	cfg := FTPConfig{Timeout: 20 * time.Second, MaxSize: 100, WarnSize: 50, User: "anonymous", Password: "guest", Log: zerolog.New(log)}
	for _, f := range change {
		f(&cfg)
	}
	return NewFTP(cfg), log
}

// The whole conversation, with the parts of a URL where they belong.
func TestFTP(t *testing.T) {
	for path, want := range map[string]string{"/a/b%20c.TXT;type=i#top": "/a/b c.TXT", "/x?y": "/x", "/%3F": "/?", "": "/"} {
		s := &ftpServer{file: "hello"}
		h, _ := newFTP(t)
		sent := make(chan time.Time, 2)
		resp := mustFetchWith(t, h, &crawl.Request{URL: s.url(t, path)}, func(at time.Time) { sent <- at })
		if string(resp.Body) != "hello" || resp.Status != http.StatusOK || resp.Header.Get("Size") != "5" || resp.Latency <= 0 {
			t.Errorf("%s: %+v", path, resp)
		}
		if got := resp.Header.Get("Content-Type"); (got == "text/plain") != strings.HasSuffix(want, "TXT") {
			t.Errorf("%s: media type %q", path, got)
		}
		s.mu.Lock()
		if script := []string{"USER anonymous", "PASS guest", "TYPE I", "EPSV", "RETR " + want}; len(s.heard) < 5 || !slices.Equal(s.heard[:5], script) {
			t.Errorf("%s: the server heard %q, want %q", path, s.heard, script)
		}
		s.mu.Unlock()
		if len(sent) != 1 {
			t.Errorf("%s: sent %d times, want once", path, len(sent))
		}
	}
}

// mustFetchWith fetches under WithSent.
func mustFetchWith(t testing.TB, f crawl.Fetcher, r *crawl.Request, sent func(time.Time)) *crawl.Response {
	t.Helper()
	resp, err := f.Fetch(WithSent(t.Context(), sent), r)
	if err != nil {
		t.Fatalf("fetch %v: %v", r, err)
	}
	return resp
}

// FTP_USER and FTP_PASSWORD give way to those of the URL, and these to
// Options.FTPUser and FTPPassword, Scrapy's ftp_user and ftp_password.
func TestFTPLogin(t *testing.T) {
	for _, c := range []struct {
		user    string
		options crawl.Options
		want    string
	}{
		{"", crawl.Options{}, "anonymous guest"},
		{"u:p@", crawl.Options{}, "u p"},
		{"u%40x:p%3A1@", crawl.Options{}, "u@x p:1"},
		{"u@", crawl.Options{}, "u "},
		{"u:p@", crawl.Options{FTPUser: "o", FTPPassword: "q"}, "o q"},
		{"u:p@", crawl.Options{FTPPassword: "q"}, "u q"},
	} {
		s := &ftpServer{file: "x"}
		h, _ := newFTP(t)
		mustFetch(t, h, &crawl.Request{URL: strings.Replace(s.url(t, "/x"), "://", "://"+c.user, 1), Options: c.options})
		s.mu.Lock()
		user, pass, _ := strings.Cut(c.want, " ")
		if s.heard[0] != "USER "+user || s.heard[1] != "PASS "+pass && s.heard[1] != strings.TrimSpace("PASS "+pass) {
			t.Errorf("%q with %+v: the server heard %q, want %s", c.user, c.options, s.heard[:2], c.want)
		}
		s.mu.Unlock()
	}
	s := &ftpServer{file: "x", says: map[string]string{"USER": "230 come in"}} // without a password
	h, _ := newFTP(t)
	mustFetch(t, h, &crawl.Request{URL: s.url(t, "/x")})
}

// What a server refuses is a response, 404 for a missing file and 503 else, as in
// Scrapy; 401 for a login, which is not to be tried again.
func TestFTPRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		command, says string
		status        int
	}{
		"no file":     {"RETR", "550 no such file", 404},
		"busy":        {"RETR", "450 file busy", 503},
		"login":       {"PASS", "530 no", 401},
		"no user":     {"USER", "530 no", 401},
		"no password": {"PASS", "421 no", 503},
		"full":        {"", "421 too many users", 503},
		"no passive":  {"PASV", "502 no", 503},
		"no binaries": {"TYPE", "504 no", 503},
	} {
		t.Run(name, func(t *testing.T) {
			s := &ftpServer{says: map[string]string{"EPSV": "500 what?", c.command: c.says}}
			h, _ := newFTP(t)
			resp := mustFetch(t, h, &crawl.Request{URL: s.url(t, "/x")})
			if resp.Status != c.status || string(resp.Body) != c.says {
				t.Errorf("got %d %q, want %d %q", resp.Status, resp.Body, c.status, c.says)
			}
		})
	}
}

// A server that knows no EPSV is asked with PASV, whose address does not count: it
// would let it send the crawl elsewhere.
func TestFTPPassive(t *testing.T) {
	s := &ftpServer{file: "hello", says: map[string]string{"EPSV": "500 what?"}}
	h, _ := newFTP(t)
	if resp := mustFetch(t, h, &crawl.Request{URL: s.url(t, "/x")}); string(resp.Body) != "hello" {
		t.Errorf("body = %q", resp.Body)
	}
	for command, says := range map[string]string{"EPSV": "229 somewhere", "PASV": "227 somewhere (1,2,3)"} {
		s := &ftpServer{says: map[string]string{"EPSV": "500 what?", command: says}}
		_, err := h.Fetch(t.Context(), &crawl.Request{URL: s.url(t, "/x")})
		wantFailure(t, err, crawl.FailConnection, "DownloadFailedError")
	}
}

// Limits hold while the file comes in.
func TestFTPSizes(t *testing.T) {
	s := &ftpServer{file: strings.Repeat("x", 101), hold: make(chan struct{})}
	h, log := newFTP(t)
	_, err := h.Fetch(t.Context(), &crawl.Request{URL: s.url(t, "/x")})
	close(s.hold)
	wantFailure(t, err, crawl.FailTooLarge, "DownloadCancelledError")
	s = &ftpServer{file: strings.Repeat("x", 101)}
	mustFetch(t, h, &crawl.Request{URL: s.url(t, "/x"), Options: crawl.Options{MaxSize: -1}})
	log.wants(t, "Received 101 bytes which is larger than download max size (100)", "Received 101 bytes which is larger than download warn size (50)")
}

// A file that was not sent to its end is no file.
func TestFTPDataLoss(t *testing.T) {
	for _, end := range []string{"426 broken off", "451 disk error"} {
		s := &ftpServer{file: "hal", says: map[string]string{"end": end}}
		h, _ := newFTP(t)
		_, err := h.Fetch(t.Context(), &crawl.Request{URL: s.url(t, "/x")})
		wantFailure(t, err, crawl.FailDataLoss, "ResponseDataLossError")
	}
	u := listen(t, func(c net.Conn, r *bufio.Reader) {}) // hangs up
	h, _ := newFTP(t)
	_, err := h.Fetch(t.Context(), &crawl.Request{URL: strings.Replace(u, "http:", "ftp:", 1)})
	wantFailure(t, err, crawl.FailConnection, "DownloadFailedError")
}

// A server that says nothing, or never ends a file, is left when the time is over
// and when the crawl stops; one that talks without end is left too.
func TestFTPEnds(t *testing.T) {
	silent := listen(t, func(c net.Conn, r *bufio.Reader) { _, _ = r.ReadByte() })
	h, _ := newFTP(t)
	short := crawl.Options{Timeout: 50 * time.Millisecond}
	_, err := h.Fetch(t.Context(), &crawl.Request{URL: strings.Replace(silent, "http:", "ftp:", 1), Options: short})
	wantFailure(t, err, crawl.FailTimeout, "DownloadTimeoutError")
	s := &ftpServer{file: "x", hold: make(chan struct{})}
	defer close(s.hold)
	_, err = h.Fetch(t.Context(), &crawl.Request{URL: s.url(t, "/x"), Options: short})
	wantFailure(t, err, crawl.FailTimeout, "DownloadTimeoutError")

	ctx, cancel := context.WithCancelCause(t.Context())
	ctx = WithSent(ctx, func(time.Time) { cancel(crawl.ErrStopped) })
	if _, err := h.Fetch(ctx, &crawl.Request{URL: s.url(t, "/x")}); !errors.Is(err, crawl.ErrStopped) {
		t.Errorf("error = %v, want one that wraps ErrStopped", err)
	}
	endless := listen(t, func(c net.Conn, r *bufio.Reader) {
		for _, err := io.WriteString(c, "220-a\r\n"); err == nil; {
			_, err = io.WriteString(c, "220-and so on\r\n")
		}
	})
	_, err = h.Fetch(t.Context(), &crawl.Request{URL: strings.Replace(endless, "http:", "ftp:", 1)})
	wantFailure(t, err, crawl.FailConnection, "DownloadFailedError")
}

// httrack#1008: what a URL holds does not end its command.
func TestFTPInjection(t *testing.T) {
	h, _ := newFTP(t)
	for _, u := range []string{"ftp://a.test/x%0d%0aDELE%20y", "ftp://u%0a:p@a.test/", "ftp://a.test/%00"} {
		_, err := h.Fetch(t.Context(), &crawl.Request{URL: u})
		wantFailure(t, err, crawl.FailUnsupported, "UnsupportedURLSchemeError")
	}
}

// What can not be done as a request wants it is not done otherwise: a proxy is
// never passed by.
func TestFTPUnsupported(t *testing.T) {
	h, _ := newFTP(t)
	for u, o := range map[string]crawl.Options{
		"ftp://a.test/": {BindAddress: "eth0"}, "ftp://a.test/x": {Proxy: "http://proxy.test:3128"}, "ftp://": {},
	} {
		_, err := h.Fetch(t.Context(), &crawl.Request{URL: u, Options: o})
		wantFailure(t, err, crawl.FailUnsupported, "UnsupportedURLSchemeError")
	}
	s := &ftpServer{file: "x"}
	mustFetch(t, h, &crawl.Request{URL: s.url(t, "/x"), Options: crawl.Options{Proxy: "http://proxy.test:3128", NoProxy: true}})
}
