package middleware

import (
	"context"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/internal/weburl"
)

func init() { downloader.Middlewares.Register("offsite", newOffsiteMiddleware) }

// newOffsiteMiddleware refuses requests that leave the spider's domains: when
// they are scheduled, and those that come here past the scheduler.
func newOffsiteMiddleware(env *crawl.Env) (downloader.Middleware, error) {
	o := NewOffsite(env)
	crawl.On(env.Signals, func(_ context.Context, e crawl.RequestScheduled) error { return o.Check(e.Request) })
	return func(next crawl.Fetcher) crawl.Fetcher {
		return crawl.FetcherFunc(func(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
			if err := o.Check(r); err != nil {
				return nil, err
			}
			return next.Fetch(ctx, r)
		})
	}, nil
}

// Offsite tells which requests leave the domains of the spider. It is safe for
// concurrent use.
type Offsite struct {
	env     *crawl.Env
	log     zerolog.Logger
	compile sync.Once
	domains map[string]struct{} // nil allows all

	mu   sync.Mutex
	seed maphash.Seed
	seen map[uint64]struct{} // hosts that were refused, by hash: there may be millions
}

// NewOffsite returns a check of the allowed domains of env. They are asked for
// at the first check, when the spider is open.
func NewOffsite(env *crawl.Env) *Offsite {
	return &Offsite{env: env, log: env.Logger("offsite"), seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
}

// Check returns a [crawl.Ignore] error for a request whose host is none of the
// allowed domains and in none of them, and counts and logs that. Requests with
// DontFilter, if that is the spider's wish, or Options.AllowOffsite may go anywhere.
func (o *Offsite) Check(r *crawl.Request) error {
	o.compile.Do(o.read)
	if o.domains == nil || r.DontFilter && !r.Trail.Unfiltered || r.Options.AllowOffsite {
		return nil
	}
	host := weburl.Host(r.URL)
	for part := host; ; {
		if _, ok := o.domains[part]; ok {
			return nil
		}
		i := strings.IndexByte(part, '.')
		if i < 0 {
			return o.refuse(r, host)
		}
		part = part[i+1:]
	}
}

func (o *Offsite) refuse(r *crawl.Request, host string) error {
	o.env.Stats.Inc("offsite/filtered")
	reason := fmt.Sprintf("Filtered offsite request to '%s'", host)
	if o.first(host) {
		o.env.Stats.Inc("offsite/domains")
		o.log.Debug().Msgf("%s: %v", reason, r)
	}
	return crawl.Ignore(reason)
}

// first reports whether the host was not refused before.
func (o *Offsite) first(host string) bool {
	h := maphash.String(o.seed, host)
	o.mu.Lock()
	defer o.mu.Unlock()
	_, seen := o.seen[h]
	o.seen[h] = struct{}{}
	return !seen
}

// read compiles the allowed domains. What is no plain domain is warned of and
// matches nothing, as in Scrapy.
func (o *Offsite) read() {
	list := o.env.AllowedDomains()
	if len(list) == 0 {
		return
	}
	o.domains = make(map[string]struct{}, len(list))
	for _, d := range list {
		name := strings.TrimPrefix(strings.TrimSpace(d), ".")
		if host := domain(name); host != "" {
			o.domains[host] = struct{}{}
		} else if name != "" {
			o.log.Warn().Msgf("allowed domain %q is ignored: want a domain such as example.com, without scheme, port and path", d)
		}
	}
}

// domain returns the normal form of a domain, "" for anything else.
func domain(name string) string {
	if strings.ContainsAny(name, "/:@?#\\") && !strings.HasPrefix(name, "[") {
		return ""
	}
	return weburl.Host("http://" + name + "/")
}
