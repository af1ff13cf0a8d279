package middleware

import (
	"context"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

func init() { Registry.Register("urllength", newURLLength) }

// newURLLength drops requests whose URL is longer than URLLENGTH_LIMIT bytes,
// those of Start too: such URLs mostly come from traps.
func newURLLength(env *crawl.Env) (crawl.SpiderMiddleware, error) {
	cfg := settings.Decode[struct {
		Limit int `setting:"URLLENGTH_LIMIT"`
	}](env.Settings)
	if cfg.Limit == 0 {
		return nil, nil
	}
	log, stats := env.Logger("urllength"), env.Stats
	short := func(v any) any {
		r, ok := v.(*crawl.Request)
		if !ok || len(r.URL) <= cfg.Limit {
			return v
		}
		log.Info().Msgf("Ignoring link (url length > %d): %s ", cfg.Limit, r.URL)
		stats.Inc("urllength/request_ignored_count")
		return nil
	}
	return func(next crawl.Handler) crawl.Handler {
		return func(ctx context.Context, r *crawl.Response, f *crawl.Failure, out crawl.Out) error {
			return next(ctx, r, f, out.Through(short))
		}
	}, nil
}
