package jobs_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
)

// step is one committed transaction of the model.
type step struct {
	push    map[jobs.Addr]jobs.Record
	ack     []jobs.Addr
	attempt []jobs.Addr
	seen    [][20]byte
	feeds   [2]string
	meta    string
}

// world is the plain model beside the real job: the steps committed so far,
// and how many of them must survive which kind of crash.
type world struct {
	t       *testing.T
	rng     *rand.Rand
	fs      *faultfs.FS
	job     *jobs.Job
	sinks   [2]*fileSink
	steps   []step
	flushed int         // survive a kill
	durable int         // survive a power cut
	pending []jobs.Addr // pushed and not acked
	nested  bool
	opt     jobs.Options
}

func feedName(i int) string { return fmt.Sprintf("/feed%d.jl", i) }

// state is what a crawl remembers.
type state struct {
	live     map[jobs.Addr]string
	attempts map[jobs.Addr]int
	seen     map[[20]byte]bool
	meta     map[string]string
}

func newState() *state {
	return &state{map[jobs.Addr]string{}, map[jobs.Addr]int{}, map[[20]byte]bool{}, map[string]string{}}
}

func describe(slot string, prio, notBefore int64, flags uint8, bodyLen int) string {
	return fmt.Sprintf("%s %d %d %d %d", slot, prio, notBefore, flags, bodyLen)
}

func (s *state) visit(o jobs.Op) error {
	switch o.Kind {
	case jobs.OpPush:
		s.live[o.Addr] = describe(string(o.Slot), o.Priority, o.NotBefore, o.Flags, o.BodyLen)
		s.seen[o.Fingerprint] = true
	case jobs.OpAck:
		delete(s.live, o.Addr)
	case jobs.OpAttempt:
		s.attempts[o.Addr]++
	case jobs.OpSeen:
		s.seen[o.Fingerprint] = true
	case jobs.OpMeta:
		s.meta[string(o.Key)] = string(o.Value)
	}
	return nil
}

// model returns the state after the first n steps, the bodies that must be
// readable, and the content of the feeds.
func (w *world) model(n int) (*state, map[jobs.Addr][]byte, [2]string) {
	s, bodies := newState(), map[jobs.Addr][]byte{}
	var feeds [2]strings.Builder
	for i, st := range w.steps[:n] {
		for a, r := range st.push {
			s.live[a] = describe(r.Slot, r.Priority, r.NotBefore, r.Flags, len(r.Body))
			s.seen[r.Fingerprint] = true
			bodies[a] = r.Body
		}
		for _, a := range st.ack {
			delete(s.live, a)
		}
		for _, a := range st.attempt {
			s.attempts[a]++
		}
		for _, fp := range st.seen {
			s.seen[fp] = true
		}
		s.meta["n"] = strconv.Itoa(i + 1)
		s.meta["value"] = st.meta
		for k, b := range st.feeds {
			feeds[k].WriteString(b)
		}
	}
	return s, bodies, [2]string{feeds[0].String(), feeds[1].String()}
}

func (w *world) fingerprint() (fp [20]byte) {
	for i := range fp {
		fp[i] = byte(w.rng.IntN(256))
	}
	return fp
}

func (w *world) record() jobs.Record {
	body := make([]byte, w.rng.IntN(120))
	if w.rng.IntN(40) == 0 {
		body = make([]byte, 9000)
	}
	for i := range body {
		body[i] = byte(w.rng.IntN(256))
	}
	return jobs.Record{
		Slot: strings.Repeat("h", w.rng.IntN(5)), Priority: int64(w.rng.Uint64()) >> w.rng.IntN(64),
		NotBefore: w.rng.Int64N(1 << 40), Flags: uint8(w.rng.IntN(256)), Fingerprint: w.fingerprint(), Body: body,
	}
}

// commit makes one random step.
func (w *world) commit() error {
	st := step{push: map[jobs.Addr]jobs.Record{}}
	tx := w.job.Begin()
	if w.rng.IntN(10) == 0 { // abandoned: no trace
		tx.Push(w.record())
		tx.Feed(0, []byte("never"))
		tx = w.job.Begin()
	}
	for range w.rng.IntN(4) {
		r := w.record()
		st.push[tx.Push(r)] = r
	}
	if n := len(w.pending); n > 0 {
		i := w.rng.IntN(n)
		a := w.pending[i]
		w.pending = slices.Delete(w.pending, i, i+1)
		tx.Attempt(a)
		tx.Ack(a)
		st.attempt, st.ack = append(st.attempt, a), append(st.ack, a)
	}
	if w.rng.IntN(3) == 0 {
		fp := w.fingerprint()
		tx.Seen(fp)
		st.seen = append(st.seen, fp)
	}
	for k := range st.feeds {
		if n := w.rng.IntN(4); n > 0 {
			item := fmt.Sprintf("{\"step\":%d,\"pad\":%q}\n", len(w.steps), strings.Repeat("x", w.rng.IntN(400*n)))
			tx.Feed(k, []byte(item[:len(item)/2]))
			tx.Feed(k, []byte(item[len(item)/2:]))
			st.feeds[k] = item
		}
	}
	st.meta = strings.Repeat("m", w.rng.IntN(30))
	tx.Set("n", []byte(strconv.Itoa(len(w.steps)+1)))
	tx.Set("value", []byte(st.meta))
	if err := tx.Commit(); err != nil {
		return err
	}
	w.steps = append(w.steps, st)
	w.pending = append(w.pending, slices.Sorted(maps.Keys(st.push))...)
	return nil
}

