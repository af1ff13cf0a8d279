package engine

import (
	"cmp"
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"net"
	"runtime"
	"slices"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/extensions"
	"github.com/skeincrawl/skein/feeds"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
	"github.com/skeincrawl/skein/settings"
	spmw "github.com/skeincrawl/skein/spiders/middleware"
)

// extension is an extension with its name, for messages.
type extension struct {
	name string
	extensions.Extension
}

// New assembles a crawl. It touches neither the job directory nor a feed. All
// that is wrong is returned at once, as a [ConfigError].
func New(o Options) (*Engine, error) {
	e := &Engine{opts: o, cfg: settings.Decode[Config](o.Settings), closing: make(chan struct{}), cutting: make(chan struct{})}
	e.cfg.JobDir = o.Settings.JobDir(o.Spec.Name)
	if e.opts.FS == nil {
		e.opts.FS = jobs.OS()
	}
	if e.cfg.Parses == 0 {
		e.cfg.Parses = runtime.GOMAXPROCS(0)
	}
	sp, errs := o.Spec.Build(o.Args)
	e.env = &crawl.Env{
		Spec: o.Spec, Spider: sp, Settings: o.Settings, Log: o.Log, Stats: crawl.NewStats(), Signals: &crawl.Signals{},
		Callbacks: crawl.NewCallbacks(sp), JobDir: e.cfg.JobDir, Stdin: o.Stdin, CloseSpider: e.closeSpider,
		Fetcher: crawl.FetcherFunc(e.fetchBeside), Enqueue: e.enqueue, NeedsBackout: e.needsBackout, Slots: e.Slots(),
		Fingerprint: func(r *crawl.Request) ([20]byte, error) { return e.fingerprint(r) },
	}
	e.log = e.env.Logger("engine")
	e.state = newState(sp)
	e.totals.stats = e.env.Stats
	e.env.Keep(totalsNote, e.totals.save)
	e.policies.slot, _ = sp.(crawl.SlotKeyer)
	e.policies.priority, _ = sp.(crawl.Prioritizer)
	e.policies.admit, _ = sp.(crawl.Admitter)
	errs = append(errs, e.assembleDialer(), e.assembleStats(), e.assembleScheduler(), e.assembleFeeds(), e.assembleDownloader(), e.assembleSpider(), e.assembleExtensions())
	if err := errors.Join(errs...); err != nil {
		return nil, &ConfigError{err}
	}
	return e, nil
}

// assembleDialer comes before the components that connect.
func (e *Engine) assembleDialer() error {
	e.addresses = downloader.NewAddresses(settings.Decode[downloader.AddressConfig](e.env.Settings), net.DefaultResolver.LookupNetIP)
	d, err := downloader.NewDialer(settings.Decode[downloader.DialConfig](e.env.Settings), e.addresses)
	if err != nil {
		return err
	}
	e.env.Dial = d.Dial
	return nil
}

// assembleStats comes before the components that count.
func (e *Engine) assembleStats() error {
	var err error
	e.collector, err = crawl.Construct(e.env, "STATS_CLASS", crawl.StatsCollectors, e.cfg.StatsClass)
	return err
}

func (e *Engine) assembleScheduler() error {
	newOpen, err := scheduler.Frontiers.Lookup(e.cfg.Scheduler)
	if err != nil {
		err = fmt.Errorf("SCHEDULER: %w", err)
	} else {
		e.openScheduler, err = newOpen(e.env)
	}
	var ferr error
	e.fingerprinter, ferr = crawl.Construct(e.env, "REQUEST_FINGERPRINTER_CLASS", scheduler.Fingerprinters, e.cfg.Fingerprinter)
	return errors.Join(err, ferr)
}

func (e *Engine) assembleFeeds() error {
	form, err := feeds.FormFromSettings(e.env.Settings)
	if err != nil {
		return err
	}
	configured, wrong := feeds.FromSettings(e.env.Settings)
	e.feeds, err = feeds.New(feeds.Options{
		Targets: e.opts.Feeds, Configured: configured, Form: form, Spider: e.env.Spec.Name,
		Stdout: e.opts.Stdout, Job: e.cfg.JobDir != "",
		Log: e.env.Logger("feedexport"), Stats: e.env.Stats,
	})
	err = errors.Join(wrong, err)
	if e.cfg.JobDir == "" {
		return err
	}
	if err != nil {
		// Most often the feed that can not be written is that of the same job.
		if owner := jobs.Owner(e.opts.FS, e.cfg.JobDir); owner != nil {
			return owner
		}
		return err
	}
	for _, f := range e.feeds.Jobs() {
		if jobs.Owns(e.cfg.JobDir, f.Name) {
			return fmt.Errorf("feed %q is a file of the job directory itself", f.Name)
		}
	}
	return nil
}

