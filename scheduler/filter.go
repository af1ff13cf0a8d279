package scheduler

import "github.com/skeincrawl/skein/crawl"

// A Filter is a duplicate filter: it remembers fingerprints. It lives in memory
// and keeps no file: under JOBDIR the journal marks again, before the first
// request of a run, what earlier runs had marked.
//
// Seen is called by one goroutine at a time and must not block. A Filter may be a
// [Haser] and a [Forgetter] too.
type Filter interface {
	// Seen marks a fingerprint, and reports whether it was marked before.
	Seen(fp Fingerprint) bool
}

// A Forgetter is a [Filter] that can take back a mark. When no request of a run
// got a response the next run starts as if Start had never run, and what it had
// emitted is forgotten; a filter that can not forget refuses the part of it that
// is not DontFilter.
type Forgetter interface {
	// Forget takes back the mark of the fingerprints that have this hash (see
	// [HashOf]): the job keeps no more of them.
	Forget(hash uint64)
}

// Filters is the registry behind DUPEFILTER_CLASS.
var Filters = crawl.NewRegistry[func(*crawl.Env) (Filter, error)]("duplicate filter").For("DUPEFILTER_CLASS") //nolint:gochecknoglobals // a registry.

func init() {
	Filters.Register("fingerprint", func(*crawl.Env) (Filter, error) { return new(setFilter), nil })
	Filters.Register(unfiltered, func(*crawl.Env) (Filter, error) { return noFilter{}, nil })
}

// setFilter is the filter of a [SeenSet] (Scrapy's RFPDupeFilter).
type setFilter struct{ set SeenSet }

var (
	_ Filter    = (*setFilter)(nil)
	_ Haser     = (*setFilter)(nil)
	_ Forgetter = (*setFilter)(nil)
)

func (f *setFilter) Seen(fp Fingerprint) bool { return !f.set.Add(fp) }

func (f *setFilter) Has(fp Fingerprint) bool { return f.set.Has(fp) }

func (f *setFilter) Forget(hash uint64) { f.set.Remove(unhash(hash)) }

// unfiltered is the name of the filter that lets everything pass.
const unfiltered = "none"

// noFilter lets everything pass (Scrapy's BaseDupeFilter).
type noFilter struct{}

func (noFilter) Seen(Fingerprint) bool { return false }

// seenFilter is a filter with what else it can do.
type seenFilter struct {
	Filter
	haser     Haser     // nil if it can not tell early
	forgetter Forgetter // nil if it can not forget
	keep      bool      // a job has to know what is marked
	fresh     []uint64  // what no snapshot covers, as [jobs.Snapshot.Seen] takes it
}

// newSeenFilter returns a filter. keep tells that there is a job.
func newSeenFilter(f Filter, keep bool) seenFilter {
	s := seenFilter{Filter: f}
	s.haser, _ = f.(Haser)
	s.forgetter, _ = f.(Forgetter)
	_, off := f.(noFilter)
	s.keep = keep && !off
	return s
}

// mark marks a fingerprint and reports whether it is new. A mark that the job does
// not know does not outlive the process.
func (s *seenFilter) mark(fp Fingerprint, known bool) bool {
	isNew := !s.Seen(fp)
	if isNew && known {
		s.note(fp)
	}
	return isNew
}

// note lets the next snapshot have a fingerprint that is marked.
func (s *seenFilter) note(fp Fingerprint) {
	if key := seenKey(fp); s.keep && key != 0 {
		s.fresh = append(s.fresh, key)
	}
}

// know marks the fingerprints whose first 8 bytes follow each other in keys.
func (s *seenFilter) know(keys []byte) {
	for ; len(keys) >= 8; keys = keys[8:] {
		var fp Fingerprint
		copy(fp[:], keys[:8])
		s.Seen(fp)
	}
}

// forget takes the mark of the fingerprints with a hash back.
func (s *seenFilter) forget(hash uint64) {
	if s.forgetter == nil {
		return
	}
	s.forgetter.Forget(hash)
	if s.keep && hash != 0 {
		s.fresh = append(s.fresh, 0, hash)
	}
}

func (s *seenFilter) has(fp Fingerprint) bool { return s.haser != nil && s.haser.Has(fp) }
