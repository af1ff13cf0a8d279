package feeds

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
)

// Options are what a [Set] needs.
type Options struct {
	// Targets are the feeds that the command line names.
	Targets []Target

	// Configured are those of the settings (see [FromSettings]). One that goes to
	// the same place as a target is left out.
	Configured []Target

	// Form is that of the targets without one of their own.
	Form Form

	// Spider is the name that stands for %(name)s in the name of a feed.
	Spider string

	// Stdout is the stream behind "stdout:".
	Stdout io.Writer

	// Job tells that the feeds belong to a job directory. A feed with Overwrite
	// is then emptied by the job when a round starts, since a resumed run goes on
	// with it; without a job it replaces the old file at a clean end.
	Job bool

	Log   zerolog.Logger
	Stats *crawl.Stats
}

// A Set is the feeds of one crawl. Its methods are safe for concurrent use.
type Set struct {
	feeds []*feed
	log   zerolog.Logger
	stats *crawl.Stats
}

// feed is one feed in use.
type feed struct {
	Target
	name      string // by which a job knows it
	storage   string // Scrapy's name, for the statistics
	exporter  Exporter
	form      Form
	sink      jobs.Sink
	overwrite bool // by the job
	begun     bool // it holds items of an earlier run
	dropped   sync.Once
	items     atomic.Int64
}

// New checks the targets and returns their feeds, without making or changing a
// file. Everything that is wrong is reported at once, as [TargetError]s: what
// [Check] finds, and targets that lead to the same file.
func New(o Options) (*Set, error) {
	s := &Set{log: o.Log, stats: o.Stats}
	now := time.Now()
	errs := s.add(o, now, o.Targets, nil)
	errs = append(errs, s.add(o, now, o.Configured, slices.Clone(s.feeds))...)
	return s, errors.Join(errs...)
}

// add makes the feeds of targets, but for those that go where an earlier feed of
// more weight goes.
func (s *Set) add(o Options, now time.Time, targets []Target, weightier []*feed) (errs []error) {
	for _, t := range targets {
		t = t.expand(o.Spider, now)
		if slices.ContainsFunc(weightier, t.samePlace) {
			continue
		}
		f, err := s.newFeed(t, o)
		if i := slices.IndexFunc(s.feeds, t.samePlace); i >= 0 && err == nil {
			err = &TargetError{Target: t.URI, Err: fmt.Errorf("it goes to the same place as feed %q", s.feeds[i].URI)}
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.feeds = append(s.feeds, f)
	}
	return errs
}

func (s *Set) newFeed(t Target, o Options) (*feed, error) {
	construct, err := Exporters.Lookup(t.Format)
	if err != nil {
		return nil, &TargetError{Target: t.URI, Err: err}
	}
	if err := check(t, t.Overwrite && !o.Job); err != nil {
		return nil, err
	}
	f := &feed{Target: t, name: t.place(), storage: "StdoutFeedStorage", form: o.Form}
	if t.Form != nil {
		f.form = *t.Form
	}
	dropped := func(fields []string) { s.fieldsDropped(f, fields) }
	f.exporter, err = construct(ExporterOptions{Fields: f.form.Fields, Indent: f.form.Indent, Dropped: dropped})
	if err != nil {
		return nil, &TargetError{Target: t.URI, Err: err}
	}
	if t.Path == "" {
		f.sink = NewStdout(o.Stdout)
		if t.Overwrite {
			o.Log.Warn().Msg("Standard output can not be overwritten: -O is taken as -o")
		}
		return f, nil
	}
	f.storage = "FileFeedStorage"
	return f, f.openFile(o.Job)
}

func (f *feed) openFile(job bool) error {
	replace := f.Overwrite && replaceable(f.name)
	if replace && !job {
		o := NewOverwriter(f.name)
		o.skipEmpty = f.form.SkipEmpty
		f.sink = o
		return nil
	}
	file := NewFile(f.name)
	file.skipEmpty = f.form.SkipEmpty
	f.sink, f.overwrite = file, replace
	if job {
		return nil // it knows more of the file
	}
	return f.checkContent()
}

// fieldsDropped warns once a feed, in Scrapy's words, and counts all.
func (s *Set) fieldsDropped(f *feed, fields []string) {
	s.stats.Add("feedexport/dropped_field_count", int64(len(fields)))
	f.dropped.Do(func() {
		s.log.Warn().Msgf("CSVExporter dropped fields %s: the columns of feed %s were fixed before an item had them; name all fields in FEED_EXPORT_FIELDS",
			strings.Join(fields, ", "), f.URI)
	})
}

// replaceable reports whether a file is at a path, or nothing: a device or pipe
// is only written to.
func replaceable(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular()
}

// Len returns the number of feeds.
func (s *Set) Len() int { return len(s.feeds) }

// Jobs returns the feeds as a job takes them, in the order of the targets.
func (s *Set) Jobs() []jobs.Feed {
	list := make([]jobs.Feed, len(s.feeds))
	for i, f := range s.feeds {
		list[i] = jobs.Feed{Name: f.name, Sink: f.sink, Format: f.format(), Overwrite: f.overwrite}
	}
	return list
}

// Render appends the item to dst[i] for each feed i, behind a separator if there
// is an item already, and returns dst; a dst that is too short is extended. If a
// feed can not hold the item nothing is appended to any. It comes after
// [Set.Begin].
func (s *Set) Render(item any, dst [][]byte) ([][]byte, error) {
	for len(dst) < len(s.feeds) {
		dst = append(dst, nil)
	}
	var few [4]int
	before := few[:0]
	for i, f := range s.feeds {
		before = append(before, len(dst[i]))
		line, err := f.appendItem(dst[i], item)
		if err != nil {
			for j, n := range before {
				dst[j] = dst[j][:n]
			}
			return dst, fmt.Errorf("feed %s: %w", f.URI, err)
		}
		dst[i] = line
	}
	return dst, nil
}

func (f *feed) appendItem(dst []byte, item any) ([]byte, error) {
	framer, ok := f.exporter.(Framer)
	if ok && len(dst) > 0 {
		dst = append(dst, framer.Separator()...)
	}
	return f.exporter.AppendItem(dst, item)
}

// Add counts items that were committed to a feed.
func (s *Set) Add(feed, items int) { s.feeds[feed].items.Add(int64(items)) }

// Items returns the number of items that this run has committed to a feed.
func (s *Set) Items(feed int) int64 { return s.feeds[feed].items.Load() }
