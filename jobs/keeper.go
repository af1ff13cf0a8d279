package jobs

import (
	"errors"
	"fmt"
	"slices"
)

// keeper is what a job needs to write snapshots. Its fields belong to the
// goroutine that writes them, but for those that mu guards.
type keeper struct {
	seen     *wordLog
	emitted  *wordLog
	idle     []feedState // feeds that this run does not use
	obsolete []string    // files to be removed once a snapshot does not name them any more
	wake     chan struct{}

	// Guarded by mu.
	captured *capture
	busy     bool
	unsaved  unsaved // fingerprints that no snapshot covers
	words    unsaved // of what was emitted
	aside    int64   // bytes of the fingerprints and of the snapshot
	gone     int64   // bytes of segments that are still there but not needed any more
	ended    bool    // a segment has ended since the last snapshot
	spent    bool    // the last snapshot found nothing that could go, and no segment has ended since
}

// unsaved are words that go into a word log with the next snapshot.
type unsaved struct {
	list  []uint64
	reset bool // those in the log do not count any more
	saved int  // number of those that went into the log in this run
}

func (u *unsaved) add(words []uint64, reset bool) {
	if reset {
		u.saved, u.list, u.reset = u.saved+len(u.list), nil, true
	}
	u.list = joined(u.list, words)
}

// end counts the words up to now.
func (u *unsaved) end() int { return u.saved + len(u.list) }

// upTo returns the words up to a count.
func (u *unsaved) upTo(end int) []uint64 { return u.list[:max(end-u.saved, 0)] }

// settle drops the words up to a count: a snapshot covers them.
func (u *unsaved) settle(end int) {
	n := len(u.upTo(end))
	u.list = slices.Clone(u.list[n:])
	u.saved, u.reset = u.saved+n, false
}

// capture is a snapshot that waits to be written.
type capture struct {
	snap  snapshot
	segs  []*segment // those that it names, in order; the last one takes frames
	dead  []*segment // those that it does not name any more
	keys  int        // how many fingerprints it covers, of all in this run
	words int        // how many words of what was emitted
	feeds []feedAt
}

// feedAt is a feed at the time of a capture.
type feedAt struct {
	*feed
	at int64
}

// SnapshotDue reports whether it is time for a snapshot: a segment of the journal
// has ended since the last one, or the journal is larger than [Options.MaxDisk] and
// snapshots may make it smaller. Without snapshots the journal only grows, and
// opening it takes longer and longer.
func (j *Job) SnapshotDue() bool {
	if j.fsys == nil || !j.snapshotPossible() {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.keep.ended || !j.keep.spent && j.tooLarge()
}

// Snapshot keeps what fill puts into it as the state of the job's owner after all
// that is committed. It is called between transactions and returns at once; the
// writing goes on in the background, and so does the removal of what is not
// needed any more. An error in that is final, as every error in writing. While
// another snapshot is being written it does nothing, and fill is not called.
func (j *Job) Snapshot(fill func(*Snapshot)) {
	if j.fsys == nil || j.phase != running || !j.snapshotPossible() {
		return
	}
	j.captureWith(fill)
	poke(j.keep.wake)
}

func (j *Job) snapshotPossible() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return !j.keep.busy && j.keep.captured == nil && j.err == nil
}

func (j *Job) captureWith(fill func(*Snapshot)) {
	var s Snapshot
	fill(&s)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.keep.unsaved.add(s.seen, false)
	j.keep.words.add(s.emitted, s.reset)
	j.keep.captured = j.capture(s.ops)
	j.keep.ended = false
}

// capture notes the state of the journal. The caller holds mu.
func (j *Job) capture(ops []byte) *capture {
	c := &capture{keys: j.keep.unsaved.end(), words: j.keep.words.end()}
	c.snap = snapshot{
		segment: j.tail.first, offset: j.tail.size, seq: j.lastSeq, round: j.round, finished: j.finished,
		feeds: slices.Clone(j.keep.idle), open: map[Addr][]Addr{}, ops: ops,
	}
	for owner, list := range j.open {
		c.snap.open[owner] = slices.Clone(list)
	}
	for _, f := range j.feeds {
		if !f.plain {
			c.feeds = append(c.feeds, feedAt{f, f.length})
		}
	}
	for _, seg := range j.segs {
		if seg.alive == 0 && seg != j.tail {
			c.dead = append(c.dead, seg)
			continue
		}
		c.segs = append(c.segs, seg)
		c.snap.files = append(c.snap.files, snapshotFileState{
			first: seg.first, last: seg.last, gen: seg.gen, count: len(seg.offsets), live: slices.Clone(seg.live),
		})
	}
	return c
}

