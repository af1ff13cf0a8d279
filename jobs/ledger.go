package jobs

import (
	"cmp"
	"slices"
)

// ledger knows which records there are, where they lie, and which of them are
// still needed.
type ledger struct {
	segs []*segment      // in order
	open map[Addr][]Addr // provisional records by owner, until they are adopted
}

// segment returns the segment that an address belongs to, nil if there is none.
func (l *ledger) segment(a Addr) *segment {
	i, _ := slices.BinarySearchFunc(l.segs, a.Segment(), func(s *segment, id uint32) int { return cmp.Compare(s.last, id) })
	if i == len(l.segs) || l.segs[i].first > a.Segment() {
		return nil
	}
	return l.segs[i]
}

// find returns where a record is.
func (l *ledger) find(a Addr) (seg *segment, place int, ok bool) {
	if seg = l.segment(a); seg == nil {
		return nil, 0, false
	}
	place, ok = seg.place(a)
	return seg, place, ok
}

// kill notes that a record is not needed any more.
func (l *ledger) kill(a Addr) {
	if seg, place, ok := l.find(a); ok {
		seg.kill(place)
	}
}

// take notes what an operation does to records that were there before it, or
// came with it.
func (l *ledger) take(kind Kind, a, owner Addr) {
	switch kind {
	case OpProvisional:
		if l.open == nil {
			l.open = map[Addr][]Addr{}
		}
		l.open[owner] = append(l.open[owner], a)
	case OpAdopt:
		delete(l.open, owner)
	case OpAck:
		l.kill(a)
	case OpRelease:
		l.void(a)
	}
}

// void drops the provisional records of an owner.
func (l *ledger) void(owner Addr) {
	for _, a := range l.open[owner] {
		l.kill(a)
	}
	delete(l.open, owner)
}

// voidAll drops all provisional records: none outlives its run.
func (l *ledger) voidAll() {
	for owner := range l.open {
		l.void(owner)
	}
}

// provisional reports whether a record waits for its adoption.
func (l *ledger) provisional(a Addr) bool {
	for _, list := range l.open {
		if slices.Contains(list, a) {
			return true
		}
	}
	return false
}

// owners returns the owners of provisional records in order.
func (l *ledger) owners() []Addr {
	owners := make([]Addr, 0, len(l.open))
	for owner := range l.open {
		owners = append(owners, owner)
	}
	slices.Sort(owners)
	return owners
}

func (l *ledger) close() (err error) {
	for _, seg := range l.segs {
		err = cmp.Or(err, seg.file.Close())
	}
	l.segs = nil
	return err
}
