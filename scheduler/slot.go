package scheduler

import "time"

// layers of the frontier: memory is emptied before disk, whatever the priority.
const (
	memory = iota
	disk
	layers
)

// slot is what the frontier knows of one downloader slot while it has requests,
// pending or leased, or someone waiting in it. Among 100,000 each pick sees one
// that is not in the cache, so all that a pick needs lies together in 256 bytes,
// and nothing is looked up by name.
type slot struct {
	name    string
	lots    [layers]*backlog // nil where nothing is queued
	waiters *line            // nil if nobody waits
	timer   int64            // for which it is in the timer heap, as Unix time in ns; 0 for none
	leased  int              // requests handed out whose step is not over
	own     backlog          // for the first of lots
}

// backlog is the requests of a slot in one layer, and their place among those of
// other slots.
type backlog struct {
	slot  *slot
	at    *block  // of the readySet; nil if it is not there
	key   sortKey // in the readySet
	stale bool    // it belongs further back there, or is not to be there
	queue slotQueue
}

func (s *slot) queued() (n int) {
	for _, b := range s.lots {
		if b != nil {
			n += b.queue.n
		}
	}
	return n
}

// idle reports whether there is nothing to know of the slot.
func (s *slot) idle() bool {
	return s.lots == [layers]*backlog{} && s.waiters == nil && s.leased == 0
}

// lot returns the requests of a layer, to add one.
func (s *slot) lot(layer int) *backlog {
	b := s.lots[layer]
	if b == nil {
		if b = &s.own; s.lots[1-layer] == b {
			b = new(backlog)
		}
		b.slot = s
		s.lots[layer] = b
	}
	return b
}

// wait puts a waiter at the end of the line.
func (s *slot) wait(w *waiter) {
	if s.waiters == nil {
		s.waiters = new(line)
	}
	*s.waiters = append(*s.waiters, w)
}

// serve grants the slot to those who wait for it, and returns when the next of
// them can be served, zero if that can not be told.
func (s *slot) serve(slots Slots, now time.Time) (next time.Time) {
	if s.waiters == nil {
		return next
	}
	if next = s.waiters.serve(slots, s.name, now); len(*s.waiters) == 0 {
		s.waiters = nil
	}
	return next
}
