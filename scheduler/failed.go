package scheduler

import (
	"encoding/json"
	"fmt"
	"time"

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
	return f.pushFailed(tx, l.ref, o.Failed, body, time.Now())
}

func (f *Local) pushFailed(tx *jobs.Tx, ref Ref, reason string, body []byte, at time.Time) error {
	if !json.Valid(body) {
		body, _ = json.Marshal(string(body)) // a string: can not fail
	}
	b, err := json.Marshal(Failed{Error: reason, Time: at.UTC().Truncate(time.Second), Request: body})
	if err != nil {
		return fmt.Errorf("keep a request that was given up: %w", err)
	}
	f.kept.failed++
	tx.Push(jobs.Record{Slot: ref.Slot, Priority: int64(ref.Priority), Flags: flagFailed | flagDontFilter, Body: b})
	return nil
}
