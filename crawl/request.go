package crawl

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// A Request asks for one page. The zero value of every field but URL is
// useful. A request must not be changed once it was emitted: to send a variant,
// emit a [Request.Clone].
type Request struct {
	// URL is absolute, or relative to the page whose callback emits the request.
	URL string

	// Method is an HTTP method in upper case. Defaults to GET.
	Method string

	// Header is sent in front of the defaults: a header set here is not
	// overridden, and one set to an empty list is not sent at all.
	Header http.Header

	// Body is sent as it is.
	Body []byte

	// Cookies are put into the jar before the request is sent, and stay there. A
	// cookie without Domain is for the host of the URL alone, one without Path
	// for the whole host. One that is set for an https URL is sent over https
	// only, as if Secure were set; "secure=false" in Unparsed lifts that. Domain
	// may be another host's, such as that of a redirect's target, but no public
	// suffix. MaxAge goes before Expires; fields that concern only browsers are
	// not kept. Where there is no jar (COOKIES_ENABLED=False, Options.NoCookies)
	// they are not sent: set the Cookie header there. With a jar, that header is
	// sent in front of the jar's cookies, and hides those of the same names that
	// Cookies does not set.
	Cookies []*http.Cookie

	// Jar names the jar whose cookies are sent and into which those of the
	// response go. Requests that follow from the response do not inherit it; its
	// redirects and retries do. Defaults to the jar without a name.
	Jar string

	// Priority orders requests of one slot: higher is earlier. Defaults to 0.
	Priority int

	// Callback handles the response. Defaults to the spider's Parse.
	Callback Callback

	// Errback handles the failure. Defaults to the spider's Fail, if it is a
	// [Failer], else the failure is logged and counted.
	Errback Errback

	// Args are what goes with the request besides Meta: anything that survives
	// JSON. Those that [With] binds to the callback stand above them. [ArgsOf]
	// reads both.
	Args any

	// NotBefore is the earliest time at which the request may be sent. The
	// request waits in the scheduler until then.
	NotBefore time.Time

	// DontFilter sends the request although an equal one was seen. It does not
	// mark it as seen either, unless Start emitted it.
	DontFilter bool

	// Options tune how the request is treated.
	Options Options

	// Meta is the user's own. Its values are of JSON kinds or time.Time, and
	// they are copied when the request is queued: integers come back as int,
	// other numbers as float64, lists as []any, maps as map[string]any, and
	// times with their offset from UTC in place of their zone.
	Meta map[string]any

	// Trail is what the crawl itself notes about the request.
	Trail Trail
}

