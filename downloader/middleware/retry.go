package middleware

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/downloader/httpcache"
	"github.com/skeincrawl/skein/settings"
)

func init() { downloader.Middlewares.Register("retry", newRetry) }

// newRetry tries requests again that failed for a reason which may pass: the
// statuses of RETRY_HTTP_CODES, and the errors of RETRY_EXCEPTIONS.
func newRetry(env *crawl.Env) (downloader.Middleware, error) {
	cfg := settings.Decode[struct {
		Enabled  bool     `setting:"RETRY_ENABLED"`
		Statuses []int    `setting:"RETRY_HTTP_CODES"`
		Errors   []string `setting:"RETRY_EXCEPTIONS"`
	}](env.Settings)
	if !cfg.Enabled {
		return nil, nil
	}
	for i, name := range cfg.Errors {
		cfg.Errors[i] = strings.TrimPrefix(name, "scrapy.exceptions.")
	}
	policy := downloader.NewRetryPolicy(env)
	return func(next crawl.Fetcher) crawl.Fetcher {
		return &retry{next: next, policy: policy, statuses: cfg.Statuses, errors: cfg.Errors}
	}, nil
}

type retry struct {
	next     crawl.Fetcher
	policy   *downloader.RetryPolicy
	statuses []int
	errors   []string // by kind or name
}

// Fetch answers with the next try of r if it failed and may be tried again.
func (m *retry) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	resp, err := m.next.Fetch(ctx, r)
	if err == nil && (resp.Status == 200 || !slices.Contains(m.statuses, resp.Status)) {
		return resp, nil
	}
	next, ok := m.again(r, resp, err)
	if ok {
		return nil, crawl.Reschedule(next)
	}
	if resp != nil {
		crawl.NoteGaveUp(ctx, downloader.StatusReason(resp.Status))
	}
	if asked := (*crawl.RetryError)(nil); errors.As(err, &asked) {
		err = downloader.Broken(errors.New(asked.Reason)) // else the engine would try again
	}
	return resp, err
}

func (m *retry) again(r *crawl.Request, resp *crawl.Response, err error) (*crawl.Request, bool) {
	var asked *crawl.RetryError
	switch {
	case errors.As(err, &asked):
		return m.policy.Next(asked.Request, asked.Reason)
	case err != nil && m.mayPass(err):
		return m.policy.NextAfter(r, err)
	case err != nil:
		return nil, false
	}
	next, ok := m.policy.Next(r, downloader.StatusReason(resp.Status))
	if slices.Contains(resp.Flags, httpcache.FlagCached) { // its server says nothing now
		return next, ok
	}
	if at, waits := downloader.BackOff(resp); ok && waits && at.After(next.NotBefore) {
		next.NotBefore = at
	}
	return next, ok
}

// mayPass reports whether another try may end better. By default a certificate does
// not become valid, and a body not smaller.
func (m *retry) mayPass(err error) bool {
	return slices.Contains(m.errors, string(crawl.KindOf(err))) || slices.Contains(m.errors, downloader.ErrorName(err))
}

func (m *retry) inner() crawl.Fetcher { return m.next }
