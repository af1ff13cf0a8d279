package scheduler

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/skeincrawl/skein/jobs"
)

// Contents is what a job holds for the default frontier, for who looks at a job
// or changes it between two runs.
type Contents struct {
	// Pending are the requests that are queued or delayed, in the order in which
	// they came. While a crawl goes on, those in progress are among them.
	Pending []Queued

	// Failed are the requests that were given up, in the order in which that
	// happened. Their bodies are for [ReadFailed].
	Failed []Queued

	// Start tells how far the spider's Start is.
	Start StartState

	// State is the spider's state, nil if it has none.
	State []byte

	// Notes are what components keep in the job.
	Notes map[string][]byte

	// Began is when the last run began, zero if there was none.
	Began time.Time

	seen *SeenSet
}

// Queued is a request that a job holds.
type Queued struct {
	Addr      jobs.Addr // for [jobs.View.Read] and [jobs.Tx.Ack]
	Slot      string
	Priority  int
	Start     bool      // it waits among the start requests
	NotBefore time.Time // zero for at once
}

// ReadContents reads what a job with an identity holds. from hands out the
// operations of the job: it is [jobs.View.Visit], or a call of [jobs.Job.Recover].
func ReadContents(id jobs.Identity, from func(visit func(jobs.Op) error) error) (*Contents, error) {
	set := new(setFilter)
	f := &Local{filter: newSeenFilter(set, false)}
	if id.Filter == unfiltered {
		f.filter = newSeenFilter(noFilter{}, false)
	}
	r := newRecovery(f)
	if err := from(r.visit); err != nil {
		return nil, err
	}
	r.sweep()
	c := &Contents{Start: r.resume.Start, State: f.kept.state, Notes: f.kept.notes, Began: r.began, seen: &set.set}
	for _, p := range r.pending {
		c.Pending = append(c.Pending, r.queued(p))
	}
	for _, p := range r.failed {
		c.Failed = append(c.Failed, r.queued(p))
	}
	slices.SortFunc(c.Failed, func(a, b Queued) int { return cmp.Compare(a.Addr, b.Addr) })
	return c, nil
}

func (r *recovery) queued(p pending) Queued {
	where := r.places.list[p.place]
	q := Queued{Addr: jobs.Addr(p.id), Slot: where.slot, Priority: where.priority, Start: p.flags&flagStart != 0}
	if ms := r.notBef[p.id]; ms != 0 {
		q.NotBefore = time.UnixMilli(ms)
	}
	return q
}

// Seen returns how many fingerprints the duplicate filter has.
func (c *Contents) Seen() int { return c.seen.Len() }

// Has reports whether the duplicate filter knows a fingerprint.
func (c *Contents) Has(fp Fingerprint) bool { return c.seen.Has(fp) }

// CheckFingerprints returns an error if the duplicate filter of a job tells
// requests apart in another way than this package.
func CheckFingerprints(id jobs.Identity) error {
	if id.Fingerprinter == FingerprinterName {
		return nil
	}
	return fmt.Errorf("the job has fingerprints of the kind %q; only those of the kind %q can be told from URLs", id.Fingerprinter, FingerprinterName)
}

// ReadFailed reads the body of a request that was given up.
func ReadFailed(body []byte) (Failed, error) {
	var f Failed
	if err := json.Unmarshal(body, &f); err != nil {
		return f, fmt.Errorf("read a request that was given up: %w", err)
	}
	return f, nil
}
