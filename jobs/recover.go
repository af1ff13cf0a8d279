package jobs

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
)

// Recovery says what [Job.Recover] found and did.
type Recovery struct {
	Warnings []string // one sentence each
	CutBytes int64    // taken off the end of the journal
	Clean    bool     // the last run was closed, or there was none
	Round    uint64   // the present one, from 1
	NewRound bool     // it has just been started
	Feeds    []FeedStart
}

// FeedStart says where a feed goes on.
type FeedStart struct {
	Length  int64 // in bytes; 0 for a feed that starts anew and for a pipe
	Foreign bool  // see Feed
}

// Recover makes journal and feeds agree, hands every operation since the
// beginning to visit, in order, and makes the job ready for transactions. A
// new or finished job gets a new round. The feeds keep their order: their
// index is the one of [Tx.Feed]. visit may be nil. An error of visit is
// returned, and the job can then only be closed.
func (j *Job) Recover(feeds []Feed, visit func(Op) error) (Recovery, error) {
	if j.phase != opened {
		return Recovery{}, fmt.Errorf("recover job %s: not just opened", j.dir)
	}
	j.phase = failed
	var r Recovery
	if err := j.recover(feeds, visit, &r); err != nil {
		return r, fmt.Errorf("recover job %s: %w", j.dir, err)
	}
	j.phase = running
	j.start()
	return r, nil
}

func (j *Job) recover(feeds []Feed, visit func(Op) error, r *Recovery) error {
	var err error
	if j.feeds, err = newFeeds(feeds); err != nil {
		return err
	}
	r.Clean = j.scan.clean || j.scan.round == 0
	r.NewRound = j.state != StateResumed && !j.edits
	j.finished, j.unclean = j.scan.finished && j.edits, !r.Clean
	if err := j.tidy(); err != nil {
		return err
	}
	if err := j.cutTail(r); err != nil {
		return err
	}
	if err := j.judgeFeeds(r); err != nil {
		return err
	}
	if err := j.matchFeeds(r); err != nil {
		return err
	}
	if err := j.cutFeeds(); err != nil {
		return err
	}
	if visit == nil {
		visit = func(Op) error { return nil }
	}
	if err := j.scan.replay(visit); err != nil {
		return err
	}
	return j.begin(r)
}

// tidy removes what belongs to the end of an earlier run.
func (j *Job) tidy() error {
	if err := mkdirAll(j.fsys, j.queue(), 0o700); err != nil {
		return err
	}
	for _, name := range append(j.scan.garbage, filepath.Join(j.queue(), activeFile), filepath.Join(j.queue(), packFile)) {
		if err := removeIfThere(j.fsys, name); err != nil {
			return err
		}
	}
	return j.removeOldQueue()
}

func (j *Job) cutTail(r *Recovery) error {
	s := j.scan
	r.CutBytes = s.cutBytes
	if s.cutBytes > 0 {
		r.Clean = false
		r.Warnings = append(r.Warnings, fmt.Sprintf(
			"the journal ends in %d bytes that no whole record can be read from, at %s: they were cut off", s.cutBytes, s.tailStart))
	}
	return s.cut()
}

// begin makes what was found durable, and writes the first frame of the run.
func (j *Job) begin(r *Recovery) error {
	s := j.scan
	for _, seg := range s.segs {
		if seg.lastSeq > s.durable {
			j.syncs.Add(1)
			if err := seg.file.Sync(); err != nil {
				return fmt.Errorf("sync %s: %w", seg.name, err)
			}
		}
	}
	s.voidAll()
	j.ledger, j.durable = s.ledger, s.lastSeq
	s.ledger = ledger{}
	if n := len(j.segs); n > 0 {
		j.tail = j.segs[n-1]
	}
	j.lastSeq = (s.lastSeq>>32+1)<<32 - 1
	j.round, j.newEntry = s.round, true
	j.startKeeping(s)
	if r.NewRound {
		j.round++
	}
	r.Round = j.round
	j.ioMu.Lock()
	defer j.ioMu.Unlock()
	if err := j.keepReserve(); err != nil {
		return err
	}
	if j.tail == nil || s.sealed {
		if err := j.addSegment(); err != nil {
			return err
		}
	}
	if err := j.firstFrame(r); err != nil {
		return err
	}
	j.scan = nil
	return j.shortenFeeds(r)
}

// firstFrame starts a round, names feeds, and marks all of them: from here on
// the past of the feeds is settled.
func (j *Job) firstFrame(r *Recovery) error {
	var ops []byte
	if r.NewRound {
		ops = appendRound(ops, j.round)
	}
	var marks []feedMark
	if !j.edits {
		marks = j.idleMarks()
	}
	for _, f := range j.feeds {
		if f.plain {
			continue
		}
		if f.fresh {
			if err := f.join(); err != nil {
				return err
			}
			ops = appendFeedName(ops, f.id, f.length, f.Name)
		}
		m, err := f.settle()
		if err != nil {
			return err
		}
		f.flushed, f.mark = f.length, m
		marks = append(marks, m)
	}
	ops = appendMark(ops, j.durable, marks)
	j.mu.Lock()
	j.addFrame(ops)
	j.mu.Unlock()
	if err := j.flushHeld(); err != nil {
		return err
	}
	if err := j.syncJournal(); err != nil {
		return err
	}
	j.durable = j.lastSeq
	if j.edits {
		return nil
	}
	j.manifest.Runs++
	j.manifest.Reason = ""
	return j.manifest.write(j.fsys, j.dir)
}

// idleMarks are the marks of the feeds that this run does not use.
func (j *Job) idleMarks() []feedMark {
	var marks []feedMark
	for _, st := range j.scan.feeds {
		if st != nil && !slices.ContainsFunc(j.feeds, func(f *feed) bool { return f.id == st.id }) {
			marks = append(marks, feedMark{id: st.id, length: st.length})
		}
	}
	return marks
}

// settle makes the present length of the sink durable and returns its mark.
func (f *feed) settle() (feedMark, error) {
	if f.length == 0 { // nothing may be there, or what is there is about to be cut off
		_, canRead := f.Sink.(io.ReaderAt)
		return feedMark{id: f.id, hasCRC: canRead}, nil
	}
	if err := f.Sink.Sync(); err != nil {
		return feedMark{}, fmt.Errorf("sync feed %s: %w", f.Name, err)
	}
	return f.markAt(f.length, nil)
}

// shortenFeeds empties the feeds that start anew and cuts the tail off those that
// the job has taken over. It comes after the first frame is durable: if a crash
// comes between them, the next recovery cuts these feeds to the length in it.
func (j *Job) shortenFeeds(r *Recovery) error {
	r.Feeds = make([]FeedStart, len(j.feeds))
	for i, f := range j.feeds {
		r.Feeds[i] = FeedStart{Length: f.length, Foreign: f.foreign}
		if f.plain || f.size <= f.length {
			continue
		}
		if err := f.cut(); err != nil {
			return err
		}
		if err := f.Sink.Sync(); err != nil {
			return fmt.Errorf("sync feed %s: %w", f.Name, err)
		}
	}
	return nil
}
