package engine

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/feeds"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
	"github.com/skeincrawl/skein/settings"
)

// Options is what a crawl is made of.
type Options struct {
	Spec     crawl.Spec
	Args     map[string]string // of the spider
	Settings *settings.Settings
	Feeds    []feeds.Target // where the items go
	Log      zerolog.Logger
	Stdin    io.Reader // for spiders that read it; may be nil
	Stdout   io.Writer // of the feed "-"; may be nil if there is none
	FS       jobs.FS   // of the job directory; defaults to that of the machine
}

// Config is the engine's share of the settings.
type Config struct {
	BotName    string        `setting:"BOT_NAME"`
	Requests   int           `setting:"CONCURRENT_REQUESTS"`
	Parses     int           `setting:"CONCURRENT_PARSES"`
	MaxBytes   int64         `setting:"SCRAPER_SLOT_MAX_ACTIVE_SIZE"`
	MaxHeld    int64         `setting:"DOWNLOAD_MAX_ACTIVE_SIZE"`
	MaxPending int           `setting:"SCHEDULER_MAX_PENDING"`
	Grace      time.Duration `setting:"SHUTDOWN_GRACE"`
	JobDir     string        // JOBDIR as it is for this spider
	Finished   string        `setting:"JOB_WHEN_FINISHED"`
	Sync       time.Duration `setting:"JOB_SYNC_INTERVAL"`
	MaxDisk    int64         `setting:"JOB_MAX_DISK"`
	PerAddress int           `setting:"CONCURRENT_REQUESTS_PER_IP"`
	StatsClass string        `setting:"STATS_CLASS"`
	StatsDump  bool          `setting:"STATS_DUMP"`

	Scheduler     string `setting:"SCHEDULER"`
	Queue         string `setting:"SCHEDULER_PRIORITY_QUEUE"`
	DupeFilter    string `setting:"DUPEFILTER_CLASS"`
	Fingerprinter string `setting:"REQUEST_FINGERPRINTER_CLASS"`
}

// Result is how a crawl ended.
type Result struct {
	// Reason is the finish reason: "finished", "no_response", "shutdown",
	// "closespider_…" and so on, or one that the spider chose.
	Reason string

	// NoResponse tells that there were start requests and none of them, nor any
	// other request, led to a response: they failed after their retries, were
	// redirected too often, or refused by a component such as robotstxt.
	NoResponse bool
}

// A ConfigError is something wrong in the settings, the arguments or the feeds,
// found before the first request.
type ConfigError struct{ Err error }

