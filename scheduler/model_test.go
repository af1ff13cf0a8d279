package scheduler_test

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/skeincrawl/skein/scheduler"
)

// modelConfig is what the order of a run depends on.
type modelConfig struct {
	plain       bool // priority queue; else downloader-aware
	fifo        bool
	start       string // kind of the queues of start requests
	limit       int
	seenOff     bool
	durable     bool
	syncedSteps bool
}

// modelRequest is a request of the model.
type modelRequest struct {
	seq        int // its age: a request that comes back has its old one
	name, slot string
	tag        int // tells requests of one name apart
	priority   int
	start      bool
	disk       bool
	dontFilter bool
	marked     bool // counts as seen
	notBefore  time.Time
	deaths     int // crashes while spider code may have had it
}

// modelLease is a lease of the model.
type modelLease struct {
	id      scheduler.LeaseID
	r       modelRequest
	settled bool
	parts   []modelRequest
	ordinal uint64
}

// model is a frontier in the plainest form: slices and maps, and a scan for
// each decision.
type model struct {
	cfg      modelConfig
	pending  []modelRequest
	leases   []*modelLease
	seen     map[string]bool
	stored   map[string]bool // the part of seen that the job knows
	accepted map[uint64]int
	ended    bool // Start has
	last     string
	seq      int
}

func newModel() *model {
	return &model{seen: map[string]bool{}, stored: map[string]bool{}, accepted: map[uint64]int{}}
}

// recovered returns the model as a job has it after its end: leases are pending
// again, what was in memory is gone.
func (m *model) recovered() *model {
	c := newModel()
	c.seq, c.ended = m.seq, m.ended
	c.seen, c.stored, c.accepted = maps.Clone(m.stored), maps.Clone(m.stored), maps.Clone(m.accepted)
	c.pending = slices.Clone(m.pending)
	for _, l := range m.leases {
		c.pending = append(c.pending, l.r)
	}
	c.pending = slices.DeleteFunc(c.pending, func(r modelRequest) bool { return !r.disk })
	return c
}

func (m *model) active(slot string) (n int) {
	for _, l := range m.leases {
		if l.r.slot == slot && !l.settled {
			n++
		}
	}
	return n
}

// mark asks the filter, as for an accepted request.
func (m *model) mark(r *modelRequest) bool {
	if m.cfg.seenOff || r.dontFilter {
		return true
	}
	if m.seen[r.name] {
		return false
	}
	m.seen[r.name] = true
	return true
}

// push adds a request and reports whether it was accepted.
func (m *model) push(r modelRequest, emitted bool) bool {
	if !m.mark(&r) {
		return false
	}
	r.marked = !r.dontFilter || emitted
	if r.marked && !m.cfg.seenOff {
		m.seen[r.name] = true
		if r.disk {
			m.stored[r.name] = true
		}
	}
	m.add(r)
	return true
}

func (m *model) add(r modelRequest) {
	if r.seq == 0 {
		m.seq++
		r.seq = m.seq
	}
	m.pending = append(m.pending, r)
}

// age gives a part its place before it is pending.
func (m *model) age() int {
	m.seq++
	return m.seq
}

// finish ends a lease and returns the names of refused parts in memory.
func (m *model) finish(l *modelLease) (refused []string) {
	m.leases = slices.DeleteFunc(m.leases, func(o *modelLease) bool { return o == l })
	for _, p := range l.parts {
		if !m.mark(&p) {
			if !p.disk {
				refused = append(refused, p.name)
			}
			continue
		}
		p.marked = !p.dontFilter
		if p.disk && p.marked && !m.cfg.seenOff {
			m.stored[p.name] = true
		}
		m.add(p)
	}
	if !l.r.disk && l.r.marked && !m.cfg.seenOff {
		m.stored[l.r.name] = true
	}
	return refused
}

func (m *model) release(l *modelLease) {
	m.leases = slices.DeleteFunc(m.leases, func(o *modelLease) bool { return o == l })
	m.add(l.r)
}

// grant takes the request that must be granted next, if there is one.
func (m *model) grant(now time.Time) (modelRequest, bool) {
	for _, disk := range []bool{false, true} {
		best := -1
		for i, r := range m.pending {
			if r.disk != disk || r.notBefore.After(now) || m.active(r.slot) >= m.cfg.limit {
				continue
			}
			if best < 0 || m.before(r, m.pending[best]) {
				best = i
			}
		}
		if best >= 0 {
			r := m.pending[best]
			m.pending = slices.Delete(m.pending, best, best+1)
			m.last = r.slot
			return r, true
		}
	}
	return modelRequest{}, false
}

func (m *model) before(a, b modelRequest) bool {
	if !m.cfg.plain && a.slot != b.slot {
		if x, y := m.active(a.slot), m.active(b.slot); x != y {
			return x < y
		}
		if x, y := a.slot > m.last, b.slot > m.last; x != y {
			return x
		}
		return a.slot < b.slot
	}
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	x, y := a.start && m.cfg.start != "None", b.start && m.cfg.start != "None"
	if x != y {
		return y
	}
	fifo := m.cfg.fifo
	if x {
		fifo = m.cfg.start == "fifo"
	}
	if fifo {
		return a.seq < b.seq
	}
	return a.seq > b.seq
}

// same reports what differs between the model and a resumption, "" for nothing.
func (m *model) same(resume scheduler.Resume, names []string, has func(string) bool, hash func(string) uint64) string {
	start := scheduler.StartFresh
	total := 0
	for _, n := range m.accepted {
		total += n
	}
	switch {
	case m.ended:
		start, total = scheduler.StartDone, 0
	case total > 0:
		start = scheduler.StartPartial
	}
	switch {
	case resume.Pending != int64(len(m.pending)):
		return "pending"
	case resume.Start != start:
		return "start"
	case resume.Accepted.Len() != total:
		return "accepted"
	}
	for _, n := range names {
		if has(n) != m.seen[n] {
			return "seen " + n
		}
	}
	if !m.ended {
		for h, n := range m.accepted {
			for range n {
				if !resume.Accepted.Take(h) {
					return "accepted hash"
				}
			}
		}
	}
	return ""
}

// priorities are those that the model draws from.
func priorities() []int { return []int{0, 0, 0, 1, -1, 7, math.MinInt, math.MaxInt} }

// latest returns the time from which on all pending requests may start.
func (m *model) latest() time.Time {
	if len(m.pending) == 0 {
		return time.Time{}
	}
	return slices.MaxFunc(m.pending, func(a, b modelRequest) int { return cmp.Compare(a.notBefore.Unix(), b.notBefore.Unix()) }).notBefore
}
