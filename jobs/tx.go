package jobs

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// Tx is one crawl step: nothing of it has happened before Commit, all of it
// after. It is taken from [Job.Begin] and is abandoned by beginning the next
// one. All arguments are copied.
type Tx struct {
	j       *Job
	open    bool
	ops     []byte
	feeds   [][]byte
	next    uint32   // ordinal of the next push
	first   uint32   // ordinal of the first push
	segment uint32   // into which it goes
	at      []uint32 // offsets of the pushes within ops
	sizes   []uint32 // of the pushes in bytes
	marks   []mark   // what it does to records
}

// mark is what a step does to a record.
type mark struct {
	kind     Kind
	a, owner Addr
}

// Begin starts a transaction, and drops one that was not committed. The Tx is
// valid until the next Begin.
func (j *Job) Begin() *Tx {
	t := &j.tx
	if cap(t.ops) > maxKept {
		t.ops = nil
	}
	t.open, t.ops, t.at, t.marks = true, t.ops[:0], t.at[:0], t.marks[:0]
	t.sizes = t.sizes[:0]
	for len(t.feeds) < len(j.feeds) {
		t.feeds = append(t.feeds, nil)
	}
	for i, f := range t.feeds {
		if cap(f) > maxKept {
			f = nil
		}
		t.feeds[i] = f[:0]
	}
	if j.fsys == nil || j.phase != running {
		return t
	}
	j.mu.Lock()
	full := j.tail.size >= j.segmentSize() && j.err == nil
	j.mu.Unlock()
	if full {
		_ = j.roll() // final: Commit returns it
	}
	t.first = uint32(len(j.tail.offsets))
	t.next, t.segment = t.first, j.tail.first
	return t
}

// Push queues a record and returns its address, which can be read once the
// step is committed.
func (t *Tx) Push(r Record) Addr {
	if t.j.fsys == nil {
		return 0
	}
	t.at = append(t.at, uint32(len(t.ops)))
	t.ops = append(t.ops, byte(OpPush))
	return t.record(&r)
}

// Provisional queues a record that counts only once its owner is adopted: a
// part of a step too large for one frame.
func (t *Tx) Provisional(owner Addr, r Record) Addr {
	if t.j.fsys == nil {
		return 0
	}
	t.at = append(t.at, uint32(len(t.ops)))
	t.ops = append(t.ops, byte(OpProvisional))
	t.ops = appendAddr(t.ops, owner)
	a := t.record(&r)
	t.marks = append(t.marks, mark{OpProvisional, a, owner})
	return a
}

func (t *Tx) record(r *Record) Addr {
	ordinal := t.next
	t.next++
	t.ops = appendRecord(t.ops, ordinal, r)
	t.sizes = append(t.sizes, uint32(len(t.ops))-t.at[len(t.at)-1])
	return makeAddr(t.segment, ordinal)
}

// Adopt makes the provisional records of the owner real.
func (t *Tx) Adopt(owner Addr) { t.mark(mark{OpAdopt, 0, owner}) }

// Ack ends the life of a record. One that is provisional is as if it never was.
func (t *Tx) Ack(a Addr) { t.mark(mark{OpAck, a, 0}) }

// Release says that a record is as if it had never been handed out: its attempt
// and the provisional records that it owns are void.
func (t *Tx) Release(a Addr) { t.mark(mark{OpRelease, a, 0}) }

func (t *Tx) mark(m mark) {
	if t.j.fsys == nil {
		return
	}
	t.marks = append(t.marks, m)
	t.ops = appendAddr(append(t.ops, byte(m.kind)), max(m.a, m.owner))
}

// Attempt notes that a record was handed to code that may kill the process.
func (t *Tx) Attempt(a Addr) {
	if t.j.fsys != nil {
		t.ops = appendAddr(append(t.ops, byte(OpAttempt)), a)
	}
}

