package scheduler

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/internal/cookie"
	"github.com/skeincrawl/skein/jobs"
)

// metaNote goes before the key of a note in the meta records of the job.
const metaNote = "note."

// remembered is what a job keeps beside its requests, as of the last step.
type remembered struct {
	state   []byte // of the spider
	cookies cookieLog
	notes   map[string][]byte
	emitted emissions
}

// write adds to a step what it changes of this.
func (m *remembered) write(tx *jobs.Tx, o *Outcome, now time.Time) {
	if o.State != nil {
		tx.Set(metaState, o.State)
		m.state = append(m.state[:0], o.State...)
	}
	if o.Cookies != nil {
		tx.Set(metaCookies, o.Cookies)
		m.cookies.add(o.Cookies, now)
	}
	for _, n := range o.Notes {
		tx.Set(metaNote+n.Key, n.Value)
		m.note(n.Key, n.Value)
	}
}

func (m *remembered) note(key string, value []byte) {
	if m.notes == nil {
		m.notes = map[string][]byte{}
	}
	m.notes[key] = slices.Clone(value)
}

// replay takes a meta record if it is of this, and reports whether it is.
func (m *remembered) replay(op jobs.Op, now time.Time) bool {
	switch string(op.Key) {
	case metaState:
		m.state = slices.Clone(op.Value)
		return true
	case metaCookies:
		m.cookies.add(op.Value, now)
		return true
	}
	key, ok := strings.CutPrefix(string(op.Key), metaNote)
	if ok {
		m.note(key, op.Value)
	}
	return ok
}

// tell fills in what a run begins with.
func (m *remembered) tell(r *Resume, now time.Time) {
	r.State = slices.Clone(m.state)
	r.Cookies, r.Notes = slices.Clone(m.cookies.fold(now)), maps.Clone(m.notes)
}

// snapshot keeps all of it.
func (m *remembered) snapshot(s *jobs.Snapshot) {
	if m.state != nil {
		s.Set(metaState, m.state)
	}
	if log := m.cookies.fold(time.Now()); len(log) > 0 {
		s.Set(metaCookies, log)
	}
	for key, value := range m.notes {
		s.Set(metaNote+key, value)
	}
	m.emitted.snapshot(s)
}

// restoreSlots lets the slots go on with what they knew. It comes before
// anything is queued: who queues asks the slots.
func (m *remembered) restoreSlots(slots Slots, log *zerolog.Logger, now time.Time) {
	r, ok := slots.(SlotRestorer)
	if !ok || len(m.notes) == 0 {
		return
	}
	if err := r.Restore(m.notes, now); err != nil {
		log.Warn().Err(err).Msg("What was learned about the slots is lost")
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
