package scheduler

import (
	"slices"
	"strings"
	"time"

	"github.com/skeincrawl/skein/internal/cookie"
	"github.com/skeincrawl/skein/jobs"
)

// metaNote goes before the key of a note in the meta records of the job.
const metaNote = "note."

// commitNotes writes what components keep, if there is a job.
func (f *Local) commitNotes(o *Outcome) error {
	if !f.durable {
		return nil
	}
	tx := f.job.Begin()
	for _, n := range o.Notes {
		f.note(n.Key, n.Value)
		tx.Set(metaNote+n.Key, n.Value)
	}
	return tx.Commit()
}

func (f *Local) note(key string, value []byte) {
	if f.notes == nil {
		f.notes = map[string][]byte{}
	}
	f.notes[key] = slices.Clone(value)
}

// replayNote takes a meta record if it is a note.
func (f *Local) replayNote(op jobs.Op) {
	if key, ok := strings.CutPrefix(string(op.Key), metaNote); ok {
		f.note(key, op.Value)
	}
}

// restoreSlots lets the slots go on with what they knew. It comes before
// anything is queued: who queues asks the slots.
func (f *Local) restoreSlots(now time.Time) {
	r, ok := f.slots.(SlotRestorer)
	if !ok || len(f.notes) == 0 {
		return
	}
	if err := r.Restore(f.notes, now); err != nil {
		f.report.log.Warn().Err(err).Msg("What was learned about the slots is lost")
	}
}

// foldCookiesAt is how many bytes of changes there are before they are folded
// for the first time.
const foldCookiesAt = 1 << 20

// cookieLog collects the changes of cookies. It is folded each time that it has
// doubled: a job of many logins has far more changes than cookies.
type cookieLog struct {
	log   []byte
	limit int
}

func (c *cookieLog) add(changes []byte, now time.Time) {
	c.log = append(c.log, changes...)
	if len(c.log) > max(c.limit, foldCookiesAt) {
		c.fold(now)
	}
}

// fold returns the shortest log with the same effect, and goes on with it.
func (c *cookieLog) fold(now time.Time) []byte {
	c.log = cookie.Fold(c.log, now)
	c.limit = 2 * len(c.log)
	return c.log
}