func (e *Engine) assembleDownloader() error {
	slotsConfig := settings.Decode[downloader.SlotsConfig](e.env.Settings)
	slotsConfig.Log = e.env.Logger("slots")
	if e.cfg.PerAddress > 0 {
		slotsConfig.Concurrency = e.cfg.PerAddress
	}
	slotsConfig.Obey = slotsConfig.Obey && slices.ContainsFunc(e.env.Settings.Components("DOWNLOADER_MIDDLEWARES"), isRobots)
	e.slots = downloader.NewSlots(slotsConfig)
	e.budget = downloader.NewBudget(e.cfg.MaxHeld, e.env.Logger("downloader"))
	e.env.Keep(slotsNote, e.slots.Save)
	e.retry = downloader.NewRetryPolicy(e.env)
	var handlers error
	e.router, handlers = downloader.NewRouter(e.env)
	mws, err := build(e.env, "DOWNLOADER_MIDDLEWARES", downloader.Middlewares)
	if err := errors.Join(handlers, err); err != nil {
		return err
	}
	e.chain = crawl.FetcherFunc(e.transfer)
	for _, mw := range slices.Backward(mws) {
		e.chain = mw.v(e.chain)
	}
	e.enabled = append(e.enabled, describe("downloader middlewares", names(mws)))
	return nil
}

func isRobots(c settings.Component) bool { return c.Name == "robotstxt" }

func (e *Engine) assembleSpider() error {
	mws, err := build(e.env, "SPIDER_MIDDLEWARES", spmw.Registry)
	if err != nil {
		return err
	}
	e.handler = e.base()
	for _, mw := range slices.Backward(mws) {
		e.handler = mw.v(e.handler)
	}
	e.enabled = append(e.enabled, describe("spider middlewares", names(mws)))
	return nil
}

func (e *Engine) assembleExtensions() error {
	xs, err := build(e.env, "EXTENSIONS", extensions.Registry)
	if err != nil {
		return err
	}
	for _, x := range xs {
		e.extensions = append(e.extensions, extension{x.name, x.v})
	}
	var all []string // also those that only listen to signals
	for _, c := range e.env.Settings.Components("EXTENSIONS") {
		all = append(all, c.Name)
	}
	e.enabled = append(e.enabled, describe("extensions", slices.Values(all)))
	return nil
}

// component is a built component with its name.
type component[T any] struct {
	name string
	v    T
}

// build makes the components that a setting names, lowest order first. A
// constructor that answers with nothing means that its own setting turned it
// off.
func build[T any](env *crawl.Env, setting string, reg *crawl.Registry[func(*crawl.Env) (T, error)]) ([]component[T], error) {
	var all []component[T]
	var errs []error
	for _, c := range env.Settings.Components(setting) {
		v, err := crawl.Construct(env, setting, reg, c.Name)
		if err == nil && !isNil(v) {
			all = append(all, component[T]{c.Name, v})
		}
		errs = append(errs, err)
	}
	return all, errors.Join(errs...)
}

func names[T any](all []component[T]) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, c := range all {
			if !yield(c.name) {
				return
			}
		}
	}
}

// base is the innermost handler: it calls the spider.
func (e *Engine) base() crawl.Handler {
	sp := e.env.Spider
	start := startURLs(e.env.Spec.StartURLs)
	if s, ok := sp.(crawl.Starter); ok {
		start = s.Start
	}
	failer, _ := sp.(crawl.Failer)
	return func(ctx context.Context, r *crawl.Response, f *crawl.Failure, out crawl.Out) error {
		if f != nil {
			noteFailure(ctx, f)
		}
		switch {
		case f != nil && f.Request.Errback != nil:
			return f.Request.Errback(ctx, f, out)
		case f != nil && failer != nil:
			return failer.Fail(ctx, f, out)
		case f != nil:
			return f
		case r == nil:
			return start(ctx, out)
		case r.Request.Callback != nil:
			return r.Request.Callback(ctx, r, out)
		}
		return sp.Parse(ctx, r, out)
	}
}

