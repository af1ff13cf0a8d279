package downloader

import (
	"net/http"
	"strconv"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

// RetryConfig is what a [RetryPolicy] takes from the settings.
type RetryConfig struct {
	// Times is how often a request is tried again after the first attempt.
	Times int `setting:"RETRY_TIMES"`

	// Priority is added to the priority of a request that is tried again.
	Priority int `setting:"RETRY_PRIORITY_ADJUST"`

	// GiveUp is the level of the line for a request that failed too often, by
	// Scrapy's names.
	GiveUp string `setting:"RETRY_GIVE_UP_LOG_LEVEL"`
}

// RetryPolicy decides whether a request is tried again, counts that and logs
// it, as Scrapy does. It is safe for concurrent use.
type RetryPolicy struct {
	cfg    RetryConfig
	giveUp zerolog.Level
	log    zerolog.Logger
	stats  *crawl.Stats
}

// NewRetryPolicy returns the policy that the settings ask for.
func NewRetryPolicy(env *crawl.Env) *RetryPolicy {
	cfg := settings.Decode[RetryConfig](env.Settings)
	return &RetryPolicy{cfg: cfg, giveUp: level(cfg.GiveUp), log: env.Logger("retry"), stats: env.Stats}
}

func level(name string) zerolog.Level {
	switch name {
	case "DEBUG":
		return zerolog.DebugLevel
	case "INFO":
		return zerolog.InfoLevel
	case "WARNING":
		return zerolog.WarnLevel
	case "CRITICAL":
		return zerolog.FatalLevel
	}
	return zerolog.ErrorLevel
}

// Next returns the request that is the next try of r, or false if there is none
// because r failed too often or retries are off for it. The reason is logged
// and counted; it defaults to "unspecified".
func (p *RetryPolicy) Next(r *crawl.Request, reason string) (*crawl.Request, bool) {
	return p.next(r, reason, reason)
}

// NextAfter works as [RetryPolicy.Next] for a fetch that ended with an error: it
// is counted by its name, see [ErrorName], and logged by its message.
func (p *RetryPolicy) NextAfter(r *crawl.Request, err error) (*crawl.Request, bool) {
	return p.next(r, ErrorName(err), err.Error())
}

func (p *RetryPolicy) next(r *crawl.Request, key, text string) (*crawl.Request, bool) {
	if r.Options.NoRetry {
		return nil, false
	}
	if key == "" {
		key, text = "unspecified", "unspecified"
	}
	times := p.cfg.Times
	if r.Options.MaxRetries > 0 {
		times = r.Options.MaxRetries
	}
	failed := r.Trail.Retries + 1
	if failed > times {
		p.stats.Inc("retry/max_reached")
		p.log.WithLevel(p.giveUp).Msgf("Gave up retrying %v (failed %d times): %s", r, failed, text)
		return nil, false
	}
	p.stats.Inc("retry/count")
	p.stats.Inc("retry/reason_count/" + key)
	p.log.Debug().Msgf("Retrying %v (failed %d times): %s", r, failed, text)
	c := *r
	c.Trail.Retries = failed
	c.Priority += p.cfg.Priority
	c.DontFilter = true
	return &c, true
}

// StatusReason returns the reason for a retry after a response of a status,
// such as "503 Service Unavailable".
func StatusReason(status int) string {
	text := http.StatusText(status)
	if text == "" {
		text = "Unknown Status"
	}
	return strconv.Itoa(status) + " " + text
}
