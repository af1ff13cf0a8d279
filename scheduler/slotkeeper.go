package scheduler

import "time"

// A SlotKeeper is a [Frontier] that keeps to itself what [Slots] answered. Its
// methods are safe for concurrent use.
type SlotKeeper interface {
	// RefreshSlots asks anew about slots that somebody else has changed: they may be
	// ready earlier or later than the frontier believes.
	RefreshSlots(names ...string)

	// QueuedBySlot returns how many pending requests each slot has, those that wait
	// for their time included.
	QueuedBySlot() map[string]int
}

var (
	_ SlotKeeper = (*Local)(nil)
	_ SlotKeeper = (*adapted)(nil)
)

// RefreshSlots implements [SlotKeeper].
func (f *Local) RefreshSlots(names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	for _, name := range names {
		f.refreshName(name, now)
	}
	f.poke()
}

// QueuedBySlot implements [SlotKeeper].
func (f *Local) QueuedBySlot() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := make(map[string]int, len(f.bySlot))
	for name, s := range f.bySlot {
		if n := s.queued(); n > 0 {
			m[name] = n
		}
	}
	for i := range f.delayed {
		m[f.delayed[i].v.ref.Slot]++
	}
	for i := range f.suspects {
		m[f.suspects[i].Slot]++
	}
	return m
}

// RefreshSlots implements [SlotKeeper]. Slots are asked at each step; only those who
// wait in Acquire are not.
func (f *adapted) RefreshSlots(names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	for _, name := range names {
		f.serve(name, now)
	}
	f.poke()
}

// QueuedBySlot implements [SlotKeeper]. What the scheduler holds is not known.
func (f *adapted) QueuedBySlot() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := make(map[string]int, len(f.parked)+len(f.delayed))
	for _, t := range f.parked {
		m[t.slot]++
	}
	for i := range f.delayed {
		m[f.delayed[i].v.slot]++
	}
	return m
}
