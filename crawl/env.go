package crawl

import (
	"context"
	"io"
	"net"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/settings"
)

// Env is what the components of one crawl share. It is the only parameter of
// every constructor of a component, and does not change once the crawl is open.
type Env struct {
	Spec      Spec
	Spider    Spider
	Settings  *settings.Settings
	Log       zerolog.Logger // of the whole crawl; components use Logger
	Stats     *Stats
	Signals   *Signals
	Callbacks *Callbacks
	JobDir    string // "" without JOBDIR

	// Resumed tells that the run goes on with a job that was stopped. It is known
	// when the spider is opened.
	Resumed bool

	// Cookies are the changes of cookies that the steps of a resumed job noted
	// (see [NoteCookies]). They are known when the spider is opened.
	Cookies []byte

	// Fetcher downloads a request beside the queue, on behalf of the request that
	// ctx belongs to: through slots and middlewares, past the scheduler, redirects
	// and retries followed. A downloader middleware may use it, for robots.txt; a
	// fetch within such a fetch takes no place of its own.
	Fetcher Fetcher

	// Dial opens a connection to "host:port" over "tcp" as the crawl's own download
	// handlers do: with its DNS cache, from DOWNLOAD_BIND_ADDRESS, and only to
	// addresses that DENY_PRIVATE_NETWORKS allows. It is for download handlers of
	// your own, safe for concurrent use, and ends with ctx.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// Fingerprint identifies a request by REQUEST_FINGERPRINTER_CLASS: two
	// requests with the same fingerprint ask for the same resource. It is safe for
	// concurrent use, waits for nothing and leaves r as it is. The error is that of
	// the fingerprinter.
	Fingerprint func(r *Request) ([20]byte, error)

	// Stdin is the standard input of the run, for spiders that read start URLs
	// from it. Nil if there is none.
	Stdin io.Reader

	// CloseSpider asks the engine to end the crawl in good order, as the error
	// of the same name does. It returns at once and is safe for concurrent use;
	// the first reason wins. The engine sets it before components are built.
	CloseSpider func(reason string)

	// Enqueue puts a request into the running crawl from outside a callback, as
	// Scrapy's engine.crawl does. It passes RequestScheduled, the spider's frontier
	// policies and the duplicate filter as a callback's does, but no spider
	// middleware: what those add, such as the depth, is the caller's. It is
	// committed as a step of its own, under JOBDIR as durable as any, also if the
	// callback or Start that called it is undone.
	//
	// It is safe for concurrent use, from when the spider is opened. It waits for
	// nothing, so also a handler of SpiderIdle or SchedulerEmpty may call it, and
	// nothing bounds how much is queued: see NeedsBackout. Requests of one
	// goroutine keep their order. That a request is refused is no error, that it is
	// unusable is one; once the crawl closes, the error wraps [ErrStopped].
	Enqueue func(r *Request) error

	// NeedsBackout reports whether the crawl has no room for one more download
	// right now: CONCURRENT_REQUESTS or SCRAPER_SLOT_MAX_ACTIVE_SIZE is reached, or
	// the crawl is not open or closes. It is safe for concurrent use.
	NeedsBackout func() bool

	// Slots are the downloader slots of the crawl, to look at and to change.
	Slots Slots

	keepers []keeper
	kept    map[string][]byte
}

// Logger returns the log of a component. Its name is shown in every line.
func (e *Env) Logger(component string) zerolog.Logger {
	return e.Log.With().Str(LogComponent, component).Logger()
}

// LogComponent is the field of a log event that names the component.
const LogComponent = "logger"

// AllowedDomains returns the domains that requests may go to, none for all.
func (e *Env) AllowedDomains() []string {
	if d, ok := e.Spider.(DomainLister); ok {
		return d.AllowedDomains()
	}
	return e.Spec.AllowedDomains
}
