package scheduler_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/scheduler"
)

// play does one random thing.
func (w *world) play() {
	w.Helper()
	switch w.rng.IntN(13) {
	case 0, 1:
		w.step(nil, nil, w.rng.IntN(4))
	case 2:
		w.settle()
	case 3, 4:
		w.emit()
	case 5, 6, 7:
		if l := w.lease(); l != nil {
			w.commit(w.done(l, w.random(4)))
		}
	case 8:
		w.release()
	case 9:
		w.part()
	case 10:
		w.rest()
	case 11:
		w.enqueue()
	case 12:
		if len(w.outcome) > 0 {
			w.step(nil, []scheduler.Outcome{w.outcome[w.rng.IntN(len(w.outcome))]}, 0)
		}
	}
}

// rest does what happens seldom: time passes, the buffer is written, Start ends.
func (w *world) rest() {
	switch w.rng.IntN(4) {
	case 0:
		if w.m.cfg.durable {
			if err := w.job.Flush(); err != nil {
				w.Fatal(err)
			}
			w.flushed = len(w.steps) - 1
		}
	case 1:
		w.step(nil, []scheduler.Outcome{{Kind: scheduler.StartEnded}}, 0)
		w.m.ended = true
		w.snap()
	default:
		<-time.After(time.Duration(w.rng.IntN(30)) * time.Second)
		w.step(nil, nil, 0)
	}
}

func (w *world) lease() *modelLease {
	if len(w.m.leases) == 0 {
		return nil
	}
	return w.m.leases[w.rng.IntN(len(w.m.leases))]
}

// settle ends a download. A request that has died often is left alone: the
// fifth time it would be given up.
func (w *world) settle() {
	w.Helper()
	if l := w.lease(); l != nil && l.r.deaths < 3 {
		l.settled = true
		w.step([]scheduler.Progress{{Lease: l.id, Settled: true, Hint: scheduler.SlotHint{Latency: 1}}}, nil, w.rng.IntN(2))
	}
}

// pushed is a new request, in both forms.
type pushed struct {
	e scheduler.Entry
	r modelRequest
}

func (w *world) random(n int) (all []pushed) {
	w.Helper()
	for range w.rng.IntN(n + 1) {
		all = append(all, w.request())
	}
	return all
}

func (w *world) request() pushed {
	w.Helper()
	w.tags++
	prios := priorities()
	r := modelRequest{
		name: w.names[w.rng.IntN(len(w.names))], slot: "s" + strconv.Itoa(w.rng.IntN(4)), tag: w.tags,
		priority: prios[w.rng.IntN(len(prios))], start: w.rng.IntN(4) == 0, dontFilter: w.rng.IntN(3) == 0,
		disk: w.m.cfg.durable,
	}
	req := &crawl.Request{
		URL: "http://x/" + r.name, Method: strconv.Itoa(r.tag), Priority: r.priority, DontFilter: r.dontFilter,
		Trail: crawl.Trail{Start: r.start},
	}
	if w.rng.IntN(8) == 0 {
		r.notBefore = time.Unix(time.Now().Unix()+int64(w.rng.IntN(100))-10, 0)
		req.NotBefore = r.notBefore
	}
	e := scheduler.Entry{Request: req, Fingerprint: fingerprint(r.name), Slot: r.slot}
	if w.rng.IntN(10) == 0 {
		req.Callback = func(context.Context, *crawl.Response, crawl.Out) error { return nil }
	}
	if e.Body, e.Why = w.callbacks.AppendRequest(nil, req); e.Why != nil {
		e.Body, r.disk = nil, false
	}
	if w.rng.IntN(2) == 0 && !r.dontFilter && w.f.Has(e.Fingerprint) {
		e.Body, e.Known = nil, true
	}
	return pushed{e, r}
}

// action is an outcome, and what the model makes of it.
type action struct {
	o     scheduler.Outcome
	apply func() (refused []string)
}

// commit makes an action happen in both.
func (w *world) commit(a action) {
	w.Helper()
	w.count++
	a.o.State = []byte(strconv.Itoa(w.count))
	w.outcome = append(w.outcome, a.o)
	refused := a.apply()
	w.snap() // before the grant, which the job does not see
	w.step(nil, []scheduler.Outcome{a.o}, w.rng.IntN(3), refused...)
}

