package httpcache

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/internal/weburl"
	"github.com/skeincrawl/skein/settings"
)

func init() { downloader.Middlewares.Register("httpcache", newCache) }

type config struct {
	Enabled       bool   `setting:"HTTPCACHE_ENABLED"`
	Policy        string `setting:"HTTPCACHE_POLICY"`
	Storage       string `setting:"HTTPCACHE_STORAGE"`
	IgnoreMissing bool   `setting:"HTTPCACHE_IGNORE_MISSING"`
	Gzip          bool   `setting:"HTTPCACHE_GZIP"`
}

// newCache answers requests with stored responses.
func newCache(env *crawl.Env) (downloader.Middleware, error) {
	cfg := settings.Decode[config](env.Settings)
	if !cfg.Enabled {
		return nil, nil
	}
	policy, perr := crawl.Construct(env, "HTTPCACHE_POLICY", Policies, cfg.Policy)
	storage, serr := crawl.Construct(env, "HTTPCACHE_STORAGE", Storages, cfg.Storage)
	if err := errors.Join(perr, serr); err != nil {
		return nil, err
	}
	if closer, ok := storage.(io.Closer); ok {
		crawl.On(env.Signals, func(context.Context, crawl.SpiderClosed) error { return closer.Close() })
	}
	return func(next crawl.Fetcher) crawl.Fetcher {
		c := &cache{next: next, cfg: cfg, policy: policy, storage: storage, env: env, log: env.Logger("httpcache")}
		c.saving.held = map[string]chan struct{}{}
		c.validator, _ = policy.(Validator)
		c.varier, _ = policy.(Varier)
		c.invalidator, _ = policy.(Invalidator)
		c.ager, _ = policy.(Ager)
		return c
	}, nil
}

type cache struct {
	next    crawl.Fetcher
	cfg     config
	policy  Policy
	storage Storage
	env     *crawl.Env
	log     zerolog.Logger

	// What the policy can besides; nil if it can not.
	validator   Validator
	varier      Varier
	invalidator Invalidator
	ager        Ager

	buffers  downloader.Buffers
	saving   locks
	saveTold atomic.Bool // that nothing can be stored
}

// An exchange is one request with what is stored for it.
type exchange struct {
	r    *crawl.Request
	key  string
	best *Stored // the newest of the key for this request; nil if there is none
}

// Fetch answers r from the cache if it can, and else by what is behind it.
func (c *cache) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	inFile := r.Options.FTPLocalFilename != "" // which an answer from here would not write
	if r.Options.NoCache || inFile || weburl.Scheme(r.URL) == "data" || len(values(r.Header, "Range")) > 0 || !c.policy.Admits(r) {
		return c.pass(ctx, r)
	}
	key, err := c.key(r)
	if err != nil {
		return nil, err
	}
	x := &exchange{r: r, key: key, best: c.find(ctx, r, key)}
	switch {
	case ctx.Err() != nil: // it may have had to wait for memory
		return nil, fmt.Errorf("look for %v in the cache: %w", r, context.Cause(ctx))
	case x.best == nil:
		c.count("miss")
	case c.policy.Fresh(r, x.best):
		c.count("hit")
		return c.answer(ctx, r, x.best), nil
	}
	if x.best == nil && c.cfg.IgnoreMissing || parseDirectives(r.Header).has("only-if-cached") {
		c.count("ignore")
		return nil, crawl.Ignore(fmt.Sprintf("Ignored request not in cache: %v", r))
	}
	if x.best == nil {
		return c.fetch(ctx, x)
	}
	return c.revalidate(ctx, x)
}

func (c *cache) count(what string) { c.env.Stats.Inc("httpcache/" + what) }

func (c *cache) key(r *crawl.Request) (string, error) {
	fp, err := c.env.Fingerprint(r)
	if err != nil {
		return "", fmt.Errorf("look for %v in the cache: %w", r, err)
	}
	return hex.EncodeToString(fp[:]), nil
}