// Reopen makes a job unfinished: the next run goes on with what is queued, in the
// same round.
func (t *Tx) Reopen() {
	if t.j.fsys != nil {
		t.ops = append(t.ops, byte(opReopened))
	}
}

// Seen marks a fingerprint without queueing anything.
func (t *Tx) Seen(fingerprint [20]byte) { t.fingerprint(OpSeen, fingerprint) }

// Unseen takes the mark of a fingerprint back.
func (t *Tx) Unseen(fingerprint [20]byte) { t.fingerprint(OpUnseen, fingerprint) }

func (t *Tx) fingerprint(kind Kind, fp [20]byte) {
	if t.j.fsys != nil {
		t.ops = append(append(t.ops, byte(kind)), fp[:]...)
	}
}

// Set sets a value, which may be many megabytes long.
func (t *Tx) Set(key string, value []byte) {
	if t.j.fsys != nil {
		t.ops = appendMeta(t.ops, key, value)
	}
}

// Feed adds bytes to the feed at an index of those given to Recover or
// Volatile; another index panics. A second call within a step adds behind the
// first. What the feed's [Format] wants before them is added too.
func (t *Tx) Feed(index int, b []byte) {
	dst := t.feeds[index]
	if f := t.j.feeds[index]; f.Format != nil && len(b) > 0 {
		dst = append(dst, f.Format.Lead(f.length == 0 && len(dst) == 0)...)
	}
	t.feeds[index] = append(dst, b...)
}

// Commit makes the step happen: in memory at once, in the file within the
// FlushInterval. It rarely blocks: only when the writing falls behind by
// megabytes. A step without any content costs nothing.
func (t *Tx) Commit() error {
	j := t.j
	if !t.open {
		return errors.New("commit: the transaction is not open")
	}
	t.open = false
	pending, err := t.commit()
	if err != nil {
		return err
	}
	if pending == 0 {
		return nil
	}
	j.commits.Add(1)
	poke(j.dirty)
	poke(j.late)
	if pending >= maxPending {
		return j.Flush()
	}
	if pending >= flushSize {
		poke(j.full)
	}
	return nil
}

func (t *Tx) empty() bool {
	return len(t.ops) == 0 && !slices.ContainsFunc(t.feeds, func(b []byte) bool { return len(b) > 0 })
}

// commit moves the step into the buffer and returns how much is in it.
func (t *Tx) commit() (pending int, err error) {
	j := t.j
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return 0, j.err
	}
	if j.phase != running {
		return 0, fmt.Errorf("commit: job %s has not been recovered", j.dir)
	}
	if t.empty() {
		return 0, nil
	}
	if j.fsys != nil {
		if err := t.commitFrame(); err != nil {
			return 0, err
		}
	}
	b := j.cur
	for len(b.feeds) < len(j.feeds) {
		b.feeds = append(b.feeds, nil)
	}
	for i, data := range t.feeds {
		j.feeds[i].length += int64(len(data))
		b.feeds[i] = append(b.feeds[i], data...)
		pending += len(b.feeds[i])
	}
	return pending + len(b.frames), nil
}

// commitFrame adds the step's frame. The caller holds mu.
func (t *Tx) commitFrame() error {
	j := t.j
	for i, data := range t.feeds {
		f := j.feeds[i]
		if len(data) > 0 && !f.plain {
			t.ops = appendFeed(t.ops, f.id, f.length+int64(len(data)), crc32.Checksum(data, crcTable()))
		}
	}
	if len(t.ops) > maxFrame {
		return fmt.Errorf("commit: a step of %d bytes is larger than the limit of %d", len(t.ops), maxFrame)
	}
	if len(t.ops) == 0 {
		return nil
	}
	at := j.addFrame(t.ops) + frameHead
	for i, off := range t.at {
		j.tail.add(at+int64(off), int64(t.sizes[i]))
	}
	for _, m := range t.marks {
		j.take(m.kind, m.a, m.owner)
	}
	return nil
}
