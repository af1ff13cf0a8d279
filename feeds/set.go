package feeds

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
)

// Options are what a [Set] needs.
type Options struct {
	// Targets are the feeds, none for a crawl whose items go nowhere.
	Targets []Target

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
	sink      jobs.Sink
	overwrite bool // by the job
	items     atomic.Int64
}

// New checks the targets and returns their feeds, without making or changing a
// file. Everything that is wrong is reported at once, as [TargetError]s: what
// [Check] finds, and targets that lead to the same file.
func New(o Options) (*Set, error) {
	s := &Set{log: o.Log, stats: o.Stats}
	var errs []error
	for _, t := range o.Targets {
		f, err := newFeed(t, o)
		if err == nil {
			err = s.refuseTwice(f)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.feeds = append(s.feeds, f)
	}
	return s, errors.Join(errs...)
}

func newFeed(t Target, o Options) (*feed, error) {
	construct, err := Exporters.Lookup(t.Format)
	if err != nil {
		return nil, &TargetError{Target: t.URI, Err: err}
	}
	if err := check(t, t.Overwrite && !o.Job); err != nil {
		return nil, err
	}
	f := &feed{Target: t, name: "stdout:", storage: "StdoutFeedStorage"}
	if f.exporter, err = construct(); err != nil {
		return nil, &TargetError{Target: t.URI, Err: err}
	}
	if t.Path == "" {
		f.sink = NewStdout(o.Stdout)
		if t.Overwrite {
			o.Log.Warn().Msg("Standard output can not be overwritten: -O is taken as -o")
		}
		return f, nil
	}
	f.name, f.storage = resolve(t.Path), "FileFeedStorage"
	replace := t.Overwrite && replaceable(f.name)
	if replace && !o.Job {
		f.sink = NewOverwriter(f.name)
		return f, nil
	}
	f.sink, f.overwrite = NewFile(f.name), replace
	return f, nil
}

// replaceable reports whether a file is at a path, or nothing: a device or pipe
// is only written to.
func replaceable(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular()
}

// refuseTwice finds an earlier feed that is the same file.
func (s *Set) refuseTwice(f *feed) error {
	info, _ := os.Stat(f.Path)
	for _, other := range s.feeds {
		same := f.name == other.name
		if was, err := os.Stat(other.Path); err == nil && info != nil && os.SameFile(info, was) {
			same = true
		}
		if same {
			return &TargetError{Target: f.URI, Err: fmt.Errorf("it goes to the same place as feed %q", other.URI)}
		}
	}
	return nil
}

// Len returns the number of feeds.
func (s *Set) Len() int { return len(s.feeds) }

// Jobs returns the feeds as a job takes them, in the order of the targets.
func (s *Set) Jobs() []jobs.Feed {
	list := make([]jobs.Feed, len(s.feeds))
	for i, f := range s.feeds {
		list[i] = jobs.Feed{Name: f.name, Sink: f.sink, Overwrite: f.overwrite}
	}
	return list
}

// Render appends the item to dst[i] for each feed i and returns dst; a dst that
// is too short is extended. If a feed can not hold the item nothing is
// appended to any.
func (s *Set) Render(item any, dst [][]byte) ([][]byte, error) {
	for len(dst) < len(s.feeds) {
		dst = append(dst, nil)
	}
	var few [4]int
	before := few[:0]
	for i, f := range s.feeds {
		before = append(before, len(dst[i]))
		line, err := f.exporter.AppendItem(dst[i], item)
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

// Add counts items that were committed to a feed.
func (s *Set) Add(feed, items int) { s.feeds[feed].items.Add(int64(items)) }

// Items returns the number of items that this run has committed to a feed.
func (s *Set) Items(feed int) int64 { return s.feeds[feed].items.Load() }