// Options tune how one request is treated. Zero values mean: as the settings
// say.
type Options struct {
	// Timeout bounds the whole download, headers and body. Defaults to
	// DOWNLOAD_TIMEOUT.
	Timeout time.Duration `json:"timeout,omitempty"`

	// MaxSize bounds the decoded body, in bytes. Defaults to DOWNLOAD_MAXSIZE;
	// negative means no bound.
	MaxSize int64 `json:"max_size,omitempty"`

	// Slot names the downloader slot. Defaults to the host of the URL.
	Slot string `json:"slot,omitempty"`

	// MaxRetries is how often the request is retried. Defaults to RETRY_TIMES.
	MaxRetries int `json:"max_retries,omitempty"`

	// RetryBackoff is the longest wait before the first retry; it doubles with each
	// further one, up to RETRY_BACKOFF_MAX. Defaults to RETRY_BACKOFF; negative means
	// none.
	RetryBackoff time.Duration `json:"retry_backoff,omitempty"`

	// RetryPriority is added to the priority with each retry. Defaults to
	// RETRY_PRIORITY_ADJUST.
	RetryPriority int `json:"retry_priority,omitempty"`

	// GiveUpLevel is the level of the line for the request if it failed too often:
	// DEBUG, INFO, WARNING, ERROR or CRITICAL. Defaults to RETRY_GIVE_UP_LOG_LEVEL.
	GiveUpLevel string `json:"give_up_level,omitempty"`

	// NoRetry turns retries off.
	NoRetry bool `json:"no_retry,omitempty"`

	// NoRedirect hands a redirect to the callback instead of following it.
	NoRedirect bool `json:"no_redirect,omitempty"`

	// MaxRedirects is how many redirects in a row are followed, where that is less
	// than REDIRECT_MAX_TIMES. Defaults to REDIRECT_MAX_TIMES.
	MaxRedirects int `json:"max_redirects,omitempty"`

	// Statuses are the codes outside 200–299 that the callback handles. They
	// replace HTTPERROR_ALLOWED_CODES and the spider's own list.
	Statuses []int `json:"statuses,omitempty"`

	// AnyStatus hands every response to the callback, redirects too.
	AnyStatus bool `json:"any_status,omitempty"`

	// AllowOffsite lets the request leave the spider's domains.
	AllowOffsite bool `json:"allow_offsite,omitempty"`

	// NoRobots sends the request whatever robots.txt says, and without asking
	// for it.
	NoRobots bool `json:"no_robots,omitempty"`

	// NoThrottle keeps AutoThrottle from changing the delay of the slot by what
	// this response took.
	NoThrottle bool `json:"no_throttle,omitempty"`

	// NoCookies keeps the request away from the jar: no cookie is sent but those
	// of its own Cookie header, and none of the response is kept.
	NoCookies bool `json:"no_cookies,omitempty"`

	// NoCache keeps the request away from the HTTP cache: it is not answered from
	// there, and its response is not stored.
	NoCache bool `json:"no_cache,omitempty"`

	// Proxy is the URL of the proxy to use, such as
	// http://user:password@proxy.example:3128; also https, socks5 and socks5h.
	// Defaults to what the environment says (http_proxy, https_proxy, no_proxy).
	Proxy string `json:"proxy,omitempty"`

	// NoProxy sends the request directly, whatever the environment says.
	NoProxy bool `json:"no_proxy,omitempty"`

	// BindAddress is the address of this machine that connections for the request
	// leave from, such as 192.0.2.7, or with a port 192.0.2.7:4000. Each address has
	// connections of its own. Defaults to DOWNLOAD_BIND_ADDRESS.
	BindAddress string `json:"bind_address,omitempty"`

	// ReferrerPolicy is the policy by which the request gets its Referer, such as
	// "origin". Defaults to the Referrer-Policy header of the page that it was
	// found in, then to REFERRER_POLICY.
	ReferrerPolicy string `json:"referrer_policy,omitempty"`

	// HTTPUser and HTTPPass are sent as Basic authentication, in place of
	// HTTPAUTH_USER and HTTPAUTH_PASS.
	HTTPUser string `json:"http_user,omitempty"`
	HTTPPass string `json:"http_pass,omitempty"`

	// HTTPDomain is the domain to which HTTPUser and HTTPPass are sent, with all
	// below it. Defaults to the host of the first URL, so that a redirect does
	// not take them elsewhere.
	HTTPDomain string `json:"http_domain,omitempty"`

	// FTPUser and FTPPassword log in to the server of an ftp URL. They default to
	// those in the URL, then to FTP_USER and FTP_PASSWORD.
	FTPUser     string `json:"ftp_user,omitempty"`
	FTPPassword string `json:"ftp_password,omitempty"`

	// FTPMode says who opens the data connection for an ftp URL: "passive" is the
	// crawl, "active" the server. Defaults to what FTP_PASSIVE_MODE says.
	FTPMode string `json:"ftp_mode,omitempty"`

	// FTPLocalFilename is the file of this machine that what an ftp URL names is
	// written to, without being held in memory. The body of the response is this
	// name then. Its folder has to be there.
	FTPLocalFilename string `json:"ftp_local_filename,omitempty"`
}