// openJob opens the job directory. It returns nil if the job is finished and is
// not to run again.
func (e *Engine) openJob() (*jobs.Job, error) {
	if e.cfg.JobDir == "" {
		return jobs.Volatile(e.feeds.Jobs()), nil
	}
	id := jobs.Identity{
		Spider: e.env.Spec.Name, Args: e.jobArgs(), Fingerprinter: e.cfg.Fingerprinter, Filter: e.cfg.DupeFilter, QueueClass: e.queueClass(),
	}
	job, err := jobs.Open(e.opts.FS, e.cfg.JobDir, id, jobs.Options{SyncInterval: e.cfg.Sync, MaxDisk: e.cfg.MaxDisk})
	if err != nil {
		return nil, err
	}
	if job.State() != jobs.StateFinished {
		return job, nil
	}
	switch e.cfg.Finished {
	case "stop":
		e.log.Info().Msgf("The job in %s is finished; nothing to do (JOB_WHEN_FINISHED=stop)", e.cfg.JobDir)
		return nil, job.Close(jobs.End{})
	case "fresh":
		e.log.Info().Msgf("The job in %s is finished; it starts anew and forgets what it has seen (JOB_WHEN_FINISHED=fresh)", e.cfg.JobDir)
		if err := job.Reset(); err != nil {
			return nil, errors.Join(fmt.Errorf("reset job %s: %w", e.cfg.JobDir, err), job.Close(jobs.End{}))
		}
	default:
		e.log.Info().Msgf("The job in %s is finished; a new round begins, and what was seen stays seen (JOB_WHEN_FINISHED=again)", e.cfg.JobDir)
	}
	return job, nil
}

// queueClass is what has to be the same for a job to find its requests: the
// scheduler, and of the default one the priority queue.
func (e *Engine) queueClass() string {
	if e.cfg.Scheduler != "default" {
		return e.cfg.Scheduler
	}
	return e.cfg.Queue
}

// jobArgs returns the arguments as the job keeps them: secrets as hashes.
func (e *Engine) jobArgs() map[string]string {
	args := map[string]string{}
	for _, a := range e.env.Spec.Args() {
		v, given := e.opts.Args[a.Name]
		if !given || a.Run {
			continue
		}
		if a.Secret {
			v = hashSecret(e.env.Spec.Name, a.Name, v)
		}
		args[a.Name] = v
	}
	return args
}

// hashSecret returns what a job keeps of a secret, to know it again. It is slow,
// so that the secret can not be found by trying.
func hashSecret(spider, arg, value string) string {
	const rounds, size = 100_000, 16
	key, err := pbkdf2.Key(sha256.New, value, []byte(spider+"\x00"+arg), rounds, size)
	if err != nil { // only if a FIPS mode forbids the sizes above
		return jobs.SecretPrefix
	}
	return jobs.SecretPrefix + hex.EncodeToString(key)
}

func (e *Engine) openFrontier(ctx context.Context, job *jobs.Job) (scheduler.Frontier, scheduler.Resume, error) {
	f, resume, err := e.openScheduler(ctx, scheduler.Deps{
		Env: e.env, Slots: slots{e.slots}, SlotOf: e.slotOf, Job: job, Feeds: e.feeds.Jobs(),
	})
	if unfit := new(feeds.TargetError); errors.As(err, &unfit) {
		return nil, resume, &ConfigError{unfit}
	}
	if err != nil {
		return nil, resume, fmt.Errorf("open the scheduler %s: %w", e.cfg.Scheduler, err)
	}
	if err := e.feeds.Begin(); err != nil {
		return nil, resume, errors.Join(&ConfigError{err}, f.Close(ctx, ""))
	}
	return f, resume, nil
}

// openSpider tells the spider and those who listen that the crawl begins. An
// error that asks to close the spider does so in good order.
func (e *Engine) openSpider(ctx context.Context) error {
	var err error
	if o, ok := e.env.Spider.(crawl.Opener); ok {
		err = crawl.Guard(func() error { return o.Open(ctx, e.env) })
	}
	err = cmp.Or(err, crawl.Send(ctx, e.env.Signals, crawl.SpiderOpened{Spider: e.env.Spider}))
	if stop := new(crawl.CloseError); errors.As(err, &stop) {
		e.closeSpider(stop.Reason)
		return nil
	}
	if arg := new(crawl.ArgError); errors.As(err, &arg) {
		return &ConfigError{err}
	}
	if err != nil {
		return fmt.Errorf("open the spider: %w", err)
	}
	return nil
}