// find returns what is stored for a request, nil if nothing is. Of the other variants
// it leaves nothing in memory.
func (c *cache) find(ctx context.Context, r *crawl.Request, key string) *Stored {
	all := c.load(ctx, r, key)
	i := slices.IndexFunc(all, func(s *Stored) bool { return c.matches(r, s) })
	if i < 0 {
		downloader.Holds(ctx, 0)
		return nil
	}
	if len(all) > 1 {
		all[i].Body = bytes.Clone(all[i].Body)
	}
	downloader.Holds(ctx, len(all[i].Body))
	return all[i]
}

// matches reports whether s is a response to what r asks for.
func (c *cache) matches(r *crawl.Request, s *Stored) bool {
	return c.varier == nil || c.varier.Matches(r, s)
}

// pass sends a request that is not to be answered from the cache, but may make
// void what is in it.
func (c *cache) pass(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	resp, err := c.next.Fetch(ctx, r)
	if err != nil || c.invalidator == nil {
		return resp, err
	}
	for _, u := range c.invalidator.Invalidates(r, resp) {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			c.void(ctx, &crawl.Request{URL: u, Method: method})
		}
	}
	return resp, nil
}

func (c *cache) void(ctx context.Context, r *crawl.Request) {
	key, err := c.key(r)
	if err == nil {
		err = c.storage.Remove(ctx, key)
	}
	if err != nil {
		c.log.Warn().Err(err).Msgf("Error removing %v from the cache, where it is no longer valid", r)
	}
}

// load returns what is stored under a key, the newest first. What can not be read
// is as good as not there.
func (c *cache) load(ctx context.Context, r *crawl.Request, key string) []*Stored {
	all, err := c.read(ctx, key)
	if err != nil && ctx.Err() == nil {
		c.log.Warn().Err(err).Msgf("Error retrieving %v from the cache, treating it as a cache miss", r)
		c.count("retrieve_error")
	}
	return all
}

// read returns what is stored under a key, and removes what is damaged.
func (c *cache) read(ctx context.Context, key string) ([]*Stored, error) {
	record, err := c.storage.Load(ctx, key)
	if err != nil || record == nil {
		return nil, err
	}
	all, err := decode(record, func(r io.Reader) ([]byte, error) { return c.buffers.Read(ctx, r, -1, 0) })
	if err != nil && ctx.Err() == nil {
		return nil, errors.Join(err, c.storage.Remove(ctx, key))
	}
	return all, err
}

// fetch sends a request for which nothing is stored.
func (c *cache) fetch(ctx context.Context, x *exchange) (*crawl.Response, error) {
	sent := time.Now()
	resp, err := c.next.Fetch(ctx, x.r)
	if err != nil {
		return nil, err
	}
	c.count("firsthand")
	c.keep(ctx, x, resp, sent)
	return resp, nil
}

// revalidate sends a request for which something is stored that is not fresh.
func (c *cache) revalidate(ctx context.Context, x *exchange) (*crawl.Response, error) {
	r, sent := c.conditional(x), time.Now()
	resp, err := c.next.Fetch(ctx, r)
	switch {
	case err != nil && isNetwork(err) && (c.validator == nil || c.validator.Recover(x.r, x.best)):
		c.count("errorrecovery")
		return c.answer(ctx, x.r, x.best), nil
	case err != nil:
		return nil, err
	case c.validator != nil && c.validator.Valid(x.r, x.best, resp):
		c.count("revalidate")
		return c.confirmed(ctx, x, resp, sent), nil
	}
	if resp.Request == r {
		resp.Request = x.r
	}
	c.count("invalidate")
	x.best = nil
	c.keep(ctx, x, resp, sent)
	return resp, nil
}

// conditional returns the request that asks whether the stored response is still
// good.
func (c *cache) conditional(x *exchange) *crawl.Request {
	if c.validator == nil {
		return x.r
	}
	condition := c.validator.Condition(x.r, x.best)
	if len(condition) == 0 {
		return x.r
	}
	r := *x.r
	if r.Header = x.r.Header.Clone(); r.Header == nil {
		r.Header = http.Header{}
	}
	maps.Copy(r.Header, condition)
	return &r
}

