package middleware

import (
	"context"
	"errors"
	"slices"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/settings"
)

func init() { downloader.Middlewares.Register("retry", newRetry) }

// newRetry tries requests again that failed for a reason which may pass: the
// statuses of RETRY_HTTP_CODES, and connections that broke, were refused or took
// too long.
func newRetry(env *crawl.Env) (downloader.Middleware, error) {
	cfg := settings.Decode[struct {
		Enabled  bool  `setting:"RETRY_ENABLED"`
		Statuses []int `setting:"RETRY_HTTP_CODES"`
	}](env.Settings)
	if !cfg.Enabled {
		return nil, nil
	}
	policy := downloader.NewRetryPolicy(env)
	return func(next crawl.Fetcher) crawl.Fetcher {
		return &retry{next: next, policy: policy, statuses: cfg.Statuses}
	}, nil
}

type retry struct {
	next     crawl.Fetcher
	policy   *downloader.RetryPolicy
	statuses []int
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
	case err != nil && mayPass(err):
		return m.policy.NextAfter(r, err)
	case err != nil:
		return nil, false
	}
	next, ok := m.policy.Next(r, downloader.StatusReason(resp.Status))
	if ok {
		next.NotBefore, _ = downloader.BackOff(resp)
	}
	return next, ok
}

// mayPass reports whether another try may end better. A certificate does not
// become valid, a body not smaller.
func mayPass(err error) bool {
	switch crawl.KindOf(err) {
	case crawl.FailTimeout, crawl.FailDNS, crawl.FailRefused, crawl.FailConnection, crawl.FailDataLoss:
		return true
	}
	return false
}

func (m *retry) inner() crawl.Fetcher { return m.next }
