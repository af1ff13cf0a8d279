package scheduler

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
)

// Failed is a request that was given up after its retries. A job keeps it, so
// that it can be listed and put back into the queue.
type Failed struct {
	Error   string          `json:"error"`
	Time    time.Time       `json:"time"`
	Request json.RawMessage `json:"request"` // in its stored form
}

// keepFailed keeps a request that was given up, with the reason. One that could
// not be stored is not kept.
func (f *Local) keepFailed(tx *jobs.Tx, l *lease, o *Outcome) error {
	if o.Failed == "" || l.layer != disk {
		return nil
	}
	body, err := f.job.Read(jobs.Addr(l.ref.ID), nil)
	if err != nil {
		return fmt.Errorf("keep a request that was given up: %w", err)
	}
	a, err := f.pushFailed(tx, l.ref, o.Failed, body, time.Now())
	if stored, rerr := crawl.ReadStored(body); rerr == nil && stored.Trail.Start && !f.kept.emitted.answered {
		f.kept.vain = append(f.kept.vain, a)
	}
	return err
}

func (f *Local) pushFailed(tx *jobs.Tx, ref Ref, reason string, body []byte, at time.Time) (jobs.Addr, error) {
	if !json.Valid(body) {
		body, _ = json.Marshal(string(body)) // a string: can not fail
	}
	b, err := json.Marshal(Failed{Error: reason, Time: at.UTC().Truncate(time.Second), Request: body})
	if err != nil {
		return 0, fmt.Errorf("keep a request that was given up: %w", err)
	}
	f.kept.failed++
	return tx.Push(jobs.Record{Slot: ref.Slot, Priority: int64(ref.Priority), Flags: flagFailed | flagDontFilter, Body: b}), nil
}

// tellFailed tells how to go on with the requests that were given up.
func (f *Local) tellFailed() {
	if f.kept.failed == 0 {
		return
	}
	what := "1 request was"
	if f.kept.failed > 1 {
		what = fmt.Sprintf("%d requests were", f.kept.failed)
	}
	f.report.log.Info().Msgf("%s given up: `crawl job failed %s` lists them, `crawl job retry-failed %[2]s` puts them back", what, f.job.Dir())
}
