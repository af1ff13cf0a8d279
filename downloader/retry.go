package downloader

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

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

	// Backoff is the longest wait before the first retry; it doubles with each
	// further one, up to MaxBackoff. 0 is none.
	Backoff    time.Duration `setting:"RETRY_BACKOFF"`
	MaxBackoff time.Duration `setting:"RETRY_BACKOFF_MAX"`
}

// RetryPolicy decides whether a request is tried again, counts that and logs
// it, as Scrapy does. It is safe for concurrent use.
type RetryPolicy struct {
	cfg   RetryConfig
	log   zerolog.Logger
	stats *crawl.Stats
	rand  func() float64
}

// NewRetryPolicy returns the policy that the settings ask for.
func NewRetryPolicy(env *crawl.Env) *RetryPolicy {
	cfg := settings.Decode[RetryConfig](env.Settings)
	return &RetryPolicy{cfg: cfg, log: env.Logger("retry"), stats: env.Stats, rand: rand.Float64}
}

// level returns the level of a name of Scrapy's.
func level(name string) (l zerolog.Level, ok bool) {
	switch name {
	case "DEBUG":
		return zerolog.DebugLevel, true
	case "INFO":
		return zerolog.InfoLevel, true
	case "WARNING":
		return zerolog.WarnLevel, true
	case "ERROR":
		return zerolog.ErrorLevel, true
	case "CRITICAL":
		return zerolog.FatalLevel, true
	}
	return zerolog.NoLevel, false
}

// CheckOptions returns an error for options of a retry that mean nothing.
func CheckOptions(o *crawl.Options) error {
	if _, ok := level(o.GiveUpLevel); !ok && o.GiveUpLevel != "" {
		return fmt.Errorf("give-up level %q: want DEBUG, INFO, WARNING, ERROR or CRITICAL", o.GiveUpLevel)
	}
	return nil
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
		at, ok := level(r.Options.GiveUpLevel)
		if !ok {
			at, _ = level(p.cfg.GiveUp)
		}
		p.log.WithLevel(at).Msgf("Gave up retrying %v (failed %d times): %s", r, failed, text)
		return nil, false
	}
	p.stats.Inc("retry/count")
	p.stats.Inc("retry/reason_count/" + key)
	p.log.Debug().Msgf("Retrying %v (failed %d times): %s", r, failed, text)
	c := *r
	c.Trail.Retries = failed
	c.Priority += cmp.Or(r.Options.RetryPriority, p.cfg.Priority)
	c.Trail.Unfiltered = r.Trail.Unfiltered || !r.DontFilter
	c.DontFilter = true
	c.NotBefore = p.notBefore(r, failed, time.Now())
	return &c, true
}

// notBefore returns when a request that failed so often may be sent again: after a
// wait that is drawn from 0 to a time which doubles ("full jitter"), so that requests
// that failed together do not come back together. A time that the request has itself
// counts on, if it is ahead.
func (p *RetryPolicy) notBefore(r *crawl.Request, failed int, now time.Time) time.Time {
	at := time.Time{}
	if most := min(float64(cmp.Or(r.Options.RetryBackoff, p.cfg.Backoff))*math.Exp2(float64(failed-1)), float64(p.cfg.MaxBackoff)); most > 0 {
		at = now.Add(time.Duration(p.rand() * most))
	}
	if r.NotBefore.After(now) && r.NotBefore.After(at) {
		return r.NotBefore
	}
	return at
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
