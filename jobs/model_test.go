package jobs_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
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
	run     int
	push    map[jobs.Addr]jobs.Record
	parts   map[jobs.Addr]jobs.Record // provisional
	owner   jobs.Addr                 // of the parts, or of those that are adopted or void
	adopt   bool
	release bool
	ack     []jobs.Addr
	attempt []jobs.Addr
	seen    [][20]byte
	unseen  [][20]byte
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
	fresh   []uint64    // fingerprints that no snapshot covers
	marked  int         // fingerprints up to here
	run     int
	nested  bool
	keeps   bool // makes snapshots
	opt     jobs.Options
}

func feedName(i int) string { return fmt.Sprintf("/feed%d.jl", i) }

// state is what a crawl remembers.
type state struct {
	live     map[jobs.Addr]string
	parts    map[jobs.Addr]map[jobs.Addr]part
	attempts map[jobs.Addr]int
	seen     map[uint64]bool
	meta     map[string]string
	fresh    []uint64
	order    []jobs.Addr // of the pending records, as they came
}

// part is a provisional record.
type part struct {
	text string
	key  uint64
}

func newState() *state {
	return &state{
		live: map[jobs.Addr]string{}, parts: map[jobs.Addr]map[jobs.Addr]part{}, attempts: map[jobs.Addr]int{},
		seen: map[uint64]bool{}, meta: map[string]string{},
	}
}

func keyOf(fp [20]byte) uint64 { return binary.BigEndian.Uint64(fp[:]) }

func describe(slot string, prio, notBefore int64, flags uint8) string {
	return fmt.Sprintf("%s %d %d %d", slot, prio, notBefore, flags)
}

func describeRecord(r jobs.Record) string {
	return describe(r.Slot, r.Priority, r.NotBefore, r.Flags)
}

func (s *state) mark(key uint64) {
	s.seen[key] = true
	s.fresh = append(s.fresh, key)
}

func (s *state) unmark(key uint64) {
	delete(s.seen, key)
	s.fresh = append(s.fresh, 0, key)
}

func (s *state) addPart(owner, a jobs.Addr, p part) {
	if s.parts[owner] == nil {
		s.parts[owner] = map[jobs.Addr]part{}
	}
	s.parts[owner][a] = p
}

func (s *state) adopt(owner jobs.Addr) {
	for _, a := range slices.Sorted(maps.Keys(s.parts[owner])) {
		p := s.parts[owner][a]
		s.live[a] = p.text
		s.mark(p.key)
	}
	delete(s.parts, owner)
}

func (s *state) ack(a jobs.Addr) {
	delete(s.live, a)
	for _, list := range s.parts {
		delete(list, a)
	}
}

func (s *state) visit(o jobs.Op) error {
	text := describe(string(o.Slot), o.Priority, o.NotBefore, o.Flags)
	switch o.Kind {
	case jobs.OpPush:
		s.live[o.Addr] = text
		s.mark(keyOf(o.Fingerprint))
	case jobs.OpPending:
		s.live[o.Addr] = text
		s.order = append(s.order, o.Addr)
	case jobs.OpProvisional:
		s.addPart(o.Owner, o.Addr, part{text, keyOf(o.Fingerprint)})
	case jobs.OpAdopt:
		s.adopt(o.Owner)
	case jobs.OpRelease:
		delete(s.parts, o.Addr)
	case jobs.OpAck:
		s.ack(o.Addr)
	case jobs.OpAttempt:
		s.attempts[o.Addr]++
	case jobs.OpSeen:
		s.mark(keyOf(o.Fingerprint))
	case jobs.OpUnseen:
		s.unmark(keyOf(o.Fingerprint))
	case jobs.OpSeenKeys:
		for b := o.Value; len(b) > 0; b = b[8:] {
			s.seen[binary.BigEndian.Uint64(b)] = true
		}
	case jobs.OpMeta:
		if string(o.Key) == "run" && s.meta["run"] != string(o.Value) { // no part outlives its run
			clear(s.parts)
		}
		s.meta[string(o.Key)] = string(o.Value)
	}
	return nil
}

// model returns the state after the first n steps, the bodies that must be
// readable, and the content of the feeds.
func (w *world) model(n int) (*state, map[jobs.Addr][]byte, [2]string) {
	s, bodies := newState(), map[jobs.Addr][]byte{}
	var feeds [2]strings.Builder
	run := 0
	for i, st := range w.steps[:n] {
		if st.run != run { // no part outlives its run
			clear(s.parts)
			run = st.run
		}
		s.apply(&st, bodies)
		s.meta["run"] = strconv.Itoa(st.run)
		s.meta["n"] = strconv.Itoa(i + 1)
		s.meta["value"] = st.meta
		for k, b := range st.feeds {
			feeds[k].WriteString(b)
		}
	}
	if run != w.run {
		clear(s.parts)
	}
	maps.DeleteFunc(bodies, func(a jobs.Addr, _ []byte) bool { return s.live[a] == "" })
	return s, bodies, [2]string{feeds[0].String(), feeds[1].String()}
}

