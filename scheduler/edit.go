package scheduler

import (
	"fmt"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
)

// An Editor changes between two runs what a job holds for the default frontier.
// Each request is changed in a step of its own, so a call that was cut short can
// be repeated and does the rest. It is used by one goroutine. After an error the
// job can only be closed.
type Editor struct {
	*Contents

	// Warnings tell what was wrong with the job and is mended, a sentence each.
	Warnings []string

	job *jobs.Job
}

// NewEditor recovers a job that [jobs.Edit] has just opened. The caller closes
// it, with the zero [jobs.End].
func NewEditor(job *jobs.Job) (*Editor, error) {
	e := &Editor{job: job}
	var err error
	e.Contents, err = ReadContents(job.Identity(), func(visit func(jobs.Op) error) error {
		rec, err := job.Recover(nil, visit)
		e.Warnings = rec.Warnings
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Identity returns what the job was made with.
func (e *Editor) Identity() jobs.Identity { return e.job.Identity() }

// change is one step.
func (e *Editor) change(fill func(tx *jobs.Tx)) error {
	tx := e.job.Begin()
	fill(tx)
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("change the job: %w", err)
	}
	return nil
}

// remove goes through a list and returns what is left of it. After an error that
// is all from there on.
func remove(list []Queued, gone func(Queued) (bool, error)) ([]Queued, error) {
	kept := list[:0]
	for i, q := range list {
		done, err := gone(q)
		if err != nil {
			return append(kept, list[i:]...), err
		}
		if !done {
			kept = append(kept, q)
		}
	}
	return kept, nil
}

// readQueued reads a pending request, nil if it is none that can be read.
func (e *Editor) readQueued(q Queued) (*crawl.Stored, error) {
	body, err := e.job.Read(q.Addr, nil)
	if err != nil {
		return nil, fmt.Errorf("read a request: %w", err)
	}
	return readable(body), nil
}

// readFailed reads a request that was given up, nil if it is none that can be
// read, and its stored form.
func (e *Editor) readFailed(q Queued) (*crawl.Stored, []byte, error) {
	body, err := e.job.Read(q.Addr, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("read a request that was given up: %w", err)
	}
	f, err := ReadFailed(body)
	if err != nil {
		return nil, nil, err
	}
	return readable(f.Request), f.Request, nil
}

// readable is nil for what no program could decode.
func readable(body []byte) *crawl.Stored {
	r, err := crawl.ReadStored(body)
	if err != nil {
		return nil
	}
	return &r
}
