package middleware

import (
	"context"
	"slices"
	"strings"
	"time"

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

	CrawlDelay    string        `setting:"ROBOTSTXT_CRAWL_DELAY"`
	MaxCrawlDelay time.Duration `setting:"ROBOTSTXT_MAX_CRAWL_DELAY"`
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
	slot := downloader.PacerOf(ctx)
	if r.Options.NoRobots || !isWeb(r.URL) {
		if slot != nil && weburl.Target(r.URL) != robotsPath { // which tells more
			slot.SlowDown(0)
		}
		return m.next.Fetch(ctx, r)
	}
	origin, tokens := weburl.Origin(r.URL), m.tokensOf(r)
	file, err := m.cache.file(ctx, origin, r)
	if err != nil {
		return nil, err
	}
	if file.file == nil {
		m.stats.Inc("robotstxt/unavailable")
		return nil, file.why
	}
	if slot != nil && m.cfg.CrawlDelay != "off" {
		m.pace(slot, origin, file, file.delay(tokens))
	}
	if file.allows(tokens, robotsTarget(r.URL)) {
		return m.next.Fetch(ctx, r)
	}
	m.stats.Inc("robotstxt/forbidden")
	m.log.Debug().Msgf("Forbidden by robots.txt: %v", r)
	return nil, crawl.Ignore("Forbidden by robots.txt")
}

// robotsTarget returns what a server is asked for by a URL, as rules see it: without
// the dot segments that are in the URL of a request if its spider has put them there.
func robotsTarget(u string) string {
	target := weburl.Target(u)
	if !strings.Contains(target, "/.") && !strings.ContainsAny(target, "%\\") {
		return target
	}
	if clean, err := weburl.Resolve("", u); err == nil {
		return weburl.Target(clean)
	}
	return target
}

// pace tells the slot of a request the delay that the file asks for, if it is to be
// kept. The first time that is counted and, if the slot waits less, logged.
func (m *robotsTxt) pace(slot downloader.Pacer, origin string, file *robotsFile, delay time.Duration) {
	has, enforce := slot.Delay(), m.cfg.CrawlDelay == "enforce"
	if enforce {
		slot.SlowDown(delay)
	}
	if delay <= 0 || file.noted.Swap(true) {
		return
	}
	m.stats.Inc("robotstxt/crawl_delay_count")
	if delay <= has {
		return
	}
	m.stats.Inc("robotstxt/crawl_delay_slower_count")
	switch {
	case enforce && delay > m.cfg.MaxCrawlDelay:
		m.stats.Inc("robotstxt/crawl_delay_capped_count")
		m.log.Info().Msgf("robots.txt of %s asks for %v between two requests; it gets %v (ROBOTSTXT_MAX_CRAWL_DELAY)", origin, delay, max(m.cfg.MaxCrawlDelay, has))
	case enforce:
		m.log.Info().Msgf("robots.txt of %s asks for %v between two requests, and gets that", origin, delay)
	default:
		m.log.Info().Msgf("robots.txt of %s asks for %v between two requests; it gets %v (ROBOTSTXT_CRAWL_DELAY=observe)", origin, delay, has)
	}
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
