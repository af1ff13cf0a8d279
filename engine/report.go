package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/extensions"
	"github.com/skeincrawl/skein/scheduler"
)

// download is what the innermost fetcher notes of one fetch.
type download struct{ hint scheduler.SlotHint }

type downloadKey struct{}

// transfer is the innermost fetcher: it tells those who listen when a request
// enters and leaves the wire, and notes what the response says about its slot
// before a middleware may replace it.
func (e *Engine) transfer(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	e.signalErr("RequestReachedDownloader", crawl.Send(ctx, e.env.Signals, crawl.RequestReachedDownloader{Request: r}))
	resp, err := e.router.Fetch(ctx, r)
	if resp != nil {
		if d, ok := ctx.Value(downloadKey{}).(*download); ok {
			d.hint.Latency, d.hint.Status, d.hint.Size = resp.Latency, resp.Status, len(resp.Body)
			d.hint.NoThrottle = r.Options.NoThrottle
			d.hint.BackOff, _ = downloader.BackOff(resp)
		}
		e.signalErr("ResponseDownloaded", crawl.Send(ctx, e.env.Signals, crawl.ResponseDownloaded{Response: resp, Request: r}))
	}
	e.signalErr("RequestLeftDownloader", crawl.Send(ctx, e.env.Signals, crawl.RequestLeftDownloader{Request: r}))
	return resp, err
}

// closeHandlers ends the download handlers when nothing is downloaded any more.
func (e *Engine) closeHandlers() {
	if err := crawl.Guard(e.router.Close); err != nil {
		e.log.Error().Err(err).Msg("Downloader close failure")
	}
}

// fetch sends a request that goes through a slot through the downloader middlewares.
func (e *Engine) fetch(ctx context.Context, slot string, r *crawl.Request) (resp *crawl.Response, hint scheduler.SlotHint, err error) {
	var d download
	ctx = downloader.WithPacer(context.WithValue(ctx, downloadKey{}, &d), pacer{e, slot})
	perr := crawl.Guard(func() error {
		resp, err = e.chain.Fetch(ctx, r)
		return nil
	})
	if perr != nil {
		return nil, d.hint, perr
	}
	return resp, d.hint, err
}

// received reports a response that passed the middlewares.
func (e *Engine) received(ctx context.Context, resp *crawl.Response, r *crawl.Request) {
	resp.Request = r
	e.log.Debug().Func(func(ev *zerolog.Event) {
		ev.Msgf("Crawled (%d) %v (referer: %s)%s", resp.Status, r, referer(r), flags(resp))
	})
	e.signalErr("ResponseReceived", crawl.Send(ctx, e.env.Signals, crawl.ResponseReceived{Response: resp, Request: r}))
}

func referer(r *crawl.Request) string {
	if v := r.Header.Get("Referer"); v != "" {
		return v
	}
	return "None"
}

func flags(resp *crawl.Response) string {
	if len(resp.Flags) == 0 {
		return ""
	}
	return " ['" + strings.Join(resp.Flags, "', '") + "']"
}

// scraped reports the items of a step that is about to be committed.
func (e *Engine) scraped(ctx context.Context, s *step) {
	for _, item := range s.items {
		e.log.Debug().Func(func(ev *zerolog.Event) {
			from := "the start"
			if s.resp != nil {
				from = s.resp.String()
			}
			ev.Msgf("Scraped from %s\n%s", from, show(item))
		})
		e.signalErr("ItemScraped", crawl.Send(ctx, e.env.Signals, crawl.ItemScraped{Item: item, Response: s.resp}))
	}
	s.items = nil
}

// show is an item as the log shows it: as it would be in a feed, if it can be.
func show(item any) string {
	var b []byte
	err := crawl.Guard(func() (err error) {
		b, err = json.Marshal(item)
		return err
	})
	if err != nil {
		return fmt.Sprintf("%+v", item)
	}
	return string(b)
}

// itemFailed reports an item that could not be exported, or does not want to be.
func (e *Engine) itemFailed(ctx context.Context, item any, resp *crawl.Response, err error) {
	if drop := new(crawl.DropError); errors.As(err, &drop) {
		e.log.Warn().Msgf("Dropped: %s\n%+v", drop.Reason, item)
		e.signalErr("ItemDropped", crawl.Send(ctx, e.env.Signals, crawl.ItemDropped{Item: item, Response: resp, Err: err}))
		return
	}
	e.log.Error().Err(err).Msgf("Error processing %s", show(item))
	e.signalErr("ItemError", crawl.Send(ctx, e.env.Signals, crawl.ItemError{Item: item, Response: resp, Err: err}))
}

// failed reports the error of a callback, an errback or a download that nobody
// handled.
func (e *Engine) failed(ctx context.Context, err error, r *crawl.Request, resp *crawl.Response) {
	if f := new(crawl.Failure); errors.As(err, &f) && f.Request == r {
		if f.Kind != crawl.FailIgnored {
			e.log.Error().Err(f.Err).Msgf("Error downloading %v", r)
		}
		return
	}
	msg := "Spider error"
	if r != nil {
		msg = fmt.Sprintf("Spider error processing %v (referer: %s)", r, referer(r))
	}
	if p := new(crawl.PanicError); errors.As(err, &p) {
		msg += "\n" + string(p.Stack)
	}
	e.log.Error().Err(err).Msg(msg)
	e.countSpiderError(ctx, err, resp)
}

