package middleware

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/internal/robots"
)

const (
	// robotsHops is how many redirects are followed (RFC 9309 §2.3.1.2).
	robotsHops = 5

	// robotsPatience bounds a fetch with its retries and waits: the request that
	// needs it holds a place of CONCURRENT_REQUESTS, whatever time a server asks for.
	robotsPatience = 5 * time.Minute

	// maxRobotsBody is more than any file has that is one. Only its beginning
	// counts.
	maxRobotsBody = 16 << 20
)

// robotsFetcher reads robots.txt over the network, beside the queue.
type robotsFetcher struct {
	env *crawl.Env
	log zerolog.Logger
}

// errRobotsPatience is the cause of a fetch that took longer than that.
var errRobotsPatience = &crawl.DownloadError{
	Kind: crawl.FailTimeout, Name: "DownloadTimeoutError",
	Err: fmt.Errorf("no answer within %v, with retries and the waits that the server asked for", robotsPatience),
}

// read implements robotsSource.
func (f *robotsFetcher) read(ctx context.Context, origin string, via *crawl.Request) (*robotsFile, error) {
	f.env.Stats.Inc("robotstxt/request_count")
	limited, cancel := context.WithTimeoutCause(ctx, robotsPatience, errRobotsPatience)
	defer cancel()
	r := robotsRequest(origin+robotsPath, &via.Options)
	resp, err := f.follow(limited, r)
	defer downloader.Holds(ctx, 0)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, crawl.ErrStopped), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return nil, err
	case err == nil:
		return f.answered(r, resp), nil
	}
	return f.failed(r, err), nil
}

// robotsRequest returns the request for a robots.txt. It goes wherever the server
// leads to, and the middleware handles its redirects itself: their number is
// limited, and they are followed whatever the settings say of pages. It goes by the
// proxy and from the address of the request that needs it.
func robotsRequest(url string, via *crawl.Options) *crawl.Request {
	return &crawl.Request{URL: url, DontFilter: true, Options: crawl.Options{
		NoRobots: true, NoRedirect: true, AllowOffsite: true, NoThrottle: true, MaxSize: maxRobotsBody,
		Proxy: via.Proxy, NoProxy: via.NoProxy, BindAddress: via.BindAddress,
	}}
}

// follow fetches r and what it redirects to.
func (f *robotsFetcher) follow(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	for hop := 0; ; hop++ {
		resp, err := f.env.Fetcher.Fetch(ctx, r)
		if err != nil || hop == robotsHops || !isRedirect(resp.Status) {
			return resp, err
		}
		to := target(r.URL, resp.Header.Get("Location"))
		if to == "" {
			return resp, nil
		}
		r = robotsRequest(to, &r.Options)
		downloader.Holds(ctx, 0)
	}
}

// answered returns what an answer means (RFC 9309 §2.3.1): a file, none at all,
// which allows everything, or that the server is in trouble, which allows
// nothing for a while. A redirect is left if it leads nowhere or too far.
func (f *robotsFetcher) answered(r *crawl.Request, resp *crawl.Response) *robotsFile {
	f.env.Stats.Inc("robotstxt/response_count")
	f.env.Stats.Inc("robotstxt/response_status_count/" + strconv.Itoa(resp.Status))
	found := &robotsFile{file: &robots.File{}, expires: time.Now().Add(robotsLifetime)}
	switch status := resp.Status; {
	case status >= 200 && status < 300:
		found.file = robots.Parse(resp.Body)
	case status < 200, status >= 500:
		return f.unreachable(r, &crawl.DownloadError{
			Kind: crawl.FailOther, Name: "RobotsTxtUnavailableError", Err: errors.New(downloader.StatusReason(status)),
		})
	}
	return found
}

// failed returns what it means that there was no answer. Who refuses the request
// for a component of the crawl says nothing about the server.
func (f *robotsFetcher) failed(r *crawl.Request, err error) *robotsFile {
	f.env.Stats.Inc("robotstxt/exception_count/" + downloader.ErrorName(err))
	if _, ok := errors.AsType[*crawl.IgnoreError](err); ok {
		return &robotsFile{file: &robots.File{}, expires: time.Now().Add(robotsLifetime)}
	}
	f.log.Error().Msgf("Error downloading %v: %v", r, err)
	return f.unreachable(r, err)
}

// unreachable returns what it means that the file could not be read: requests fail
// for the same reason, and are not lost as those that are forbidden.
func (f *robotsFetcher) unreachable(r *crawl.Request, why error) *robotsFile {
	f.log.Warn().Msgf("%s could not be read: %v. Its server is asked for nothing new for %v; "+
		"what was known of it still counts, else no page of it is asked for (RFC 9309)", r.URL, why, robotsPenance)
	failure := &crawl.DownloadError{Kind: crawl.KindOf(why), Name: downloader.ErrorName(why), Err: fmt.Errorf("%s could not be read: %w", r.URL, why)}
	until := time.Now().Add(robotsPenance)
	return &robotsFile{why: failure, expires: until, ways: map[string]time.Time{proxyOf(r): until}}
}
