package middleware

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

func init() { Registry.Register("httperror", newHTTPError) }

// An HTTPError is the cause of a failure of kind [crawl.FailStatus]: there is a
// response, but its status is none that the callback handles.
type HTTPError struct{ Status int }

// Error names the status.
func (e *HTTPError) Error() string { return fmt.Sprintf("unhandled HTTP status %d", e.Status) }

type httpErrorConfig struct {
	All     bool  `setting:"HTTPERROR_ALLOW_ALL"`
	Allowed []int `setting:"HTTPERROR_ALLOWED_CODES"`
}

// newHTTPError turns a response that the callback does not want to see into a
// failure for its errback. One that no errback handles is logged and counted,
// and is no error.
func newHTTPError(env *crawl.Env) (crawl.SpiderMiddleware, error) {
	m := &httpError{
		cfg: settings.Decode[httpErrorConfig](env.Settings),
		log: env.Logger("httperror"), stats: env.Stats,
	}
	return func(next crawl.Handler) crawl.Handler {
		return func(ctx context.Context, r *crawl.Response, f *crawl.Failure, out crawl.Out) error {
			if r == nil || m.allows(r) {
				return next(ctx, r, f, out)
			}
			return m.fail(ctx, r, out, next)
		}
	}, nil
}

type httpError struct {
	cfg   httpErrorConfig
	log   zerolog.Logger
	stats *crawl.Stats
}

// allows reports whether the callback sees the response. A request's own list
// alone decides, if it has one.
func (m *httpError) allows(r *crawl.Response) bool {
	if r.Status >= 200 && r.Status < 300 {
		return true
	}
	var o crawl.Options
	if r.Request != nil {
		o = r.Request.Options
	}
	switch {
	case o.AnyStatus:
		return true
	case len(o.Statuses) > 0:
		return slices.Contains(o.Statuses, r.Status)
	}
	return m.cfg.All || slices.Contains(m.cfg.Allowed, r.Status)
}

// fail hands the failure on. If it comes back nobody has handled it.
func (m *httpError) fail(ctx context.Context, r *crawl.Response, out crawl.Out, next crawl.Handler) error {
	f := &crawl.Failure{Request: r.Request, Response: r, Err: &HTTPError{r.Status}, Kind: crawl.FailStatus}
	err := next(ctx, nil, f, out)
	if !errors.Is(err, f.Err) {
		return err
	}
	m.stats.Inc("httperror/response_ignored_count")
	m.stats.Inc("httperror/response_ignored_status_count/" + strconv.Itoa(r.Status))
	m.log.Info().Msgf("Ignoring response %v: HTTP status code is not handled or not allowed", r)
	return nil
}