// confirmed answers with the stored response, and lets a 304 update it.
func (c *cache) confirmed(ctx context.Context, x *exchange, resp *crawl.Response, sent time.Time) *crawl.Response {
	s := x.best
	if resp.Status == http.StatusNotModified {
		withDate(resp)
		s = s.updated(resp.Header, sent)
		c.save(ctx, x, s)
	}
	return c.answer(ctx, x.r, s)
}

// isNetwork reports whether a fetch failed for a reason that says nothing about
// the page.
func isNetwork(err error) bool {
	switch crawl.KindOf(err) {
	case crawl.FailTimeout, crawl.FailDNS, crawl.FailRefused, crawl.FailConnection, crawl.FailDataLoss:
		return true
	}
	return false
}

// answer makes the response to r of a stored one.
func (c *cache) answer(ctx context.Context, r *crawl.Request, s *Stored) *crawl.Response {
	downloader.Holds(ctx, len(s.Body))
	header := s.Header
	if c.ager != nil {
		header = s.Header.Clone()
		header["Age"] = []string{strconv.Itoa(int(c.ager.Age(s).Seconds()))}
	}
	return &crawl.Response{
		Request: r, URL: s.URL, Status: s.Status, Header: header, Body: s.Body, Proto: s.Proto,
		Flags: append(slices.Clone(s.Flags), FlagCached),
	}
}

// withDate gives a response a Date if its server has no clock (RFC 9110 §6.6.1).
func withDate(resp *crawl.Response) {
	if resp.Header == nil {
		resp.Header = http.Header{}
	}
	if len(resp.Header["Date"]) == 0 {
		resp.Header["Date"] = []string{time.Now().UTC().Format(http.TimeFormat)}
	}
}

// keep stores a response that came just now, if it may be stored.
func (c *cache) keep(ctx context.Context, x *exchange, resp *crawl.Response, sent time.Time) {
	withDate(resp)
	if !isWhole(resp) || !c.policy.Storable(x.r, resp) {
		c.count("uncacheable")
		return
	}
	if c.save(ctx, x, newStored(x.r, resp, sent)) {
		c.count("store")
	}
	downloader.Holds(ctx, len(resp.Body))
}

// isWhole reports whether a response is all that there is, and no answer to a
// condition of the request.
func isWhole(resp *crawl.Response) bool {
	return resp.Status >= 200 && resp.Status != http.StatusPartialContent && resp.Status != http.StatusNotModified &&
		!slices.Contains(resp.Flags, downloader.FlagDataLoss)
}

// maxVariants bounds how many responses are kept of one resource.
const maxVariants = 16

// save stores s in place of what it replaces, and reports whether that worked.
func (c *cache) save(ctx context.Context, x *exchange, s *Stored) bool {
	err := c.replace(ctx, x, s)
	if err != nil {
		c.count("store_error")
		if c.saveTold.CompareAndSwap(false, true) {
			c.log.Warn().Err(err).Msgf("Error storing %v in the cache. httpcache/store_error counts further ones, this message won't be shown again", x.r)
		}
	}
	return err == nil
}

// replace reads the other variants again, since requests for them may have been
// answered at the same time, and holds the key until they are saved with s. What
// can not be read is replaced as a whole.
func (c *cache) replace(ctx context.Context, x *exchange, s *Stored) error {
	all := []*Stored{s}
	if c.varier != nil {
		if err := c.saving.lock(ctx, x.key); err != nil {
			return fmt.Errorf("wait for another response of the same URL: %w", err)
		}
		defer c.saving.unlock(x.key)
		others, _ := c.read(ctx, x.key)
		if ctx.Err() != nil {
			return fmt.Errorf("read the other responses of the same URL: %w", context.Cause(ctx))
		}
		for _, old := range others {
			if len(all) < maxVariants && !c.matches(x.r, old) {
				all = append(all, old)
			}
		}
	}
	downloader.Holds(ctx, 2*bodies(all)) // the record is a copy of them
	record, err := encode(all, c.cfg.Gzip)
	if err != nil {
		return err
	}
	return c.storage.Save(ctx, x.key, record)
}
