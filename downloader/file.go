package downloader

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"runtime"
	"strings"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/weburl"
)

// FileConfig is what the handler for files takes from the settings.
type FileConfig struct {
	// MaxSize is the largest file that is read, in bytes. 0 is no limit.
	MaxSize int64 `setting:"DOWNLOAD_MAXSIZE"`
}

// File is the download handler for file URLs. It reads a file only for a request
// that the spider's Start has emitted (Trail.Start at depth 0), which is also
// how URLs of the command line come: a link, a redirect or a form of a page must
// not make the crawl read and pass on what lies on its machine. It is safe for
// concurrent use.
type File struct {
	cfg     FileConfig
	buffers Buffers
}

var _ crawl.Fetcher = (*File)(nil)

// NewFile returns a handler.
func NewFile(cfg FileConfig) *File { return &File{cfg: cfg} }

// Local says that no request goes over the wire.
func (h *File) Local() {}

// Fetch reads the file of r. Its media type is told by the end of its name, if
// that is one of HTML, XML, JSON or plain text. An error is a
// [crawl.DownloadError].
func (h *File) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read %v: %w", r, context.Cause(ctx))
	}
	if t := &r.Trail; !t.Start || t.Depth > 0 || len(t.Redirects) > 0 {
		return nil, unsupported(errors.New("files are read for start requests only, never because a page or a redirect asks for it"))
	}
	name, err := filePath(r.URL, runtime.GOOS == "windows")
	if err != nil {
		return nil, unsupported(fmt.Errorf("read %v: %w", r, err))
	}
	body, err := h.read(ctx, r, name)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read %v: %w", r, context.Cause(ctx))
	}
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	if t := mediaTypeOf(name); t != "" {
		header.Set("Content-Type", t)
	}
	return &crawl.Response{Request: r, URL: weburl.TrimFragment(r.URL), Status: http.StatusOK, Header: header, Body: body}, nil
}

// read reads a regular file: others may not end, or never begin.
func (h *File) read(ctx context.Context, r *crawl.Request, name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", name)
	}
	if err != nil {
		return nil, fileError(err)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fileError(err)
	}
	defer f.Close() //nolint:errcheck // it was only read.
	limit := sizes{max: h.cfg.MaxSize}.limit(r)
	body, err := h.buffers.Read(ctx, f, info.Size(), limit)
	switch {
	case errors.Is(err, ErrTooLarge):
		return nil, TooLarge(fmt.Errorf("the file %s is larger than download max size (%d) in request %v", name, limit, r))
	case err != nil:
		return nil, fileError(err)
	}
	return body, nil
}

// fileError names an error after those of Python that Scrapy counts.
func fileError(err error) error {
	name := "OSError"
	if errors.Is(err, os.ErrNotExist) {
		name = "FileNotFoundError"
	}
	return &crawl.DownloadError{Kind: crawl.FailOther, Name: name, Err: err}
}

// filePath returns the path that a file URL names on this machine.
func filePath(u string, windows bool) (string, error) {
	rest := u[strings.IndexByte(u, ':')+1:]
	if authority, ok := strings.CutPrefix(rest, "//"); ok {
		host, _, _ := strings.Cut(authority, "/")
		if host != "" && host != "localhost" {
			return "", fmt.Errorf("the file is on another machine, %s", host)
		}
		rest = authority[len(host):]
	}
	rest, _, _ = strings.Cut(weburl.TrimFragment(rest), "?")
	name := string(unescape(rest))
	if strings.IndexByte(name, 0) >= 0 {
		return "", errors.New("no file has a zero byte in its name")
	}
	if windows && len(name) > 2 && name[0] == '/' && name[2] == ':' {
		name = name[1:]
	}
	return name, nil
}

// mediaTypeOf returns the media type of a file by its name, "" if it is unknown.
// The tables of the machine are not asked: they differ.
func mediaTypeOf(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".html", ".htm":
		return "text/html"
	case ".xhtml":
		return "application/xhtml+xml"
	case ".xml":
		return "application/xml"
	case ".json":
		return "application/json"
	case ".txt":
		return "text/plain"
	}
	return ""
}
