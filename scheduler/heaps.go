package scheduler

import "time"

// timeHeap is a heap of values by time, the earliest first.
type timeHeap[T any] []timed[T]

type timed[T any] struct {
	at time.Time
	v  T
}

func (h *timeHeap[T]) push(at time.Time, v T) {
	*h = append(*h, timed[T]{at, v})
	s := *h
	for i := len(s) - 1; i > 0; {
		parent := (i - 1) / 2
		if !s[i].at.Before(s[parent].at) {
			return
		}
		s[i], s[parent] = s[parent], s[i]
		i = parent
	}
}

// popDue removes and returns the earliest value if its time has come.
func (h *timeHeap[T]) popDue(now time.Time) (v T, ok bool) {
	if len(*h) == 0 || (*h)[0].at.After(now) {
		return v, false
	}
	return h.pop(), true
}

// pop removes and returns the earliest value. The heap must not be empty.
func (h *timeHeap[T]) pop() T {
	s := *h
	v := s[0].v
	last := len(s) - 1
	s[0] = s[last]
	s[last] = timed[T]{}
	*h = s[:last]
	h.sink()
	return v
}

func (h *timeHeap[T]) sink() {
	s := *h
	for i := 0; ; {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(s) && s[child].at.Before(s[least].at) {
				least = child
			}
		}
		if least == i {
			return
		}
		s[i], s[least] = s[least], s[i]
		i = least
	}
}

// next returns the time of the earliest value.
func (h timeHeap[T]) next() (time.Time, bool) {
	if len(h) == 0 {
		return time.Time{}, false
	}
	return h[0].at, true
}