func (s *state) apply(st *step, bodies map[jobs.Addr][]byte) {
	for _, a := range slices.Sorted(maps.Keys(st.push)) {
		r := st.push[a]
		s.live[a] = describeRecord(r)
		s.mark(keyOf(r.Fingerprint))
		bodies[a] = r.Body
	}
	for a, r := range st.parts {
		s.addPart(st.owner, a, part{describeRecord(r), keyOf(r.Fingerprint)})
		bodies[a] = r.Body
	}
	for _, a := range st.ack {
		s.ack(a)
	}
	if st.adopt {
		s.adopt(st.owner)
	}
	if st.release {
		delete(s.parts, st.owner)
	}
	for _, a := range st.attempt {
		s.attempts[a]++
	}
	for _, fp := range st.seen {
		s.mark(keyOf(fp))
	}
	for _, fp := range st.unseen {
		s.unmark(keyOf(fp))
	}
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
	st := step{run: w.run, push: map[jobs.Addr]jobs.Record{}}
	tx := w.job.Begin()
	if w.rng.IntN(10) == 0 { // abandoned: no trace
		tx.Push(w.record())
		tx.Feed(0, []byte("never"))
		tx = w.job.Begin()
	}
	tx.Set("run", []byte(strconv.Itoa(w.run)))
	for range w.rng.IntN(4) {
		r := w.record()
		st.push[tx.Push(r)] = r
	}
	if n := len(w.pending); n > 0 {
		w.settle(tx, &st, w.rng.IntN(n))
	}
	if w.rng.IntN(3) == 0 {
		fp := w.fingerprint()
		tx.Seen(fp)
		st.seen = append(st.seen, fp)
		if w.rng.IntN(3) == 0 {
			tx.Unseen(fp)
			st.unseen = append(st.unseen, fp)
		}
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
	live, _, _ := w.model(len(w.steps))
	w.pending = slices.Sorted(maps.Keys(live.live))
	w.fresh = append(w.fresh, live.fresh[w.marked:]...)
	w.marked = len(live.fresh)
	return nil
}

// settle does something to a pending record: most often it ends its life, and
// that of some of its parts; else it gets parts, or is given back.
func (w *world) settle(tx *jobs.Tx, st *step, i int) {
	a := w.pending[i]
	st.owner = a
	switch w.rng.IntN(4) {
	case 0:
		st.parts = map[jobs.Addr]jobs.Record{}
		for range 1 + w.rng.IntN(3) {
			r := w.record()
			part := tx.Provisional(a, r)
			st.parts[part] = r
		}
		return
	case 1:
		tx.Release(a)
		st.release = true
		return
	}
	tx.Attempt(a)
	st.attempt = append(st.attempt, a)
	now, _, _ := w.model(len(w.steps))
	for _, part := range slices.Sorted(maps.Keys(now.parts[a])) {
		if w.rng.IntN(3) == 0 { // a duplicate
			tx.Ack(part)
			st.ack = append(st.ack, part)
		}
	}
	if len(now.parts[a]) > 0 {
		tx.Adopt(a)
		st.adopt = true
	}
	tx.Ack(a)
	st.ack = append(st.ack, a)
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
		if w.opt.SyncInterval == 0 && !w.keeps { // otherwise the background calls it
			w.sinks[k].onSync = w.duringSync
		}
		list[k] = jobs.Feed{Name: feedName(k), Sink: w.sinks[k]}
	}
	w.run++
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
	now, _, _ := w.model(n)
	w.fresh, w.marked = got.fresh, len(now.fresh)
	if !slices.IsSorted(got.order) {
		w.t.Fatal("the pending records came out of order")
	}
	return nil
}

func (w *world) compare(got *state, n int, r jobs.Recovery) {
	w.t.Helper()
	want, bodies, feeds := w.model(n)
	for what, diff := range map[string]string{
		"live": difference(got.live, want.live), "attempts": difference(got.attempts, want.attempts),
		"seen": difference(got.seen, want.seen), "meta": difference(got.meta, want.meta),
	} {
		if diff != "" {
			w.t.Fatalf("after %d steps: %s: %s", n, what, diff)
		}
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

// difference says what is in one map only, or differs.
func difference[K cmp.Ordered, V comparable](got, want map[K]V) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if v, ok := want[k]; !ok || v != got[k] {
			fmt.Fprintf(&b, " got %v: %v", k, got[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if v, ok := got[k]; !ok || v != want[k] {
			fmt.Fprintf(&b, " want %v: %v", k, want[k])
		}
	}
	return b.String()
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
			_, bodies, _ := w.model(n)
			w.readAll(bodies)
		case 4:
			w.snapshot()
		}
		if w.keeps && w.job.SnapshotDue() {
			w.snapshot()
		}
		if err != nil {
			_ = w.injected(err)
			return
		}
	}
}

// snapshot hands the state of the model to the job.
func (w *world) snapshot() {
	if !w.keeps {
		return
	}
	w.job.Snapshot(w.fill)
}

// fill is what the owner of a job keeps in its snapshots.
func (w *world) fill(snap *jobs.Snapshot) {
	s, _, _ := w.model(len(w.steps))
	for k, v := range s.meta {
		snap.Set(k, []byte(v))
	}
	for a, n := range s.attempts {
		for range n {
			snap.Attempt(a)
		}
	}
	snap.Seen(w.fresh)
	w.fresh = nil
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
