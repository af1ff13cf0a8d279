package crawl

import (
	"errors"
	"fmt"
	"slices"
)

// A Note is a value that a component keeps in the job.
type Note struct {
	Key   string
	Value []byte
}

// keeper is a component that keeps a value.
type keeper struct {
	name string
	save func() []byte
}

// Keep lets a component keep a value in the job, under a name that no other
// uses; "stats" and "slots" are taken. It is called while components are built,
// and panics for a name that is there already.
//
// The engine calls save every 10 s in which a step was committed, and once
// before the job is closed, never twice at a time but beside the crawl: save is
// quick and safe for that. It returns the whole value, which is the job's from
// then on, or nil if nothing is new since the last call. A note is not part of a
// step: after a kill it may be up to 10 s older than the queue. Without JOBDIR
// save is never called.
func (e *Env) Keep(name string, save func() []byte) {
	if slices.ContainsFunc(e.keepers, func(k keeper) bool { return k.name == name }) {
		panic(fmt.Sprintf("crawl: two components keep a note %q", name))
	}
	e.keepers = append(e.keepers, keeper{name, save})
}

// Kept returns what was kept under a name in the runs before, the last value
// that was saved. It is known when the spider is opened; the caller leaves it as
// it is. Nil without JOBDIR, and if nothing was kept.
func (e *Env) Kept(name string) []byte { return e.kept[name] }

// Restore tells what the runs before kept. The engine calls it before the spider
// is opened.
func (e *Env) Restore(kept map[string][]byte) { e.kept = kept }

// Notes returns what the components want to be kept, those values that are new.
// The error is that of a component that panicked; the others' values are
// returned all the same. The engine calls it, from one goroutine at a time.
func (e *Env) Notes() ([]Note, error) {
	var notes []Note
	var errs []error
	for _, k := range e.keepers {
		var value []byte
		if err := Guard(func() error { value = k.save(); return nil }); err != nil {
			errs = append(errs, fmt.Errorf("note %s: %w", k.name, err))
		} else if value != nil {
			notes = append(notes, Note{k.name, value})
		}
	}
	return notes, errors.Join(errs...)
}