func (e *Engine) countSpiderError(ctx context.Context, err error, resp *crawl.Response) {
	e.env.Stats.Inc("spider_exceptions/count")
	e.env.Stats.Inc("spider_exceptions/" + errorName(err))
	e.signalErr("SpiderError", crawl.Send(ctx, e.env.Signals, crawl.SpiderError{Err: err, Response: resp}))
}

// errorName is the name of an error's type, for the stats.
func errorName(err error) string {
	name := fmt.Sprintf("%T", err)
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[i+1:]
	}
	return strings.TrimPrefix(name, "*")
}

// startFailed reports how Start ended, and whether it did so by itself. One that
// returned without an error after the stop may have been cut short: it is called
// again.
func (e *Engine) startFailed(ctx context.Context, err error) (ended bool) {
	stop := new(crawl.CloseError)
	switch {
	case ctx.Err() != nil:
		return false
	case err == nil:
		return true
	case errors.As(err, &stop):
		e.closeSpider(stop.Reason)
		return false
	case errors.As(err, new(*fingerprintError)): // the start entry reported it
		return false
	}
	e.log.Error().Err(err).Msg("Error while reading start items and requests")
	e.reasonMu.Lock()
	e.startErr = true
	e.reasonMu.Unlock()
	e.countSpiderError(ctx, err, nil)
	return false
}

// dropped reports a request that the scheduler refused.
func (e *Engine) dropped(ctx context.Context, r *crawl.Request) {
	e.signalErr("RequestDropped", crawl.Send(ctx, e.env.Signals, crawl.RequestDropped{Request: r}))
}

func (e *Engine) schedulerEmpty(ctx context.Context) {
	e.signalErr("SchedulerEmpty", crawl.Send(ctx, e.env.Signals, crawl.SchedulerEmpty{}))
}

// signalErr logs the error of a handler, and closes the spider if it asks to.
func (e *Engine) signalErr(event string, err error) {
	if err == nil {
		return
	}
	if stop := new(crawl.CloseError); errors.As(err, &stop) {
		e.closeSpider(stop.Reason)
		return
	}
	e.report(err, "Error caught on signal handler of "+event)
}

func (e *Engine) report(err error, msg string) {
	if err != nil {
		e.log.Error().Err(err).Msg(msg)
	}
}

// runExtension runs the part of an extension that works beside the crawl.
func (e *Engine) runExtension(ctx context.Context, x extension) {
	err := crawl.Guard(func() error { return x.Run(ctx) })
	if err != nil && ctx.Err() == nil {
		e.report(err, "Error in extension "+x.name)
	}
}

// announceStart logs what is about to begin, before the job is opened.
func (e *Engine) announceStart() {
	job := "without a job directory"
	if e.cfg.JobDir != "" {
		job = "with the job in " + e.cfg.JobDir
	}
	e.log.Info().Msgf("Starting spider %s (bot: %s) %s", e.env.Spec.Name, e.cfg.BotName, job)
	if _, ok := e.env.Spider.(crawl.Starter); !ok && len(e.env.Spec.StartURLs) == 0 {
		e.log.Warn().Msgf("Spider %s has neither start URLs nor a Start method", e.env.Spec.Name)
	}
}

// announceComponents logs what the crawl is made of.
func (e *Engine) announceComponents() {
	for _, line := range e.enabled {
		e.log.Info().Msg(line)
	}
}

// announceResume tells that a stopped job goes on.
func (e *Engine) announceResume(resume scheduler.Resume) {
	if !resume.Resumed {
		return
	}
	log := e.env.Logger("scheduler")
	log.Info().Msgf("Resuming crawl (%d requests scheduled)", resume.Pending)
	switch {
	case e.state == nil:
		e.log.Info().Msg("The spider has no state to go on with: its fields are as new (see crawl.Stater)")
	case resume.State == nil:
		e.log.Info().Msg("The job has no state of the spider: it begins with a new one")
	}
}

// announceClose logs the end, once.
func (e *Engine) announceClose() {
	e.announced.Do(func() { e.log.Info().Msgf("Closing spider (%s)", e.finishReason()) })
}

// describe is the line for the components of one kind.
func describe(kind string, list iter.Seq[string]) string {
	return fmt.Sprintf("Enabled %s: %s", kind, strings.Join(slices.Collect(list), ", "))
}

func (e *Engine) dumpStats() {
	if !e.cfg.StatsDump {
		return
	}
	log := e.env.Logger("stats")
	log.Info().Msg("Dumping Skein stats:\n" + extensions.FormatStats(e.env.Stats.Snapshot()))
}

// collectStats hands the stats to the collector.
func (e *Engine) collectStats(ctx context.Context, reason string) {
	if e.collector == nil {
		return
	}
	err := crawl.Guard(func() error { return e.collector.Collect(ctx, reason, e.env.Stats.Snapshot()) })
	e.report(err, "Error in the stats collector "+e.cfg.StatsClass)
}
