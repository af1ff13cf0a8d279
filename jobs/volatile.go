package jobs

import (
	"errors"
	"fmt"
)

// Volatile returns a job without a directory: it writes feeds, within the
// usual 10 ms of their commit, and nothing else. Only Feed and Commit of its
// transactions have an effect (Push returns the zero address), and of its own
// methods only Begin, Flush, Barrier, Stats and Close. A feed with Overwrite
// is emptied at once, and the tail of another cut off; an error in that is
// returned by the first Commit or Flush.
func Volatile(feeds []Feed) *Job {
	j := &Job{}
	j.init(Options{})
	if j.feeds, j.err = newFeeds(feeds); j.err == nil {
		j.err = j.openVolatile()
	}
	j.phase = running
	j.start()
	return j
}

func (j *Job) openVolatile() error {
	for _, f := range j.feeds {
		if _, err := f.measure(); err != nil {
			return err
		}
		if !f.Overwrite {
			if err := errors.Join(f.adopt(), f.join()); err != nil {
				return err
			}
		}
		if err := f.cut(); err != nil {
			return err
		}
	}
	return nil
}

// finishVolatile writes what is left and makes it durable where that can be.
func (j *Job) finishVolatile() error {
	j.ioMu.Lock()
	defer j.ioMu.Unlock()
	if err := j.flushHeld(); err != nil {
		return err
	}
	if err := j.endFeeds(); err != nil {
		return err
	}
	for _, f := range j.feeds {
		if !f.dirty {
			continue
		}
		if err := f.Sink.Sync(); err != nil {
			return fmt.Errorf("sync feed %s: %w", f.Name, err)
		}
	}
	return nil
}
