package scheduler

// pending is a request that the journal holds. There are many: it is small.
type pending struct {
	id    uint64
	place uint32 // index into places
	flags uint8
	gone  bool
}

// place is where requests wait.
type place struct {
	slot     string
	priority int
}

// places numbers the places that there are.
type places struct {
	list    []place
	slots   map[string]string // interns names
	numbers map[place]uint32
}

func (p *places) number(slot []byte, priority int) uint32 {
	if n := len(p.list) - 1; n >= 0 && p.list[n].slot == string(slot) && p.list[n].priority == priority {
		return uint32(n)
	}
	name, ok := p.slots[string(slot)]
	if !ok {
		name = string(slot)
		p.slots[name] = name
	}
	n, ok := p.numbers[place{name, priority}]
	if !ok {
		n = uint32(len(p.list))
		p.numbers[place{name, priority}] = n
		p.list = append(p.list, place{name, priority})
	}
	return n
}