// isZero reports whether nothing is set.
func (o *Options) isZero() bool {
	text := cmp.Or(
		o.Slot, o.Proxy, o.BindAddress, o.ReferrerPolicy, o.HTTPUser, o.HTTPPass, o.HTTPDomain, o.FTPUser, o.FTPPassword,
		o.FTPMode, o.FTPLocalFilename, o.GiveUpLevel,
	)
	return text == "" && o.Timeout == 0 && o.MaxSize == 0 && o.MaxRetries == 0 && o.RetryBackoff == 0 && o.RetryPriority == 0 &&
		o.MaxRedirects == 0 && len(o.Statuses) == 0 && !o.NoRetry && !o.NoRedirect &&
		!o.AnyStatus && !o.AllowOffsite && !o.NoRobots && !o.NoThrottle && !o.NoCookies && !o.NoCache && !o.NoProxy
}

// A Trail is the history of a request, kept over redirects and retries.
type Trail struct {
	// Depth is the number of links followed from a start request.
	Depth int `json:"depth,omitempty"`

	// Retries is how often the request was retried.
	Retries int `json:"retries,omitempty"`

	// Start marks a request that Start emitted. It waits in its own queue.
	Start bool `json:"start,omitempty"`

	// Unfiltered tells that DontFilter is not a wish of the spider: a retry, or a
	// redirect back, is sent although it was seen. That counts for this URL only.
	Unfiltered bool `json:"unfiltered,omitempty"`

	// Redirects are the hops that led here, oldest first.
	Redirects []Hop `json:"redirects,omitempty"`
}

// A Hop is one redirect.
type Hop struct {
	URL    string `json:"url"`    // that redirected
	Status int    `json:"status"` // with this code
}

// Clone returns a copy whose maps and slices are its own. Args and the values
// of Meta are shared.
func (r *Request) Clone() *Request {
	c := *r
	c.Header = r.Header.Clone()
	c.Body = slices.Clone(r.Body)
	c.Cookies = cloneCookies(r.Cookies)
	c.Meta = maps.Clone(r.Meta)
	c.Options.Statuses = slices.Clone(r.Options.Statuses)
	c.Trail.Redirects = slices.Clone(r.Trail.Redirects)
	return &c
}

// Verb returns the method of the request, GET by default.
func (r *Request) Verb() string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}

// String returns the request as Scrapy logs it: <GET https://example.com/>.
func (r *Request) String() string {
	var b strings.Builder
	b.Grow(len(r.URL) + 10)
	b.WriteByte('<')
	b.WriteString(r.Verb())
	b.WriteByte(' ')
	b.WriteString(r.URL)
	b.WriteByte('>')
	return b.String()
}

// A Callback handles a response. Callbacks of one spider may run at the same
// time, up to CONCURRENT_PARSES of them, as the handlers of an http server do.
// ctx outlives the first stop signal and is cancelled by the second, or when
// SHUTDOWN_GRACE is over. r and out belong to the callback until it returns.
//
// What was emitted before an error is kept; the error is logged and counted.
type Callback func(ctx context.Context, r *Response, out Out) error

// An Errback handles a request that got no usable response. It runs under the
// same rules as a [Callback].
type Errback func(ctx context.Context, f *Failure, out Out) error

// A Handler is what a [SpiderMiddleware] wraps: the handling of one response
// (f is nil), of one failure (r is nil), or of the start of the crawl (both are
// nil). Handlers of several responses run at the same time.
type Handler func(ctx context.Context, r *Response, f *Failure, out Out) error

// A SpiderMiddleware wraps a [Handler] with work before it, after it, or on
// what it emits (see [Out.Through]).
type SpiderMiddleware func(next Handler) Handler

// A Fetcher turns a request into a response. Download handlers, downloader
// middlewares and the downloader itself are Fetchers. They are safe for
// concurrent use, block until the body is read, give up when ctx is done, and
// leave r as it is: a middleware that changes a request passes a copy on.
// Either the response or the error is nil.
type Fetcher interface {
	Fetch(ctx context.Context, r *Request) (*Response, error)
}

// FetcherFunc is a function that is a [Fetcher].
type FetcherFunc func(ctx context.Context, r *Request) (*Response, error)

// Fetch calls f.
func (f FetcherFunc) Fetch(ctx context.Context, r *Request) (*Response, error) { return f(ctx, r) }
