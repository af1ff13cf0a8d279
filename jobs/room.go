package jobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const (
	reserveFile    = "reserve"
	defaultReserve = 512 << 10
)

// ErrDiskFull is what [Job.Room] returns once the disk was found full.
var ErrDiskFull = fmt.Errorf("the disk of the job is full: %w", syscall.ENOSPC)

// A LimitError says that a job has become larger than [Options.MaxDisk].
type LimitError struct{ Size, Limit int64 } // in bytes

// Error names both.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the job has %d bytes on the disk, more than its limit of %d", e.Size, e.Limit)
}

// room is what a job knows of its place on the disk. It is guarded by ioMu, but
// for full, which mu guards.
type room struct {
	reserved bool // the reserve is on the disk
	full     bool
}

// Room tells whether there is room for more. [ErrDiskFull] means that the disk
// was full, and that the reserve is being used: no step that adds requests must
// be committed any more, others may. A [LimitError] is no such need; it comes once
// snapshots (see [Job.SnapshotDue]) can make the journal no smaller.
func (j *Job) Room() error {
	if j.fsys == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.room.full {
		return ErrDiskFull
	}
	if j.keep.spent && j.tooLarge() {
		return &LimitError{j.diskSize(), j.opt.MaxDisk}
	}
	return nil
}

// tooLarge reports whether the journal is larger than it may be. The caller holds mu.
func (j *Job) tooLarge() bool { return j.opt.MaxDisk > 0 && j.diskSize() > j.opt.MaxDisk }

// diskSize returns how many bytes the journal takes. The caller holds mu.
func (j *Job) diskSize() int64 {
	size := j.keep.aside + j.keep.gone
	for _, seg := range j.segs {
		size += seg.size
	}
	return size
}

// keepReserve makes sure that there is a file to give up when the disk is full, so
// that what is in progress can still end. Without room for it the disk counts as
// full at once.
func (j *Job) keepReserve() error {
	if j.opt.Reserve < 0 {
		return nil
	}
	name := filepath.Join(j.queue(), reserveFile)
	f, err := j.fsys.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("make %s: %w", name, err)
	}
	size, err := f.Size()
	if err == nil && size < j.opt.Reserve {
		_, err = f.WriteAt(make([]byte, j.opt.Reserve-size), size)
		if err == nil {
			err = f.Sync()
		}
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		j.room.reserved = true
		return nil
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("make %s: %w", name, err)
	}
	j.setFull()
	return removeIfThere(j.fsys, name)
}

// dropReserve removes the reserve at the end of a run.
func (j *Job) dropReserve() error {
	if !j.room.reserved {
		return nil
	}
	j.room.reserved = false
	return removeIfThere(j.fsys, filepath.Join(j.queue(), reserveFile))
}

// relieve gives the reserve up if an error says that the disk is full, and
// reports whether it makes sense to try again.
func (j *Job) relieve(err error) bool {
	if !errors.Is(err, syscall.ENOSPC) || !j.room.reserved {
		return false
	}
	j.room.reserved = false
	j.setFull()
	return removeIfThere(j.fsys, filepath.Join(j.queue(), reserveFile)) == nil
}

func (j *Job) setFull() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.room.full = true
}

// keptBack tells whether an error of the keeper is only want of room: the job goes
// on without the snapshot, until it is stopped.
func (j *Job) keptBack(err error) bool {
	if !errors.Is(err, syscall.ENOSPC) || j.sticky() != nil {
		return false
	}
	j.setFull()
	for _, name := range []string{snapshotFile + ".tmp", packFile} {
		if removeIfThere(j.fsys, filepath.Join(j.queue(), name)) != nil {
			return false
		}
	}
	return true
}