func (w *world) emit() {
	if w.m.ended {
		return
	}
	w.ordinal++
	o := scheduler.Outcome{Key: scheduler.Key{Ordinal: w.ordinal}, Kind: scheduler.StartEntry}
	if w.rng.IntN(4) == 0 {
		o.Items = []uint64{uint64(w.rng.IntN(3))}
	}
	all := w.random(1)
	for _, p := range all {
		o.Push = append(o.Push, p.e)
	}
	w.commit(action{o, func() (refused []string) {
		for _, h := range o.Items {
			w.m.accepted[h]++
		}
		for _, p := range all {
			switch {
			case !w.m.push(p.r, true):
				refused = append(refused, p.r.name)
			case p.r.disk:
				w.m.accepted[hashOf(p.r.name)]++
			}
		}
		return refused
	}})
}

// enqueue adds requests from outside.
func (w *world) enqueue() {
	w.enqueued++
	a := w.pushing(scheduler.Outcome{Key: scheduler.Key{Ordinal: w.enqueued}, Kind: scheduler.Enqueue}, w.random(2))
	w.commit(a)
}

// pushing lets an outcome push requests as those of a callback.
func (w *world) pushing(o scheduler.Outcome, all []pushed) action {
	for _, p := range all {
		o.Push = append(o.Push, p.e)
	}
	return action{o, func() (refused []string) {
		for _, p := range all {
			if !w.m.push(p.r, false) {
				refused = append(refused, p.r.name)
			}
		}
		return refused
	}}
}

func (w *world) done(l *modelLease, all []pushed) action {
	o := scheduler.Outcome{Key: scheduler.Key{Lease: l.id}, Kind: scheduler.Done}
	if w.rng.IntN(10) == 0 {
		o.Kind = scheduler.Dead
	}
	a := w.pushing(o, all)
	return action{a.o, func() []string {
		refused := w.m.finish(l)
		return append(refused, a.apply()...)
	}}
}

func (w *world) release() {
	w.Helper()
	l := w.lease()
	if l == nil {
		return
	}
	o := scheduler.Outcome{Key: scheduler.Key{Lease: l.id}, Kind: scheduler.Release}
	w.m.release(l)
	w.outcome = append(w.outcome, o)
	w.step(nil, []scheduler.Outcome{o}, w.rng.IntN(2))
}

func (w *world) part() {
	w.Helper()
	l := w.lease()
	if l == nil {
		return
	}
	l.ordinal++
	o := scheduler.Outcome{Key: scheduler.Key{Lease: l.id, Ordinal: l.ordinal}, Kind: scheduler.Part}
	var refused []string
	for _, p := range w.random(3) {
		o.Push = append(o.Push, p.e)
		if p.e.Known {
			refused = append(refused, p.r.name)
			continue
		}
		p.r.seq = w.m.age()
		l.parts = append(l.parts, p.r)
	}
	w.outcome = append(w.outcome, o)
	w.step(nil, []scheduler.Outcome{o}, 0, slices.Clone(refused)...)
}

func (w *world) fail(what string, got, want any) {
	w.Helper()
	w.Fatalf("life %d, step %d, %+v: %s: got %v, want %v", w.lives, w.count, w.m.cfg, what, got, want)
}

// step calls Step and compares the grant with the model's.
func (w *world) step(progress []scheduler.Progress, done []scheduler.Outcome, want int, refused ...string) scheduler.Grant {
	w.Helper()
	g, err := w.f.Step(context.Background(), progress, done, want)
	if err != nil {
		w.Fatalf("life %d: %v", w.lives, err)
	}
	var got []string
	for _, e := range g.Refused {
		got = append(got, e.Request.URL[len("http://x/"):])
	}
	if !slices.Equal(got, refused) {
		w.fail("refused", got, refused)
	}
	now := time.Now()
	for i := range want {
		r, ok := w.m.grant(now)
		if ok != (i < len(g.Leases)) {
			w.fail(fmt.Sprintf("grants of %d", want), len(g.Leases), r)
		}
		if !ok {
			break
		}
		w.take(g.Leases[i], r)
	}
	if g.Backlog != int64(len(w.m.pending)) || (g.State == scheduler.Empty) != (len(w.m.pending)+len(w.m.leases) == 0) {
		w.fail("state and backlog", []any{g.State, g.Backlog}, len(w.m.pending))
	}
	return g
}

func (w *world) take(l scheduler.Lease, want modelRequest) {
	w.Helper()
	r := l.Request
	if r == nil {
		var err error
		if r, err = w.callbacks.DecodeRequest(l.Body); err != nil {
			w.Fatal(err)
		}
	}
	got := fmt.Sprint(r.URL[len("http://x/"):], l.Slot, r.Priority, r.Method)
	if exp := fmt.Sprint(want.name, want.slot, want.priority, strconv.Itoa(want.tag)); got != exp {
		w.fail("lease", got, exp)
	}
	w.m.leases = append(w.m.leases, &modelLease{id: l.ID, r: want})
}