// Error returns the message of the cause, of equal lines one.
func (e *ConfigError) Error() string {
	var lines []string
	for line := range strings.SplitSeq(e.Err.Error(), "\n") {
		if !slices.Contains(lines, line) { // several components may read one setting
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the cause.
func (e *ConfigError) Unwrap() error { return e.Err }

// Engine is one crawl.
type Engine struct {
	opts       Options
	cfg        Config
	env        *crawl.Env
	log        zerolog.Logger
	slots      *downloader.Slots
	budget     *downloader.Budget
	router     downloader.Router
	chain      crawl.Fetcher
	handler    crawl.Handler
	retry      *downloader.RetryPolicy
	feeds      *feeds.Set
	extensions []extension
	enabled    []string // lines for the log
	policies   policies
	state      *state
	totals     totals
	haser      scheduler.Haser

	openScheduler scheduler.Open
	fingerprinter scheduler.Fingerprinter
	addresses     *downloader.Addresses
	collector     crawl.StatsCollector // nil if the stats are only for the log

	closing   chan struct{} // closed when the crawl is asked to end
	closeOnce sync.Once
	reasonMu  sync.Mutex
	reason    string
	cutting   chan struct{}
	cutOnce   sync.Once
	startErr  bool

	answered, unanswered atomic.Int64 // requests of the frontier, redirects and retries followed
	announced            sync.Once
	ran                  atomic.Bool
	running              atomic.Pointer[run] // nil before the spider is opened
	queued               atomic.Int64        // requests, at the last step
}

// policies are the spider's optional frontier policies.
type policies struct {
	slot     crawl.SlotKeyer
	priority crawl.Prioritizer
	admit    crawl.Admitter
}

// Cut ends a crawl that is already stopping faster: downloads and callbacks are
// cancelled, and what was not done goes back into the queue. It is safe for
// concurrent use.
func (e *Engine) Cut() { e.cutOnce.Do(func() { close(e.cutting) }) }

// closeSpider asks the crawl to end in good order. The first reason wins.
func (e *Engine) closeSpider(reason string) {
	e.closeOnce.Do(func() {
		e.reasonMu.Lock()
		e.reason = reason
		e.reasonMu.Unlock()
		close(e.closing)
	})
}

// finishReason returns why the crawl ended.
func (e *Engine) finishReason() string {
	e.reasonMu.Lock()
	defer e.reasonMu.Unlock()
	switch {
	case e.reason != "":
		return e.reason
	case e.startErr:
		return "start_error"
	}
	return "finished"
}

// reasonOf returns the finish reason of a frontier that can not go on.
func reasonOf(err error) string {
	if errors.Is(err, syscall.EPIPE) {
		return "closed_pipe"
	}
	return "frontier_error"
}

// Run crawls until nothing is left, a limit is reached, or ctx is done. Then it
// starts nothing new, lets what is on the wire end within SHUTDOWN_GRACE, and
// closes feeds and job, so that the same crawl resumes. Errors that wrap
// [jobs.ErrUnusable] or are a [ConfigError] came before the first request. An
// Engine runs once.
func (e *Engine) Run(ctx context.Context) (Result, error) {
	e.announceStart()
	if e.ran.Swap(true) {
		return Result{}, errors.New("run the crawl: it has run already")
	}
	job, err := e.openJob()
	if err != nil || job == nil {
		return Result{Reason: "finished"}, err
	}
	frontier, resume, err := e.openFrontier(ctx, job)
	if err != nil {
		return Result{}, err
	}
	if err := e.state.load(resume.State); err != nil {
		return Result{}, errors.Join(err, frontier.Close(ctx, ""))
	}
	e.haser, _ = frontier.(scheduler.Haser)
	defer e.closeHandlers()
	e.env.Resumed, e.env.Cookies = resume.Resumed, resume.Cookies
	e.restore(resume.Notes, job.Info().Runs)
	e.announceComponents()
	e.announceResume(resume)
	r := newRun(ctx, e, frontier)
	e.running.Store(r)
	if err := e.openSpider(ctx); err != nil {
		if ctx.Err() != nil {
			return Result{Reason: "shutdown"}, errors.Join(frontier.Close(ctx, "shutdown"), e.feeds.Close(true))
		}
		return Result{Reason: "start_error"}, errors.Join(err, frontier.Close(ctx, "start_error"), e.feeds.Close(false))
	}
	e.log.Info().Msg("Spider opened")
	e.signalErr("EngineStarted", crawl.Send(ctx, e.env.Signals, crawl.EngineStarted{}))
	return e.close(ctx, r, r.crawl(ctx, resume))
}

func newRun(ctx context.Context, e *Engine, f scheduler.Frontier) *run {
	r := &run{
		e: e, frontier: f, wire: gate{limit: e.cfg.Requests}, parse: make(chan struct{}, e.cfg.Parses),
		msgs: make(chan message, 256), over: make(chan struct{}), stepper: newStepper(),
		timer: stoppedTimer(), notes: stoppedTimer(), grace: stoppedTimer(), last: stoppedTimer(), look: true, hold: true,
		inbox: inbox{wake: make(chan struct{}, 1)},
	}
	r.patient, r.cut = context.WithCancelCause(context.WithoutCancel(ctx))
	r.work = crawl.WithoutWait(r.patient)
	return r
}

func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// crawl runs the loop with all that runs beside it, and waits for it.
func (r *run) crawl(ctx context.Context, resume scheduler.Resume) error { //nolint:contextcheck // the work outlives ctx, which only asks to stop.
	startCtx, unstart := context.WithCancelCause(r.patient)
	r.unstart = unstart
	defer unstart(nil)
	extCtx, stopExtensions := context.WithCancel(r.patient)
	var beside, extensions sync.WaitGroup
	for _, x := range r.e.extensions {
		extensions.Go(func() { r.e.runExtension(extCtx, x) })
	}
	beside.Go(func() { r.stepper.run(r.work, r.frontier) })
	r.stopEarly(ctx)
	r.workers.Go(func() { r.start(startCtx, resume) })
	r.loop(ctx)
	close(r.over)
	close(r.stepper.requests)
	if !r.left {
		r.workers.Wait()
	}
	beside.Wait()
	stopExtensions()
	extensions.Wait()
	return r.err
}

// stopEarly stops the crawl before it begins, if that was asked for.
func (r *run) stopEarly(ctx context.Context) {
	if ctx.Err() != nil {
		r.e.closeSpider("shutdown")
	}
	select {
	case <-r.e.closing:
		r.stop()
	default:
	}
}

// close ends the crawl in Scrapy's order and reports.
func (e *Engine) close(ctx context.Context, r *run, err error) (Result, error) {
	ctx = context.WithoutCancel(ctx)
	e.announceClose()
	reason := e.finishReason()
	if reason == "finished" && e.noResponse() {
		reason = scheduler.NoResponse
	}
	r.cut(crawl.ErrStopped)
	if c, ok := e.env.Spider.(crawl.Closer); ok {
		cerr := crawl.Guard(func() error { return c.Close(ctx, reason) })
		e.report(cerr, "Error closing the spider")
	}
	ferr := errors.Join(r.lastNotes(ctx), crawl.Guard(func() error { return r.frontier.Close(ctx, reason) }))
	if errors.Is(ferr, syscall.EPIPE) { // the last bytes
		ferr = nil
		if reason == "finished" {
			reason = "closed_pipe"
		}
	}
	if errors.Is(err, syscall.EPIPE) {
		err = nil
	}
	clean := err == nil && ferr == nil
	ferr = errors.Join(ferr, e.feeds.Close(clean))
	if err == nil {
		err = ferr
	}
	e.signalErr("SpiderClosed", crawl.Send(ctx, e.env.Signals, crawl.SpiderClosed{Spider: e.env.Spider, Reason: reason}))
	e.totals.show()
	e.dumpStats()
	e.collectStats(ctx, reason)
	if reason == scheduler.NoResponse {
		e.log.Warn().Msgf("None of %d requests led to a response; robots.txt forbade %d", e.unanswered.Load(), e.env.Stats.Count("robotstxt/forbidden"))
	}
	if e.cfg.JobDir != "" && clean && reason != "finished" {
		e.log.Info().Msgf("The job is kept in %s: the same command goes on with it", e.cfg.JobDir)
	}
	e.log.Info().Msgf("Spider closed (%s)", reason)
	e.signalErr("EngineStopped", crawl.Send(ctx, e.env.Signals, crawl.EngineStopped{}))
	return Result{Reason: reason, NoResponse: e.noResponse()}, err
}

// noResponse reports whether every request was in vain, from the start requests
// on.
func (e *Engine) noResponse() bool { return e.answered.Load() == 0 && e.unanswered.Load() > 0 }

// Stats returns the figures of the crawl as they are now.
func (e *Engine) Stats() map[string]any { return e.env.Stats.Snapshot() }

// Queued returns how many requests wait in the frontier, as of the last step. It
// is safe for concurrent use.
func (e *Engine) Queued() int64 { return e.queued.Load() }
