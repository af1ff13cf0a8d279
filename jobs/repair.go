package jobs

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	repairMark = "repair.done" // says which of the new files are complete
	newSuffix  = ".new"
	oldSuffix  = ".damaged-20060102-150405"
)

// Repaired is what [Repair] did.
type Repaired struct {
	Kept   int      // records that are still needed
	Lost   []string // what could not be read, a sentence each
	Backup string   // the end of the names of the old files, which are kept; "" if nothing had to be done
}

// Repair makes a damaged job directory usable: what is whole is written anew, and
// the old files are put aside. What was lost with the damage may be done again.
// When it is interrupted, the next call goes on.
func Repair(fsys FS, dir string) (Repaired, error) {
	dir = filepath.Clean(dir)
	j := &Job{fsys: fsys, dir: dir}
	var err error
	if j.manifest, err = findManifest(fsys, dir); err != nil {
		return Repaired{}, err
	}
	if err := j.takeLock(); err != nil {
		return Repaired{}, err
	}
	r, err := j.repair()
	return r, errors.Join(err, j.lock.Close())
}

func (j *Job) repair() (Repaired, error) {
	r := Repaired{Backup: j.backup()}
	names, err := readFile(j.fsys, filepath.Join(j.dir, repairMark))
	if err == nil {
		if err := j.install(r.Backup, strings.Fields(string(names))); err != nil {
			return r, err
		}
		found, err := Verify(j.fsys, j.dir)
		r.Kept = found.Records
		return r, err
	}
	found, err := Verify(j.fsys, j.dir)
	if err != nil || len(found.Problems) == 0 {
		return Repaired{Kept: found.Records}, err
	}
	for _, name := range jobFiles() {
		if err := removeTree(j.fsys, filepath.Join(j.dir, name+newSuffix)); err != nil {
			return r, err
		}
	}
	s, err := newSalvage(j.fsys, j.dir)
	if err != nil {
		return r, err
	}
	if r.Kept, err = s.rewrite(j.manifest.identity()); err != nil {
		return r, fmt.Errorf("repair job %s: %w", j.dir, err)
	}
	r.Lost = s.lost
	list, err := j.written()
	if err != nil {
		return r, err
	}
	if err := writeFileAtomic(j.fsys, filepath.Join(j.dir, repairMark), []byte(strings.Join(list, " "))); err != nil {
		return r, err
	}
	return r, j.install(r.Backup, list)
}

// backup returns an end for the names of the old files that no file has.
func (j *Job) backup() string {
	suffix := time.Now().UTC().Format(oldSuffix)
	names, _ := j.fsys.List(j.dir) // the caller will read it again
	for n := 2; slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, suffix) }); n++ {
		suffix = fmt.Sprintf("%s-%d", time.Now().UTC().Format(oldSuffix), n)
	}
	return suffix
}

// jobFiles are what a repair replaces.
func jobFiles() []string { return []string{queueDir, seenFile, emittedFile} }

// written returns which of the new files there are.
func (j *Job) written() ([]string, error) {
	names, err := j.fsys.List(j.dir)
	return slices.DeleteFunc(jobFiles(), func(n string) bool { return !slices.Contains(names, n+newSuffix) }), err
}

// install puts the old files aside and those of the list in their place. It can be
// called again when it was interrupted.
func (j *Job) install(backup string, list []string) error {
	for _, name := range jobFiles() {
		names, err := j.fsys.List(j.dir)
		if err != nil {
			return err
		}
		to := filepath.Join(j.dir, name)
		waits := slices.Contains(names, name+newSuffix)
		if slices.Contains(names, name) && (waits || !slices.Contains(list, name)) {
			if err := j.fsys.Rename(to, to+backup); err != nil {
				return err
			}
		}
		if waits {
			if err := j.fsys.Rename(to+newSuffix, to); err != nil {
				return err
			}
		}
		if err := j.fsys.SyncDir(j.dir); err != nil {
			return err
		}
	}
	return removeIfThere(j.fsys, filepath.Join(j.dir, repairMark))
}

// removeTree removes a file, or a directory that holds only files, if it is there.
func removeTree(fsys FS, name string) error {
	names, err := fsys.List(name)
	if err != nil {
		return removeIfThere(fsys, name)
	}
	for _, n := range names {
		if err := removeIfThere(fsys, filepath.Join(name, n)); err != nil {
			return err
		}
	}
	return fsys.Remove(name)
}

// rewrite writes what can be read into new files beside the old ones, and returns
// how many records are needed in them.
func (s *salvage) rewrite(id Identity) (int, error) {
	job := &Job{fsys: s.fsys, dir: s.dir, id: id, suffix: newSuffix, edits: true, unclean: true}
	job.init(Options{Reserve: -1})
	job.scan = &scan{fsys: s.fsys, jobDir: s.dir, dir: job.queue(), flag: readWrite}
	w := &rewriter{job: job, moved: map[Addr]Addr{}, feeds: map[uint64]int64{}}
	_, err := job.Recover(nil, nil)
	if err == nil {
		err = w.all(s)
	}
	if err == nil {
		err = w.settleFeeds()
	}
	kept := 0
	for _, seg := range job.segs {
		kept += seg.alive
	}
	return kept, errors.Join(err, job.Close(End{}))
}

// rewriter writes the records of one job into another, where they get other
// addresses.
type rewriter struct {
	job   *Job
	moved map[Addr]Addr
	feeds map[uint64]int64 // length by number
	run   uint64           // of the last frame
}

