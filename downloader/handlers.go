package downloader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/weburl"
	"github.com/skeincrawl/skein/settings"
)

// Handlers are the constructors of the download handlers, by the names that
// DOWNLOAD_HANDLERS uses. A handler is built when a URL of one of its schemes is
// first asked for, and once for all of them. If that fails, so do the requests:
// what can be told from the settings alone a component should check before. One
// that is an [io.Closer] is closed when the crawl has ended, and one that answers
// from this machine is [Local].
var Handlers = crawl.NewRegistry[func(*crawl.Env) (crawl.Fetcher, error)]("download handler") //nolint:gochecknoglobals // a registry.

func init() {
	Handlers.Register("data", func(*crawl.Env) (crawl.Fetcher, error) { return Data{}, nil })
	Handlers.Register("file", func(env *crawl.Env) (crawl.Fetcher, error) {
		return NewFile(settings.Decode[FileConfig](env.Settings)), nil
	})
	Handlers.Register("ftp", ftpFromSettings)
	Handlers.Register("http", httpFromSettings)
	for class, name := range map[string]string{
		"datauri.DataURIDownloadHandler": "data", "file.FileDownloadHandler": "file", "ftp.FTPDownloadHandler": "ftp",
		"http.HTTPDownloadHandler": "http", "http11.HTTP11DownloadHandler": "http", "http2.H2DownloadHandler": "http",
		"_httpx.HttpxDownloadHandler": "http",
	} {
		Handlers.Alias("scrapy.core.downloader.handlers."+class, name)
	}
}

// A Local handler answers from this machine alone. Its requests need no pace:
// they do not use up the delay of their slot.
type Local interface {
	crawl.Fetcher
	Local()
}

// A Router hands each request to the handler of its URL's scheme. It must not
// be changed while it is in use.
type Router map[string]crawl.Fetcher

var _ crawl.Fetcher = Router(nil)

// NewRouter returns the router that DOWNLOAD_HANDLERS asks for. Handlers are built
// when they are first needed; [Router.Close] ends them. Settings that they could
// not be built with, such as names that nothing is registered under, are errors
// here.
func NewRouter(env *crawl.Env) (Router, error) {
	names := env.Settings.Map("DOWNLOAD_HANDLERS_BASE")
	maps.Copy(names, env.Settings.Map("DOWNLOAD_HANDLERS"))
	_, err := tlsFromSettings(env)
	errs := []error{err}
	router, built := Router{}, map[string]*lazy{}
	for _, scheme := range slices.Sorted(maps.Keys(names)) {
		name, on := names[scheme].(string)
		if !on {
			continue
		}
		name = Handlers.Name(name)
		if built[name] == nil {
			build, err := Handlers.Lookup(name)
			if err != nil {
				errs = append(errs, fmt.Errorf("DOWNLOAD_HANDLERS of %s URLs: %w", scheme, err))
				continue
			}
			built[name] = &lazy{name: name, build: func() (crawl.Fetcher, error) { return build(env) }}
		}
		router[scheme] = built[name]
	}
	return router, errors.Join(errs...)
}

// Fetch passes r to the handler of its scheme. Without one the error is a
// [crawl.DownloadError] of kind [crawl.FailUnsupported].
func (t Router) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	scheme := weburl.Scheme(r.URL)
	if h, ok := t[scheme]; ok {
		return h.Fetch(ctx, r)
	}
	text := fmt.Sprintf("Unsupported URL scheme '%s': no handler available for that scheme", scheme)
	return nil, unsupported(errors.New(text))
}

// Close closes the handlers that are an [io.Closer], each once. No Fetch may
// follow.
func (t Router) Close() error {
	var errs []error
	closed := map[*lazy]bool{}
	for _, h := range t {
		if l, ok := h.(*lazy); ok && !closed[l] {
			closed[l] = true
			errs = append(errs, l.close())
		}
	}
	return errors.Join(errs...)
}

// lazy is a handler that is built when it is first needed.
type lazy struct {
	name  string
	once  sync.Once
	build func() (crawl.Fetcher, error)
	h     crawl.Fetcher
	err   error
}

// Fetch passes r on.
func (l *lazy) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	l.once.Do(l.make)
	if l.err != nil {
		return nil, l.err
	}
	if _, local := l.h.(Local); !local {
		tried(ctx)
	}
	return l.h.Fetch(ctx, r)
}

func (l *lazy) make() {
	err := crawl.Guard(func() (err error) {
		if l.h, err = l.build(); err == nil && l.h == nil {
			err = errors.New("its settings turn it off")
		}
		return err
	})
	if err != nil {
		l.err = unsupported(fmt.Errorf("build the download handler %s: %w", l.name, err))
	}
}

func (l *lazy) close() error {
	l.once.Do(func() {}) // what was never needed is not built now
	if c, ok := l.h.(io.Closer); ok && l.err == nil {
		if err := c.Close(); err != nil {
			return fmt.Errorf("close the download handler %s: %w", l.name, err)
		}
	}
	return nil
}
