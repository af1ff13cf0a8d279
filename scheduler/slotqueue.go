package scheduler

import (
	"fmt"
	"slices"
	"strconv"
)

// slotQueue holds the queued requests of one slot in one layer: a queue for each
// priority, and another for its start requests. It must not be copied.
type slotQueue struct {
	buckets []bucket // best first
	n       int
	one     [1]bucket // most often there is no other
	room    room      // for one of their queues; its ids are nil if it is free
}

type bucket struct {
	priority int
	start    bool
	q        Queue
}

// compareBuckets orders by priority, highest first, and within one priority puts
// the requests of callbacks before start requests (Scrapy 2.13.1).
func compareBuckets(a, b bucket) int {
	switch {
	case a.priority != b.priority:
		if a.priority > b.priority {
			return -1
		}
		return 1
	case a.start == b.start:
		return 0
	case b.start:
		return -1
	}
	return 1
}

// push adds a reference; newQueue makes the queue of a new bucket.
func (s *slotQueue) push(r Ref, newQueue queueMaker) error {
	b := bucket{priority: r.Priority, start: r.Start}
	i, found := slices.BinarySearchFunc(s.buckets, b, compareBuckets)
	if !found {
		if s.buckets == nil {
			s.buckets = s.one[:0]
		}
		b.q = newQueue(r.Start, s.freeRoom())
		s.buckets = slices.Insert(s.buckets, i, b)
	}
	if err := s.buckets[i].q.Push(r); err != nil {
		return fmt.Errorf("push to the queue of priority %d: %w", r.Priority, err)
	}
	s.n++
	return nil
}

// freeRoom returns memory for a queue.
func (s *slotQueue) freeRoom() *room {
	if s.room.ids == nil {
		return &s.room
	}
	return new(room)
}

// pop removes the best reference. The slot must not be empty.
func (s *slotQueue) pop() (Ref, error) {
	b := &s.buckets[0]
	r, ok, err := b.q.Pop()
	if err == nil && !ok {
		err = fmt.Errorf("it is empty, but says that it holds %d", b.q.Len())
	}
	if err != nil {
		return r, fmt.Errorf("pop from the queue of priority %d: %w", b.priority, err)
	}
	r.Priority, r.Start = b.priority, b.start
	s.n--
	if b.q.Len() == 0 {
		if s.holds(b.q) {
			s.room = room{}
		}
		s.buckets = slices.Delete(s.buckets, 0, 1)
	}
	return r, nil
}

// holds reports whether a queue lies in the room.
func (s *slotQueue) holds(q Queue) bool {
	switch q := q.(type) {
	case *lifo:
		return (*room)(q) == &s.room
	case *fifo:
		return (*room)(q) == &s.room
	}
	return false
}

// head returns what pop would, its ID only if the queue can tell.
func (s *slotQueue) head() Ref {
	b := &s.buckets[0]
	r := Ref{Priority: b.priority, Start: b.start}
	if p, ok := b.q.(Peeker); ok {
		if first, ok, err := p.Peek(); ok && err == nil {
			r.ID = first.ID
		}
	}
	return r
}

// keys lists the priorities that hold requests, those of start requests with an
// s, as active.json shows them.
func (s *slotQueue) keys() []string {
	var keys []string
	for _, b := range s.buckets {
		k := strconv.Itoa(b.priority)
		if b.start {
			k += "s"
		}
		keys = append(keys, k)
	}
	return keys
}
