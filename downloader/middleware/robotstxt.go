package middleware

import (
	"context"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/internal/robots"
	"github.com/skeincrawl/skein/internal/weburl"
	"github.com/skeincrawl/skein/settings"
)

func init() { downloader.Middlewares.Register("robotstxt", newRobotsTxt) }

type robotsConfig struct {
	Obey      bool   `setting:"ROBOTSTXT_OBEY"`
	Name      string `setting:"ROBOTSTXT_USER_AGENT"`
	UserAgent string `setting:"USER_AGENT"`
}

// newRobotsTxt refuses requests that the robots.txt of their server does not
// allow (RFC 9309).
func newRobotsTxt(env *crawl.Env) (downloader.Middleware, error) {
	cfg := settings.Decode[robotsConfig](env.Settings)
	if !cfg.Obey {
		return nil, nil
	}
	log := env.Logger("robotstxt")
	m := robotsTxt{
		cfg: cfg, log: log, stats: env.Stats, tokens: robots.Tokens(cfg.UserAgent),
		cache: newRobotsCache(&robotsFetcher{env: env, log: log}),
	}
	if cfg.Name != "" {
		m.tokens = robots.Tokens(cfg.Name)
	}
	return func(next crawl.Fetcher) crawl.Fetcher {
		own := m
		own.next = next
		return &own
	}, nil
}

type robotsTxt struct {
	next   crawl.Fetcher
	cfg    robotsConfig
	log    zerolog.Logger
	stats  *crawl.Stats
	tokens []string // by which the crawler is addressed unless a request says otherwise
	cache  *robotsCache
}

func (m *robotsTxt) inner() crawl.Fetcher { return m.next }

// Fetch passes on r if it is allowed, which may take a fetch of robots.txt
// before.
func (m *robotsTxt) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	if r.Options.NoRobots || !isWeb(r.URL) {
		return m.next.Fetch(ctx, r)
	}
	file, err := m.cache.file(ctx, weburl.Origin(r.URL))
	if err != nil {
		return nil, err
	}
	if file.allows(m.tokensOf(r), weburl.Target(r.URL)) {
		return m.next.Fetch(ctx, r)
	}
	m.stats.Inc("robotstxt/forbidden")
	m.log.Debug().Msgf("Forbidden by robots.txt: %v", r)
	return nil, crawl.Ignore("Forbidden by robots.txt")
}

// tokensOf returns the names of the crawler in a request.
func (m *robotsTxt) tokensOf(r *crawl.Request) []string {
	if m.cfg.Name != "" {
		return m.tokens
	}
	if values, ok := r.Header["User-Agent"]; ok && !slices.Equal(values, []string{m.cfg.UserAgent}) {
		return robots.Tokens(strings.Join(values, " "))
	}
	return m.tokens
}
