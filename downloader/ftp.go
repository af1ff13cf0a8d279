package downloader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/weburl"
	"github.com/skeincrawl/skein/settings"
)

// FTPConfig is what the handler for ftp takes from the settings.
type FTPConfig struct {
	// Timeout bounds a download as a whole. Defaults to 180 s.
	Timeout time.Duration `setting:"DOWNLOAD_TIMEOUT"`

	// MaxSize is the largest file that is read, in bytes. 0 is no limit.
	MaxSize int64 `setting:"DOWNLOAD_MAXSIZE"`

	// WarnSize is the size in bytes above which a file is warned of. 0 is never.
	WarnSize int64 `setting:"DOWNLOAD_WARNSIZE"`

	// User and Password log in for URLs that name no user.
	User     string `setting:"FTP_USER"`
	Password string `setting:"FTP_PASSWORD"`

	// Dial opens connections, as [Dialer.Dial] does. Nil is a [Dialer] without a
	// cache.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// Log takes the warnings. The zero value is silent.
	Log zerolog.Logger
}

// FTP is the download handler for ftp URLs. Each file has connections of its own,
// all of them opened from here (passive mode), the one for the data to the machine
// of the first whatever the server says. It is safe for concurrent use.
type FTP struct {
	cfg     FTPConfig
	sizes   sizes
	buffers Buffers
}

var _ crawl.Fetcher = (*FTP)(nil)

// NewFTP returns a handler.
func NewFTP(cfg FTPConfig) *FTP {
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.Dial == nil {
		cfg.Dial = plainDialer().Dial
	}
	return &FTP{cfg: cfg, sizes: sizes{max: cfg.MaxSize, warn: cfg.WarnSize, log: cfg.Log}}
}

func ftpFromSettings(env *crawl.Env) (crawl.Fetcher, error) {
	cfg := settings.Decode[FTPConfig](env.Settings)
	cfg.Dial, cfg.Log = env.Dial, env.Logger("downloader")
	return NewFTP(cfg), nil
}

// Fetch reads the file of r. Its size is in the header Size, and its media type is
// told by the end of its name, if that is one of HTML, XML, JSON or plain text. A
// file that is not there has the status 404, whatever else a server refuses 503,
// and the body is what it says then. An error is a [crawl.DownloadError], or wraps
// the cause of ctx if that ended first.
func (h *FTP) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	file, err := h.fileOf(r)
	if err != nil {
		return nil, unsupported(fmt.Errorf("read %v: %w", r, err))
	}
	f, ctx, cancel := begin(ctx, r, h.cfg.Timeout)
	defer cancel()
	if ctx, err = WithBindAddress(ctx, r.Options.BindAddress); err != nil {
		return nil, unsupported(err)
	}
	sent := sendingOf(ctx)
	defer sent.end()
	start := time.Now()
	c, err := dialFTP(ctx, h.cfg.Dial, file.addr)
	if err != nil {
		return nil, f.failure(err)
	}
	defer c.close()
	if err := c.open(ctx, file, sent); err != nil {
		return refused(f, err, sent.since(start))
	}
	latency := sent.since(start)
	body, err := h.read(f, c)
	if err != nil {
		return nil, err
	}
	header := http.Header{"Size": {strconv.Itoa(len(body))}}
	if t := mediaTypeOf(file.path); t != "" {
		header.Set("Content-Type", t)
	}
	return &crawl.Response{
		Request: r, URL: weburl.TrimFragment(r.URL), Status: http.StatusOK, Header: header, Body: body, Latency: latency,
	}, nil
}

// read reads the file within its limits, and whether it was whole.
func (h *FTP) read(f *fetch, c *ftpConn) ([]byte, error) {
	f.reading = true
	body, err := h.buffers.Read(f.ctx, c.data, -1, h.sizes.limit(f.r))
	switch {
	case errors.Is(err, ErrTooLarge):
		return nil, h.sizes.tooLarge(f.r, "Received", int64(len(body)))
	case err != nil:
		return nil, f.failure(err)
	}
	if err := c.end(); err != nil {
		return nil, f.failure(err)
	}
	h.sizes.check(f.r, "Received", int64(len(body)))
	return body, nil
}

// refused makes a response of what a server says in place of a file.
func refused(f *fetch, err error, latency time.Duration) (*crawl.Response, error) {
	var reply *textproto.Error
	if !errors.As(err, &reply) {
		return nil, f.failure(err)
	}
	status := http.StatusServiceUnavailable
	if reply.Code == ftpNoFile {
		status = http.StatusNotFound
	}
	return &crawl.Response{
		Request: f.r, URL: weburl.TrimFragment(f.r.URL), Status: status, Header: http.Header{"Content-Type": {"text/plain"}},
		Body: fmt.Appendf(nil, "%d %s", reply.Code, reply.Msg), Latency: latency,
	}, nil
}

// ftpFile is what an ftp URL names.
type ftpFile struct{ addr, user, pass, path string }

// fileOf reads a URL. What goes into a command must not end it.
func (h *FTP) fileOf(r *crawl.Request) (ftpFile, error) {
	if r.Options.Proxy != "" && !r.Options.NoProxy {
		return ftpFile{}, errors.New("ftp goes through no proxy, and not directly when one is asked for")
	}
	host, port, err := net.SplitHostPort(strings.TrimPrefix(weburl.Origin(r.URL), "ftp://"))
	if err != nil {
		host, port = weburl.Host(r.URL), "21"
	}
	if host == "" {
		return ftpFile{}, errors.New("it names no host")
	}
	_, rest, _ := strings.Cut(weburl.TrimFragment(r.URL), "://")
	authority, target, _ := strings.Cut(rest, "/")
	path, _, _ := strings.Cut(target, "?")
	if i := strings.LastIndex(path, ";type="); i >= 0 {
		path = path[:i]
	}
	file := ftpFile{addr: net.JoinHostPort(strings.Trim(host, "[]"), port), path: "/" + string(unescape(path)), user: h.cfg.User, pass: h.cfg.Password}
	if user, _, named := cutLast(authority, "@"); named {
		name, pass, _ := strings.Cut(user, ":")
		file.user, file.pass = string(unescape(name)), string(unescape(pass))
	}
	if r.Options.FTPUser != "" {
		file.user, file.pass = r.Options.FTPUser, r.Options.FTPPassword
	}
	file.pass = cmp.Or(r.Options.FTPPassword, file.pass)
	if strings.ContainsFunc(file.user+file.pass+file.path, unicode.IsControl) {
		return ftpFile{}, errors.New("no name and no password on an ftp server has control characters in it")
	}
	return file, nil
}

// cutLast cuts s around the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
