package engine

import (
	"context"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/scheduler"
)

// notesInterval bounds how old what the components keep is after a kill; what a
// server has asked for is younger than lessonInterval.
const (
	notesInterval  = 10 * time.Second
	lessonInterval = time.Second
)

// restore gives the components what the runs before kept.
func (e *Engine) restore(notes map[string][]byte, runs int) {
	e.env.Restore(notes)
	if err := e.totals.restore(e.env.Kept(totalsNote), runs); err != nil {
		e.report(err, "The stats of earlier runs are lost")
	}
}

// notes returns what the components want to keep by now.
func (e *Engine) notes() []crawl.Note {
	notes, err := e.env.Notes()
	e.report(err, "Error in what a component keeps in the job")
	return notes
}

// keeps reports whether there is a job that can take notes.
func (r *run) keeps() bool { return r.e.cfg.JobDir != "" && r.err == nil }

// note hands the notes to the frontier, if something was committed since the
// last time.
func (r *run) note() {
	if !r.unnoted || !r.keeps() {
		return
	}
	r.unnoted = false
	if notes := r.e.notes(); len(notes) > 0 {
		r.done = append(r.done, scheduler.Outcome{Kind: scheduler.Notes, Notes: notes})
	}
}

// lastNotes hands them over at the end, when nobody else calls Step any more.
func (r *run) lastNotes(ctx context.Context) error {
	if !r.keeps() {
		return nil
	}
	notes := r.e.notes()
	if len(notes) == 0 {
		return nil
	}
	_, err := r.frontier.Step(ctx, nil, []scheduler.Outcome{{Kind: scheduler.Notes, Notes: notes}}, 0)
	return err
}
