package jobs

import "fmt"

// sync makes all that is committed durable, with a mark.
func (j *Job) sync() error {
	j.syncMu.Lock()
	defer j.syncMu.Unlock()
	dirty, marks, err := j.beforeSync()
	if err != nil || dirty == nil {
		return err
	}
	if err := j.syncFeeds(dirty, marks); err != nil {
		return j.fail(err)
	}
	return j.syncMarked(appendMark(nil, j.durable, j.marks()))
}

// beforeSync flushes and notes how long the feeds are. It returns nil if there
// is nothing to sync.
func (j *Job) beforeSync() (dirty []*feed, lengths []int64, err error) {
	j.ioMu.Lock()
	defer j.ioMu.Unlock()
	if err := j.flushHeld(); err != nil || !j.unsynced {
		return nil, nil, err
	}
	j.unsynced = false
	dirty = make([]*feed, 0, len(j.feeds))
	for _, f := range j.feeds {
		if f.dirty && !f.plain {
			f.dirty = false
			dirty = append(dirty, f)
			lengths = append(lengths, f.flushed)
		}
	}
	return dirty, lengths, nil
}

// syncFeeds runs beside commits and flushes.
func (j *Job) syncFeeds(dirty []*feed, lengths []int64) error {
	if j.markBuf == nil && len(dirty) > 0 {
		j.markBuf = make([]byte, markWindow)
	}
	for i, f := range dirty {
		j.syncs.Add(1)
		if err := f.Sink.Sync(); err != nil {
			return fmt.Errorf("sync feed %s: %w", f.Name, err)
		}
		m, err := f.markAt(lengths[i], j.markBuf)
		if err != nil {
			return err
		}
		f.mark = m
	}
	return nil
}

func (j *Job) marks() []feedMark {
	marks := make([]feedMark, 0, len(j.feeds))
	for _, f := range j.feeds {
		if !f.plain {
			marks = append(marks, f.mark)
		}
	}
	return marks
}

// syncMarked writes a frame with a mark, and then makes the journal durable
// with it. The caller holds syncMu.
func (j *Job) syncMarked(ops []byte) error {
	j.ioMu.Lock()
	j.mu.Lock()
	if j.err != nil {
		defer j.ioMu.Unlock()
		defer j.mu.Unlock()
		return j.err
	}
	j.addFrame(ops)
	last := j.lastSeq
	j.mu.Unlock()
	err := j.flushHeld()
	j.unsynced = false
	for _, f := range j.feeds {
		j.unsynced = j.unsynced || f.dirty
	}
	segs, entry := j.takeDirty()
	j.ioMu.Unlock()
	if err == nil {
		err = j.force(segs, entry)
	}
	if err != nil {
		return j.fail(err)
	}
	j.durable = last
	return nil
}

// takeDirty returns the segments to sync, in order, and whether the directory
// is to be synced. The caller holds ioMu.
func (j *Job) takeDirty() (segs []*segment, entry bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, seg := range j.segs {
		if seg.dirty {
			seg.dirty = false
			segs = append(segs, seg)
		}
	}
	entry, j.newEntry = j.newEntry, false
	return segs, entry
}

// force syncs segments in order, so that the durable journal has no hole, and
// then the directory if it has a new entry: without it a synced segment could
// still vanish.
func (j *Job) force(segs []*segment, entry bool) error {
	for _, seg := range segs {
		j.syncs.Add(1)
		if err := seg.file.Sync(); err != nil {
			return fmt.Errorf("sync journal %s: %w", seg.name, err)
		}
	}
	if !entry {
		return nil
	}
	j.syncs.Add(1)
	if err := j.fsys.SyncDir(j.queue()); err != nil {
		return fmt.Errorf("sync directory %s: %w", j.queue(), err)
	}
	return nil
}

// syncJournal makes the journal durable. The caller holds ioMu.
func (j *Job) syncJournal() error {
	segs, entry := j.takeDirty()
	j.unsynced = false
	return j.force(segs, entry)
}
