package jobs

import (
	"errors"
	"fmt"
	"path/filepath"
)

// End says how a run ends.
type End struct {
	Reason string
	// Finished says that the round ran to its end: the next run starts a new
	// one. Otherwise the next run resumes.
	Finished bool
	// Active is the content of active.json, which shows people what is queued.
	// nil writes none.
	Active []byte
	// Fill makes a last snapshot, so that the job opens fast; see [Job.Snapshot].
	// nil makes none.
	Fill func(*Snapshot)
}

// Close ends the run: it writes and syncs all that is committed, ends the feeds
// with their tails, says in the journal that the end was clean, and releases the
// lock. A job that has failed, or was not recovered, is only released. The first
// Close counts; later ones return its result.
func (j *Job) Close(end End) error {
	if j.phase == closed {
		return j.closeErr
	}
	was := j.phase
	var err error
	if was == running {
		close(j.quit)
		j.wg.Wait()
		err = j.finish(end)
	}
	j.mu.Lock()
	j.phase = closed
	if j.err == nil {
		j.err = ErrClosed
	}
	j.mu.Unlock()
	if j.scan != nil {
		err = errors.Join(err, j.scan.close())
	}
	err = errors.Join(err, j.closeAll())
	if j.lock != nil {
		err = errors.Join(err, j.lock.Close())
	}
	if err != nil && j.dir != "" {
		err = fmt.Errorf("close job %s: %w", j.dir, err)
	}
	j.closeErr = err
	return err
}

// closeAll closes the files of the journal, once nobody reads from them.
func (j *Job) closeAll() error {
	j.readers.Lock()
	defer j.readers.Unlock()
	err := j.close()
	if j.keep.seen != nil {
		err = errors.Join(err, j.keep.seen.close(), j.keep.emitted.close())
	}
	return err
}

func (j *Job) finish(end End) error {
	if j.fsys == nil {
		return j.finishVolatile()
	}
	if err := j.sync(); err != nil {
		return err
	}
	if end.Fill != nil {
		j.captureWith(end.Fill)
	}
	if err := j.save(false); err != nil && !j.keptBack(err) {
		return err
	}
	if end.Active != nil {
		if err := writeFileAtomic(j.fsys, filepath.Join(j.queue(), activeFile), end.Active); err != nil {
			return fmt.Errorf("write %s: %w", activeFile, err)
		}
	}
	if err := j.endFeeds(); err != nil {
		return err
	}
	ends, err := j.feedEnds()
	if err != nil {
		return err
	}
	if err := j.lastFrame(end.Finished, ends); err != nil {
		return err
	}
	if err := j.dropReserve(); err != nil || j.edits {
		return err
	}
	j.manifest.Reason = end.Reason
	if err := j.manifest.write(j.fsys, j.dir); err != nil {
		return fmt.Errorf("write %s: %w", manifestFile, err)
	}
	return nil
}

// lastFrame says that the end was clean. The mark in it vouches for all before.
func (j *Job) lastFrame(finished bool, ends []feedMark) error {
	j.syncMu.Lock()
	defer j.syncMu.Unlock()
	var ops []byte
	if finished {
		ops = append(ops, byte(opFinished))
	}
	ops = appendMark(ops, j.durable, j.marks())
	if !j.edits || !j.unclean { // else the feeds are as the run before has left them
		ops = appendClose(ops, ends)
	}
	return j.syncMarked(ops)
}

// endFeeds writes what ends the feeds, behind what is committed. All else is in
// the sinks, and nothing writes any more.
func (j *Job) endFeeds() error {
	for _, f := range j.feeds {
		if err := f.end(); err != nil {
			return err
		}
	}
	return nil
}

// feedEnds returns the lengths of the sinks with their tails, made durable.
func (j *Job) feedEnds() ([]feedMark, error) {
	var ends []feedMark
	for _, f := range j.feeds {
		if f.plain {
			continue
		}
		missing, err := f.measure()
		if err != nil {
			return nil, err
		}
		if !missing && f.size != f.flushed {
			j.syncs.Add(1)
			if err := f.Sink.Sync(); err != nil {
				return nil, fmt.Errorf("sync feed %s: %w", f.Name, err)
			}
		}
		ends = append(ends, feedMark{id: f.id, length: f.size})
	}
	return ends, nil
}

// Reset forgets all that the job knows, so that the next run starts a first
// round. It must come before [Job.Recover]. A crash leaves the old job, or a
// new one.
func (j *Job) Reset() error {
	if j.phase != opened {
		return fmt.Errorf("reset job %s: not just opened", j.dir)
	}
	if err := j.reset(); err != nil {
		j.phase = failed
		return fmt.Errorf("reset job %s: %w", j.dir, err)
	}
	return nil
}

func (j *Job) reset() error {
	if err := j.removeOldQueue(); err != nil {
		return err
	}
	if err := j.scan.close(); err != nil {
		return err
	}
	// The rename is the moment at which the old job ends: without it the other
	// files mean nothing.
	err := j.fsys.Rename(j.queue(), filepath.Join(j.dir, oldQueue))
	if err != nil && !isNotExist(err) {
		return err
	}
	if err := j.fsys.SyncDir(j.dir); err != nil {
		return err
	}
	for _, name := range []string{seenFile, emittedFile, "spider.state"} {
		if err := removeIfThere(j.fsys, filepath.Join(j.dir, name)); err != nil {
			return err
		}
	}
	j.scan = &scan{fsys: j.fsys, jobDir: j.dir, dir: j.queue(), flag: readWrite}
	j.round, j.state = 0, StateNew
	j.manifest = newManifest(j.id)
	if err := j.manifest.write(j.fsys, j.dir); err != nil {
		return err
	}
	return j.removeOldQueue()
}

// removeOldQueue removes the journal that a reset has put aside.
func (j *Job) removeOldQueue() error {
	dir := filepath.Join(j.dir, oldQueue)
	names, err := j.fsys.List(dir)
	if isNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := j.fsys.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return j.fsys.Remove(dir)
}
