package middleware

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/internal/weburl"
)

func init() { downloader.Middlewares.Register("stats", newStats) }

// newStats counts what goes to the handler and what comes back.
func newStats(env *crawl.Env) (downloader.Middleware, error) {
	s := env.Stats
	return func(next crawl.Fetcher) crawl.Fetcher { return &stats{next: next, stats: s} }, nil
}

type stats struct {
	next  crawl.Fetcher
	stats *crawl.Stats

	requests, requestBytes, gets counter
	responses, responseBytes     counter
	statuses                     [600]counter
}

// A counter is a counter of the stats that comes to be with its first use, so
// that nothing stands in the stats that did not happen.
type counter struct{ p atomic.Pointer[atomic.Int64] }

func (c *counter) add(s *crawl.Stats, name string, n int64) {
	p := c.p.Load()
	if p == nil {
		p = s.Counter(name)
		c.p.Store(p)
	}
	p.Add(n)
}

// Fetch counts r and its outcome. What the stop of the crawl cut short is no
// failure.
func (m *stats) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	m.request(r)
	resp, err := m.next.Fetch(ctx, r)
	switch {
	case err == nil:
		m.response(resp)
	case !errors.Is(err, crawl.ErrStopped):
		m.stats.Inc("downloader/exception_count")
		m.stats.Inc("downloader/exception_type_count/" + downloader.ErrorName(err))
	}
	return resp, err
}

func (m *stats) request(r *crawl.Request) {
	method := r.Verb()
	m.requests.add(m.stats, "downloader/request_count", 1)
	m.requestBytes.add(m.stats, "downloader/request_bytes", requestSize(r, method))
	if method == http.MethodGet {
		m.gets.add(m.stats, "downloader/request_method_count/GET", 1)
		return
	}
	m.stats.Inc("downloader/request_method_count/" + method)
}

func (m *stats) response(r *crawl.Response) {
	m.responses.add(m.stats, "downloader/response_count", 1)
	m.responseBytes.add(m.stats, "downloader/response_bytes", responseSize(r))
	const key = "downloader/response_status_count/"
	if r.Status < 0 || r.Status >= len(m.statuses) {
		m.stats.Inc(key + strconv.Itoa(r.Status))
		return
	}
	c := &m.statuses[r.Status]
	if c.p.Load() == nil {
		c.add(m.stats, key+strconv.Itoa(r.Status), 0)
	}
	c.p.Load().Add(1)
}

func (m *stats) inner() crawl.Fetcher { return m.next }

// requestSize returns the length of r as HTTP/1.1 text, which Scrapy counts
// whatever the protocol was.
func requestSize(r *crawl.Request, method string) int64 {
	n := len(method) + len(" ") + len(weburl.Target(r.URL)) + len(" HTTP/1.1\r\n") +
		len("Host: ") + len(weburl.Host(r.URL)) + len("\r\n") + len("\r\n") + len(r.Body)
	return int64(n + headerSize(r.Header))
}

// responseSize returns about the length of the response as it was sent.
func responseSize(r *crawl.Response) int64 {
	status := len("HTTP/1.1 200 \r\n") + len(http.StatusText(r.Status))
	return int64(len(r.Body) + headerSize(r.Header) + len("\r\n") + status)
}

func headerSize(h http.Header) int {
	n := 0
	for name, values := range h {
		for _, v := range values {
			n += len(name) + len(": ") + len(v) + len("\r\n")
		}
	}
	return n
}
