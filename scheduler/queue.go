package scheduler

import (
	"slices"

	"github.com/skeincrawl/skein/crawl"
)

// A Ref stands for a queued request. Its ID grows with time: a request that
// comes back after a lease has its old one.
type Ref struct {
	ID       uint64
	Slot     string
	Priority int
	Start    bool
}

// A Queue orders the requests of one slot and priority. It orders, it does not
// store: what it holds are references. It is used by one goroutine at a time,
// and its methods must not block.
type Queue interface {
	// Push adds a reference. One whose ID is lower than others in the queue came
	// back after a lease and belongs in its old place.
	Push(r Ref) error

	// Pop removes and returns the next one; ok is false for an empty queue.
	Pop() (r Ref, ok bool, err error)

	// Len returns how many there are.
	Len() int
}

// A Peeker is a [Queue] that can show what Pop would return.
type Peeker interface {
	Peek() (r Ref, ok bool, err error)
}

// Queues is the registry behind SCHEDULER_MEMORY_QUEUE, SCHEDULER_DISK_QUEUE and
// the two for start requests. Queues in memory and on disk are of one kind: a
// job's requests lie in its journal, whatever their order.
var Queues = crawl.NewRegistry[func() Queue]("scheduler queue").For( //nolint:gochecknoglobals // a registry.
	"SCHEDULER_MEMORY_QUEUE", "SCHEDULER_DISK_QUEUE", "SCHEDULER_START_MEMORY_QUEUE", "SCHEDULER_START_DISK_QUEUE",
)

func init() {
	Queues.Register("lifo", func() Queue { return new(lifo) })
	Queues.Register("fifo", func() Queue { return new(fifo) })
}

// sorted is a list of IDs in ascending order, cheap at both ends. Most lists are
// short, and lie with their head in one line of the cache. It must not be copied.
type sorted struct {
	ids  []uint64
	head int // of the first valid element
	few  [4]uint64
}

func (s *sorted) Len() int { return len(s.ids) - s.head }

func (s *sorted) insert(id uint64) {
	if s.ids == nil {
		s.ids = s.few[:0]
	}
	switch {
	case s.Len() == 0 || id > s.ids[len(s.ids)-1]:
		s.ids = append(s.ids, id)
	case s.head > 0 && id < s.ids[s.head]:
		s.head--
		s.ids[s.head] = id
	default:
		i, _ := slices.BinarySearch(s.ids[s.head:], id)
		s.ids = slices.Insert(s.ids, s.head+i, id)
	}
}

func (s *sorted) popFirst() uint64 {
	id := s.ids[s.head]
	s.head++
	if s.head == len(s.ids) {
		s.ids, s.head = s.ids[:0], 0
	} else if s.head > 64 && s.head*2 > len(s.ids) {
		s.ids = append(s.ids[:0], s.ids[s.head:]...)
		s.head = 0
	}
	return id
}

func (s *sorted) popLast() uint64 {
	id := s.ids[len(s.ids)-1]
	s.ids = s.ids[:len(s.ids)-1]
	if len(s.ids) == s.head {
		s.ids, s.head = s.ids[:0], 0
	}
	return id
}

// room is the memory of a lifo or fifo.
type room = struct{ sorted }

// queueMaker returns a new queue. A lifo or fifo lies in the room.
type queueMaker func(start bool, r *room) Queue

// lifo hands out the youngest request first: the crawl goes deep.
type lifo struct{ sorted }

var (
	_ Queue  = (*lifo)(nil)
	_ Peeker = (*lifo)(nil)
	_ Queue  = (*fifo)(nil)
	_ Peeker = (*fifo)(nil)
)

func (q *lifo) Push(r Ref) error { q.insert(r.ID); return nil }

func (q *lifo) Pop() (Ref, bool, error) {
	if q.Len() == 0 {
		return Ref{}, false, nil
	}
	return Ref{ID: q.popLast()}, true, nil
}

func (q *lifo) Peek() (Ref, bool, error) {
	if q.Len() == 0 {
		return Ref{}, false, nil
	}
	return Ref{ID: q.ids[len(q.ids)-1]}, true, nil
}

// fifo hands out the oldest request first: the crawl goes wide.
type fifo struct{ sorted }

func (q *fifo) Push(r Ref) error { q.insert(r.ID); return nil }

func (q *fifo) Pop() (Ref, bool, error) {
	if q.Len() == 0 {
		return Ref{}, false, nil
	}
	return Ref{ID: q.popFirst()}, true, nil
}

func (q *fifo) Peek() (Ref, bool, error) {
	if q.Len() == 0 {
		return Ref{}, false, nil
	}
	return Ref{ID: q.ids[q.head]}, true, nil
}