func (w *rewriter) all(s *salvage) error {
	if s.snap == nil { // there was a round, whether or not it can be read
		tx := w.job.Begin()
		tx.ops = appendRound(tx.ops, 1)
		if err := tx.Commit(); err != nil {
			return err
		}
		return s.tail(w.frame)
	}
	seen, sound, err := s.words(seenFile, s.snap.seen)
	if err != nil {
		return err
	}
	steps := []func() error{
		func() error { return w.pending(s) },
		func() error { return w.snapshot(s, seen) },
		func() error { return s.tail(w.frame) },
	}
	if !sound { // what is queued behind the snapshot marks its fingerprints anew
		steps[0], steps[1] = steps[1], steps[0]
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// pending queues the records that the snapshot has.
func (w *rewriter) pending(s *salvage) error {
	tx := w.job.Begin()
	err := s.pending(func(a Addr, o *op) error {
		w.moved[a] = tx.Push(o.record())
		if len(tx.ops) < packFrame {
			return nil
		}
		err := tx.Commit()
		tx = w.job.Begin()
		return err
	})
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return err
	}
	return w.parts(s)
}

// parts writes the records that wait for the adoption of their owners.
func (w *rewriter) parts(s *salvage) error {
	w.run = s.snap.seq >> 32
	tx := w.job.Begin()
	err := s.provisional(func(a, owner Addr, o *op) {
		if moved, ok := w.moved[owner]; ok {
			w.moved[a] = tx.Provisional(moved, o.record())
		}
	})
	if err != nil {
		return err
	}
	return tx.Commit()
}

func (o *op) record() Record {
	return Record{
		Slot: string(o.Slot), Priority: o.Priority, NotBefore: o.NotBefore,
		Fingerprint: o.Fingerprint, Flags: o.Flags, Body: o.body,
	}
}

// snapshot makes in the new job the snapshot that the old one has.
func (w *rewriter) snapshot(s *salvage, seen []uint64) error {
	emitted, _, err := s.words(emittedFile, s.snap.emitted)
	if err != nil {
		return err
	}
	w.job.round, w.job.finished, w.job.keep.idle = s.snap.round, s.snap.finished, s.snap.feeds
	for _, f := range s.snap.feeds {
		w.feeds[f.id] = f.length
	}
	w.job.captureWith(func(n *Snapshot) {
		n.Seen(seen)
		n.Emitted(emitted)
		err = w.ops(s.snap.ops, n)
	})
	if err != nil {
		return err
	}
	return w.job.save(false)
}

// ops moves the operations of the owner into the new snapshot.
func (w *rewriter) ops(ops []byte, n *Snapshot) error {
	var o op
	d := decoder{b: ops}
	for {
		ok, err := d.next(&o)
		if !ok || err != nil {
			return err
		}
		a, known := w.moved[o.Addr]
		switch {
		case o.Kind == OpAttempt && known:
			n.Attempt(a)
		case o.Kind == OpTally && known:
			n.Tally(a, o.N)
		case o.Kind != OpAttempt && o.Kind != OpTally:
			n.ops = append(n.ops, ops[o.at:d.pos]...)
		}
	}
}

// frame writes a frame of the old job as a step of the new one.
func (w *rewriter) frame(segment uint32, seq uint64, ops []byte) error {
	tx := w.job.Begin()
	if w.run != seq>>32 && w.run != 0 {
		for _, owner := range w.job.owners() { // no part outlives its run
			tx.Release(owner)
		}
	}
	w.run = seq >> 32
	var o op
	d := decoder{b: ops}
	for {
		ok, err := d.next(&o)
		if err != nil {
			return err
		}
		if !ok {
			return tx.Commit()
		}
		if o.Kind == opSegment {
			segment = o.segment
			continue
		}
		w.op(tx, segment, &o, ops[o.at:d.pos])
	}
}

// op writes one operation. Those about a record that was lost are left out.
func (w *rewriter) op(tx *Tx, segment uint32, o *op, raw []byte) {
	a, known := w.moved[o.Addr]
	owner, owned := w.moved[o.Owner]
	switch o.Kind {
	case OpPush:
		old := makeAddr(segment, uint32(o.Addr))
		if _, twice := w.moved[old]; !twice { // it may be in a packed segment too
			w.moved[old] = tx.Push(o.record())
		}
	case OpProvisional:
		if owned {
			w.moved[makeAddr(segment, uint32(o.Addr))] = tx.Provisional(owner, o.record())
		}
	case OpAdopt:
		if owned {
			tx.Adopt(owner)
		}
	case OpAck, OpAttempt, OpRelease:
		if known {
			w.about(tx, o.Kind, a)
		}
	case opFeedName, opFeed:
		if _, named := w.feeds[o.id]; named || o.Kind == opFeedName {
			w.feeds[o.id] = o.length
			tx.ops = append(tx.ops, raw...)
		}
	case opHeader, opEnd, opIndex, opMark:
	default:
		tx.ops = append(tx.ops, raw...)
	}
}

// settleFeeds makes the next run take the feeds as long as the job says: with
// steps that are lost, the sums over their bytes say nothing.
func (w *rewriter) settleFeeds() error {
	var marks []feedMark
	for id, length := range w.feeds {
		marks = append(marks, feedMark{id: id, length: length})
	}
	tx := w.job.Begin()
	tx.ops = appendMark(tx.ops, 0, marks)
	return tx.Commit()
}

func (*rewriter) about(tx *Tx, kind Kind, a Addr) {
	switch kind {
	case OpAck:
		tx.Ack(a)
	case OpAttempt:
		tx.Attempt(a)
	default:
		tx.Release(a)
	}
}