// startKeeping takes over from the scan what the snapshots go on with.
func (j *Job) startKeeping(s *scan) {
	k := &j.keep
	var seen, emitted wordRange
	if s.snap != nil {
		seen, emitted = s.snap.seen, s.snap.emitted
	}
	k.seen = newWordLog(j.fsys, j.dir, seenFile+j.suffix, seen)
	k.emitted = newWordLog(j.fsys, j.dir, emittedFile+j.suffix, emitted)
	for _, st := range s.feeds {
		if st != nil && j.feedByID(st.id) == nil {
			k.idle = append(k.idle, *st)
		}
	}
}

// keepLoop writes snapshots in the background.
func (j *Job) keepLoop() {
	for {
		select {
		case <-j.quit:
			return
		case <-j.keep.wake:
		}
		if err := j.save(true); err != nil && !j.keptBack(err) {
			_ = j.fail(err)
			return
		}
	}
}

// save writes the snapshot that was captured, and then removes what it has made
// superfluous.
func (j *Job) save(pack bool) error {
	c := j.takeCapture()
	if c == nil {
		return nil
	}
	defer j.setIdle()
	if err := j.sync(); err != nil {
		return err
	}
	if err := j.complete(c); err != nil {
		return err
	}
	size, err := c.snap.write(j.fsys, j.queue())
	if err != nil {
		return err
	}
	if err := j.saved(c, size); err != nil {
		return err
	}
	idle := len(c.dead)+len(j.keep.obsolete) == 0
	if err := j.removeDead(c); err != nil || !pack {
		return err
	}
	packed, err := j.pack(c)
	if err == nil && idle && !packed {
		j.setSpent()
	}
	return err
}

func (j *Job) setSpent() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.keep.spent = !j.keep.ended
}

func (j *Job) takeCapture() *capture {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := j.keep.captured
	j.keep.captured, j.keep.busy = nil, c != nil
	return c
}

func (j *Job) setIdle() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.keep.busy = false
}

// complete makes durable what the snapshot will name, and fills in the rest.
func (j *Job) complete(c *capture) error {
	for i, seg := range c.segs {
		if i < len(c.segs)-1 {
			if err := j.addIndex(seg); err != nil {
				return err
			}
			c.snap.files[i].size = seg.size
		}
	}
	for _, f := range c.feeds {
		m, err := f.markAt(f.at, nil)
		if err != nil {
			return err
		}
		c.snap.feeds = append(c.snap.feeds, feedState{
			id: f.id, name: f.Name, length: f.at, mark: f.at, closed: f.at, hasCRC: m.hasCRC, crc: m.crc,
		})
	}
	j.mu.Lock()
	keys := j.keep.unsaved.upTo(c.keys)
	words, reset := j.keep.words.upTo(c.words), j.keep.words.reset
	j.mu.Unlock()
	var err error
	if c.snap.seen, err = j.keep.seen.append(keys, false); err != nil {
		return err
	}
	c.snap.emitted, err = j.keep.emitted.append(words, reset)
	return err
}

// addIndex writes the index of a segment that has ended.
func (j *Job) addIndex(seg *segment) error {
	if seg.indexed {
		return nil
	}
	frame, err := buildIndex(seg)
	if err != nil {
		return err
	}
	if err := replaceEnd(seg.file, seg.end, frame); err != nil {
		return fmt.Errorf("write the index of %s: %w", seg.name, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	seg.size, seg.indexed = seg.end+int64(len(frame)), true
	return nil
}

// replaceEnd durably puts b in the place of all that is behind an offset.
func replaceEnd(f File, at int64, b []byte) error {
	if err := f.Truncate(at); err != nil {
		return err
	}
	if _, err := f.WriteAt(b, at); err != nil {
		return err
	}
	return f.Sync()
}

// saved notes what the snapshot that is on the disk covers.
func (j *Job) saved(c *capture, size int64) error {
	if err := j.keep.seen.settle(c.snap.seen); err != nil {
		return err
	}
	if err := j.keep.emitted.settle(c.snap.emitted); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.keep.unsaved.settle(c.keys)
	j.keep.words.settle(c.words)
	j.keep.aside, j.keep.gone = c.snap.seen.to+c.snap.emitted.to+size, 0
	j.segs = slices.DeleteFunc(j.segs, func(s *segment) bool { return slices.Contains(c.dead, s) })
	return nil
}

// removeDead removes the files that no snapshot needs any more.
func (j *Job) removeDead(c *capture) error {
	if err := j.closeFiles(c.dead); err != nil {
		return err
	}
	for _, seg := range c.dead {
		j.keep.obsolete = append(j.keep.obsolete, seg.name)
	}
	for _, name := range j.keep.obsolete {
		if err := removeIfThere(j.fsys, name); err != nil {
			return fmt.Errorf("remove %s: %w", name, err)
		}
	}
	j.keep.obsolete = nil
	return nil
}

// closeFiles closes the files of segments that are no longer among those of the
// job, once nobody reads from them.
func (j *Job) closeFiles(segs []*segment) error {
	j.readers.Lock()
	defer j.readers.Unlock()
	var errs []error
	for _, seg := range segs {
		errs = append(errs, seg.file.Close())
	}
	return errors.Join(errs...)
}
