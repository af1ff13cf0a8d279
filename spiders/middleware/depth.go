package middleware

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

func init() { Registry.Register("depth", newDepth) }

type depthConfig struct {
	Limit    int  `setting:"DEPTH_LIMIT"`
	Priority int  `setting:"DEPTH_PRIORITY"`
	Verbose  bool `setting:"DEPTH_STATS_VERBOSE"`
}

// newDepth notes how many links away from a start request each request is, and
// drops those that are too far away.
func newDepth(env *crawl.Env) (crawl.SpiderMiddleware, error) {
	m := &depth{cfg: settings.Decode[depthConfig](env.Settings), log: env.Logger("depth"), stats: env.Stats}
	return func(next crawl.Handler) crawl.Handler {
		return func(ctx context.Context, r *crawl.Response, f *crawl.Failure, out crawl.Out) error {
			if parent := parentOf(r, f); parent != nil {
				out = m.below(parent.Trail.Depth, r != nil, out)
			}
			return next(ctx, r, f, out)
		}
	}, nil
}

// parentOf returns the request whose handling emits, nil for Start.
func parentOf(r *crawl.Response, f *crawl.Failure) *crawl.Request {
	switch {
	case r != nil:
		return r.Request
	case f != nil:
		return f.Request
	}
	return nil
}

type depth struct {
	cfg     depthConfig
	log     zerolog.Logger
	stats   *crawl.Stats
	deepest atomic.Int64
	told    atomic.Bool
}

// below returns an Out for what a page at a depth emits.
func (m *depth) below(at int, response bool, out crawl.Out) crawl.Out {
	if response && at == 0 && m.cfg.Verbose {
		m.stats.Inc("request_depth_count/0")
	}
	return out.Through(func(v any) any {
		if r, ok := v.(*crawl.Request); ok {
			if r = m.place(r, at+1); r == nil {
				return nil
			}
			return r
		}
		return v
	})
}

// place returns a copy of r at a depth, or nil if that is too deep. As in
// Scrapy the priority sinks by the depth and not by one step, since every
// request begins with the priority that its callback chose.
func (m *depth) place(r *crawl.Request, at int) *crawl.Request {
	if m.cfg.Limit > 0 && at > m.cfg.Limit {
		m.ignore(r)
		return nil
	}
	if m.cfg.Verbose {
		m.stats.Inc("request_depth_count/" + strconv.Itoa(at))
	}
	if int64(at) > m.deepest.Load() {
		m.deepest.Store(int64(at))
		m.stats.Max("request_depth_max", int64(at))
	}
	c := *r
	c.Trail.Depth = at
	c.Priority -= at * m.cfg.Priority
	return &c
}

func (m *depth) ignore(r *crawl.Request) {
	m.stats.Inc("depth/request_ignored_count")
	if m.told.CompareAndSwap(false, true) {
		m.log.Debug().Msgf("Ignoring link (depth > %d): %s - no more ignored links will be shown", m.cfg.Limit, r.URL)
	}
}
