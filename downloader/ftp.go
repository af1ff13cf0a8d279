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

	// Active lets the server open the data connections, which else are opened from
	// here; it is FTP_PASSIVE_MODE=False. Options.FTPMode is that of one request.
	Active bool

	// Dial opens connections, as [Dialer.Dial] does. Nil is a [Dialer] without a
	// cache.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// Log takes the warnings. The zero value is silent.
	Log zerolog.Logger
}

// FTP is the download handler for ftp URLs. Each file has connections of its own:
// the one for the data goes to the machine of the first, whatever the server says,
// or comes from there in active mode. It is safe for concurrent use.
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
	cfg.Active = !env.Settings.Bool("FTP_PASSIVE_MODE")
	cfg.Dial, cfg.Log = env.Dial, env.Logger("downloader")
	return NewFTP(cfg), nil
}

// Fetch reads the file of r. Its size is in the header Size, and its media type is
// told by the end of its name, if that is one of HTML, XML, JSON or plain text. With
// Options.FTPLocalFilename it goes to that file, whose name is the header Local
// Filename and the body; an error leaves no file. A file that is not there has the
// status 404, a login that is refused (530, RFC 959) 401, whatever else a server
// refuses 503, and the body is what it says then.
// An error is a [crawl.DownloadError], or wraps the cause of ctx if that ended first.
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
	body, header, err := h.receive(f, c)
	if err != nil {
		return nil, err
	}
	if t := mediaTypeOf(file.path); t != "" && header["Local Filename"] == nil {
		header.Set("Content-Type", t)
	}
	return &crawl.Response{
		Request: r, URL: weburl.TrimFragment(r.URL), Status: http.StatusOK, Header: header, Body: body, Latency: latency,
	}, nil
}

// receive reads the file to where the request wants it, and returns the body and
// the header of the response.
func (h *FTP) receive(f *fetch, c *ftpConn) ([]byte, http.Header, error) {
	f.reading = true
	limit, name := h.sizes.limit(f.r), f.r.Options.FTPLocalFilename
	if name == "" {
		body, err := h.buffers.Read(f.ctx, c.data, -1, limit)
		size := int64(len(body))
		return body, http.Header{"Size": {strconv.FormatInt(size, 10)}}, h.whole(f, c, size, err)
	}
	file, err := newLocalFile(name)
	if err != nil {
		return nil, nil, err
	}
	size, err := file.copy(c.data, limit)
	err = file.finish(h.whole(f, c, size, err))
	return []byte(name), http.Header{"Size": {strconv.FormatInt(size, 10)}, "Local Filename": {name}}, err
}

// whole returns the error for a file of which size bytes came in and then err, nil
// if that is all.
func (h *FTP) whole(f *fetch, c *ftpConn, size int64, err error) error {
	switch {
	case errors.Is(err, ErrTooLarge):
		return h.sizes.tooLarge(f.r, "Received", size)
	case err != nil:
		return f.failure(err)
	}
	if err := c.end(); err != nil {
		return f.failure(err)
	}
	h.sizes.check(f.r, "Received", size)
	return nil
}

// refused makes a response of what a server says in place of a file.
func refused(f *fetch, err error, latency time.Duration) (*crawl.Response, error) {
	var reply *textproto.Error
	if !errors.As(err, &reply) {
		return nil, f.failure(err)
	}
	status := http.StatusServiceUnavailable
	switch reply.Code {
	case ftpNoFile:
		status = http.StatusNotFound
	case ftpNotLoggedIn: // which no retry changes, but many lock an account
		status = http.StatusUnauthorized
	}
	return &crawl.Response{
		Request: f.r, URL: weburl.TrimFragment(f.r.URL), Status: status, Header: http.Header{"Content-Type": {"text/plain"}},
		Body: fmt.Appendf(nil, "%d %s", reply.Code, reply.Msg), Latency: latency,
	}, nil
}

// ftpFile is what an ftp URL names.
type ftpFile struct {
	addr, user, pass, path string
	active                 bool
}

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
	active, err := h.active(r.Options.FTPMode)
	if err != nil {
		return ftpFile{}, err
	}
	_, rest, _ := strings.Cut(weburl.TrimFragment(r.URL), "://")
	authority, target, _ := strings.Cut(rest, "/")
	path, _, _ := strings.Cut(target, "?")
	if i := strings.LastIndex(path, ";type="); i >= 0 {
		path = path[:i]
	}
	file := ftpFile{addr: net.JoinHostPort(strings.Trim(host, "[]"), port), path: "/" + string(unescape(path)), active: active}
	file.user, file.pass = h.login(authority, &r.Options)
	if strings.ContainsFunc(file.user+file.pass+file.path, unicode.IsControl) {
		return ftpFile{}, errors.New("no name and no password on an ftp server has control characters in it")
	}
	return file, nil
}

// login returns user and password: those of the options, else of the URL, else of
// the settings.
func (h *FTP) login(authority string, o *crawl.Options) (user, pass string) {
	user, pass = h.cfg.User, h.cfg.Password
	if info, _, named := cutLast(authority, "@"); named {
		name, secret, _ := strings.Cut(info, ":")
		user, pass = string(unescape(name)), string(unescape(secret))
	}
	if o.FTPUser != "" {
		user, pass = o.FTPUser, o.FTPPassword
	}
	return user, cmp.Or(o.FTPPassword, pass)
}

// active reports whether the server is to open the data connection.
func (h *FTP) active(mode string) (bool, error) {
	switch mode {
	case "":
		return h.cfg.Active, nil
	case "active", "passive":
		return mode == "active", nil
	}
	return false, fmt.Errorf("FTPMode %q: want active or passive", mode)
}

// cutLast cuts s around the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