// open recovers and compares. It returns an error only if one was injected.
func (w *world) open(atLeast int) error {
	w.t.Helper()
	j, err := jobs.Open(w.fs, jobDir, identity(), w.opt)
	if err != nil {
		return w.injected(err)
	}
	w.job = j
	list := make([]jobs.Feed, 2)
	for k := range list {
		w.sinks[k] = &fileSink{fs: w.fs, name: feedName(k)}
		if w.opt.SyncInterval == 0 { // otherwise the background calls it
			w.sinks[k].onSync = w.duringSync
		}
		list[k] = jobs.Feed{Name: feedName(k), Sink: w.sinks[k]}
	}
	got := newState()
	r, err := j.Recover(list, got.visit)
	if err != nil {
		return w.injected(err)
	}
	n, _ := strconv.Atoi(got.meta["n"])
	if n < atLeast || n > len(w.steps) {
		w.t.Fatalf("recovered %d steps, want %d to %d (%v)", n, atLeast, len(w.steps), r.Warnings)
	}
	w.compare(got, n, r)
	w.steps = w.steps[:n]
	w.flushed, w.durable = n, n
	w.pending = slices.Sorted(maps.Keys(got.live))
	return nil
}

func (w *world) compare(got *state, n int, r jobs.Recovery) {
	w.t.Helper()
	want, bodies, feeds := w.model(n)
	if !maps.Equal(got.live, want.live) {
		w.t.Fatalf("after %d steps: live\n got %v\nwant %v", n, got.live, want.live)
	}
	if !maps.Equal(got.attempts, want.attempts) || !maps.Equal(got.seen, want.seen) || !maps.Equal(got.meta, want.meta) {
		w.t.Fatalf("after %d steps: attempts, seen or meta differ", n)
	}
	for k, s := range feeds {
		if have := content(w.t, w.fs, feedName(k)); have != s {
			w.t.Fatalf("after %d steps: feed %d has %d bytes, want %d (%v)", n, k, len(have), len(s), r.Warnings)
		}
		if r.Feeds[k].Length != int64(len(s)) || r.Feeds[k].Foreign {
			w.t.Fatalf("feed %d: got %+v, want length %d", k, r.Feeds[k], len(s))
		}
	}
	w.readAll(bodies)
}

func (w *world) readAll(bodies map[jobs.Addr][]byte) {
	w.t.Helper()
	for a, want := range bodies {
		got, err := w.job.Read(a, []byte("head"))
		if errors.Is(err, errInjected) { // comes once
			got, err = w.job.Read(a, []byte("head"))
		}
		if err != nil || !bytes.Equal(got[4:], want) || string(got[:4]) != "head" {
			w.t.Fatalf("Read(%v): got %d bytes, %v, want %d", a, len(got), err, len(want))
		}
	}
}

// duringSync commits while a feed is being synced: such a step's frame may
// become durable before its feed.
func (w *world) duringSync() {
	if !w.nested || w.rng.IntN(2) == 0 {
		return
	}
	w.nested = false
	if w.commit() == nil && w.rng.IntN(2) == 0 {
		_ = w.job.Flush() // final: the barrier returns it
	}
	w.nested = true
}

// injected passes an injected error and fails on any other.
func (w *world) injected(err error) error {
	w.t.Helper()
	if !errors.Is(err, errInjected) {
		w.t.Fatal(err)
	}
	return err
}

// live runs steps until the number is reached or an injected error ends it.
func (w *world) live(steps int) {
	w.t.Helper()
	for range steps {
		if err := w.commit(); err != nil {
			_ = w.injected(err)
			return
		}
		n := len(w.steps)
		var err error
		switch w.rng.IntN(6) {
		case 0:
			if err = w.barrier(); err == nil && w.rng.IntN(2) == 0 {
				err = w.barrier() // for what was committed during the first one
			}
		case 1, 2:
			if err = w.job.Flush(); err == nil {
				w.flushed = n
			}
		case 3:
			for _, st := range w.steps[max(0, n-5):] {
				for a, r := range st.push {
					w.readAll(map[jobs.Addr][]byte{a: r.Body})
				}
			}
		}
		if err != nil {
			_ = w.injected(err)
			return
		}
	}
}

func (w *world) abandon() {
	if w.job != nil {
		abandon(w.t, w.job)
		w.job = nil
	}
}

func (w *world) barrier() error {
	n := len(w.steps)
	w.nested = true
	defer func() { w.nested = false }()
	err := w.job.Barrier()
	if err == nil && w.opt.SyncInterval == 0 {
		w.durable, w.flushed = n, n
	}
	return err
}

// crash ends the present life and returns how many steps the next must find.
func (w *world) crash() int {
	if w.rng.IntN(3) == 0 {
		next := w.fs.Kill()
		w.abandon()
		w.fs = next
		return w.flushed
	}
	next := w.fs.Crash(w.rng)
	w.abandon()
	w.fs, w.flushed = next, w.durable
	return w.durable
}
