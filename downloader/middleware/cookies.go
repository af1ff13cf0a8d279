package middleware

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/internal/cookie"
	"github.com/skeincrawl/skein/settings"
)

func init() { downloader.Middlewares.Register("cookies", newCookies) }

type cookiesConfig struct {
	Enabled bool `setting:"COOKIES_ENABLED"`
	Debug   bool `setting:"COOKIES_DEBUG"`
	Persist bool `setting:"COOKIES_PERSIST"`
}

// newCookies keeps the cookies that servers and users set, in a jar for each
// [crawl.Request.Jar], and sends them. Each change is noted with the step in which
// it happened (see [crawl.NoteCookies] and [cookie.Change]), and a job that goes
// on begins with the cookies of its last committed step. COOKIES_PERSIST=False keeps
// them out of the job.
func newCookies(env *crawl.Env) (downloader.Middleware, error) {
	cfg := settings.Decode[cookiesConfig](env.Settings)
	if !cfg.Enabled {
		return nil, nil
	}
	jars := &jars{}
	if cfg.Persist {
		crawl.On(env.Signals, func(context.Context, crawl.SpiderOpened) error {
			if err := jars.restore(env.Cookies, time.Now()); err != nil {
				return fmt.Errorf("restore the cookies of the job: %w", err)
			}
			return nil
		})
	}
	log := env.Logger("cookies")
	return func(next crawl.Fetcher) crawl.Fetcher {
		return &cookies{next: next, jars: jars, log: log, debug: cfg.Debug, persist: cfg.Persist}
	}, nil
}

// jars are the jars by name. They come to be with their first cookie.
type jars struct {
	mu sync.RWMutex
	m  map[string]*cookie.Jar
}

// get returns a jar, nil if nothing was put into it.
func (j *jars) get(name string) *cookie.Jar {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.m[name]
}

// put sets a cookie and reports whether that is worth noting.
func (j *jars) put(name string, c cookie.Cookie, now time.Time) bool {
	jar := j.get(name)
	if jar == nil {
		jar = j.create(name)
	}
	return jar.Set(c, now)
}

func (j *jars) create(name string) *cookie.Jar {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.m == nil {
		j.m = map[string]*cookie.Jar{}
	}
	if j.m[name] == nil {
		j.m[name] = &cookie.Jar{}
	}
	return j.m[name]
}

func (j *jars) restore(changes []byte, now time.Time) error {
	return cookie.ReadChanges(changes, func(c *cookie.Change) { j.put(c.Jar, c.Cookie, now) })
}

type cookies struct {
	next    crawl.Fetcher
	jars    *jars
	log     zerolog.Logger
	debug   bool
	persist bool
}

func (m *cookies) inner() crawl.Fetcher { return m.next }

// Fetch sends r with its cookies, and keeps those of the response. The response
// is given back for r itself: the Cookie header of one request must not go on
// with whatever is made of it.
func (m *cookies) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	if r.Options.NoCookies {
		return m.next.Fetch(ctx, r)
	}
	page, ok := cookie.PageOf(r.URL)
	if !ok {
		return m.next.Fetch(ctx, r)
	}
	sent := m.outgoing(ctx, r, page)
	resp, err := m.next.Fetch(ctx, sent)
	if err != nil {
		return nil, err
	}
	if resp.Request == sent && sent != r {
		resp.Request = r
	}
	if lines := resp.Header["Set-Cookie"]; len(lines) > 0 {
		m.incoming(ctx, r, page, resp, lines)
	}
	return resp, nil
}

// outgoing puts the cookies of a request into the jar and returns r or, if there
// are cookies to send, a copy with them.
func (m *cookies) outgoing(ctx context.Context, r *crawl.Request, page cookie.Page) *crawl.Request {
	now := time.Now()
	if len(r.Cookies) > 0 {
		m.keep(ctx, r, page, now)
	}
	var pairs []cookie.Pair
	if jar := m.jars.get(r.Jar); jar != nil {
		pairs = jar.For(page, now)
	}
	own, has := fold(r.Header, "Cookie")
	if len(pairs) > 0 && (!has || len(own) > 0) { // an empty list says that nothing is to be sent
		c := *r
		own = []string{merged(own, pairs, r.Cookies)}
		c.Header = with(r.Header, "Cookie", own)
		r = &c
	}
	if m.debug && len(own) > 0 {
		m.log.Debug().Msgf("Sending cookies to: %v\nCookie: %s\n", r, strings.Join(own, "; "))
	}
	return r
}

// keep puts the cookies of a request into its jar.
func (m *cookies) keep(ctx context.Context, r *crawl.Request, page cookie.Page, now time.Time) {
	for _, u := range r.Cookies {
		switch {
		case u == nil:
			m.log.Warn().Msgf("Invalid cookie found in request %v: nil", r)
			continue
		case u.Name == "":
			m.log.Warn().Msgf("Invalid cookie found in request %v: {value: %q} ('name' is missing)", r, u.Value)
			continue
		}
		c, ok := cookie.FromUser(u, page, now)
		if !ok {
			m.log.Warn().Msgf("Invalid cookie found in request %v: {name: %q, value: %q, domain: %q} "+
				"(a name has no control characters, '=' and ';', a value no control characters and ';', both together at most "+
				"4096 bytes, and a domain is no public suffix)", r, u.Name, u.Value, u.Domain)
			continue
		}
		m.put(ctx, r, c, now)
	}
}

// incoming keeps the cookies of a response.
func (m *cookies) incoming(ctx context.Context, r *crawl.Request, page cookie.Page, resp *crawl.Response, lines []string) {
	if m.debug {
		m.log.Debug().Msgf("Received cookies from: %v\nSet-Cookie: %s\n", resp, strings.Join(lines, "\nSet-Cookie: "))
	}
	now := time.Now()
	for _, l := range lines {
		if c, ok := cookie.Parse(l, page, now); ok {
			m.put(ctx, r, c, now)
		}
	}
}

func (m *cookies) put(ctx context.Context, r *crawl.Request, c cookie.Cookie, now time.Time) {
	if m.jars.put(r.Jar, c, now) && m.persist {
		change := cookie.Change{Jar: r.Jar, Cookie: c}
		crawl.NoteCookies(ctx, change.Append(nil))
	}
}

// merged returns the value of the Cookie header: what the user wrote, then what
// the jar sends. Of equal names the user's wins, unless the request sets it as a
// cookie too.
func merged(own []string, pairs []cookie.Pair, set []*http.Cookie) string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, header := range own {
		for part := range strings.SplitSeq(header, ";") {
			part = strings.Trim(part, " \t")
			name, _, _ := strings.Cut(part, "=")
			name = strings.Trim(name, " \t")
			if part == "" || sets(set, name) {
				continue
			}
			seen[name] = true
			join(&b, part)
		}
	}
	for _, p := range pairs {
		if !seen[p.Name] {
			join(&b, p.Name, "=", p.Value)
		}
	}
	return b.String()
}

func join(b *strings.Builder, parts ...string) {
	if b.Len() > 0 {
		b.WriteString("; ")
	}
	for _, p := range parts {
		b.WriteString(p)
	}
}

func sets(cookies []*http.Cookie, name string) bool {
	for _, c := range cookies {
		if c != nil && c.Name == name {
			return true
		}
	}
	return false
}
