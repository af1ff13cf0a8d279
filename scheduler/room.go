package scheduler

import (
	"errors"
	"time"

	"github.com/skeincrawl/skein/jobs"
)

// Reasons for which a job ends a crawl.
const (
	DiskFull    = "disk_full"    // nothing more fits on the disk
	JobTooLarge = "job_max_disk" // JOB_MAX_DISK is reached
)

// stopReason returns why a crawl has to end for what [jobs.Job.Room] says.
func stopReason(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, jobs.ErrDiskFull):
		return DiskFull
	}
	return JobTooLarge
}

// lookForRoom asks the job whether there is room for more.
func (f *Local) lookForRoom() {
	err := f.job.Room()
	if err == nil || f.stopFor == DiskFull {
		return
	}
	if f.stopFor == "" {
		f.report.log.Error().Err(err).Msg("The crawl stops, to go on when there is more room")
	}
	f.stopFor = stopReason(err)
}

// refuses reports whether an outcome does not fit on the disk: one that adds
// requests. What it stands for is done again when the job is resumed.
func (f *Local) refuses(o *Outcome, now time.Time) (bool, error) {
	if f.stopFor != DiskFull {
		return false, nil
	}
	l := f.leases[o.Key.Lease]
	switch o.Kind {
	case StartEntry, Enqueue:
		f.startCut = f.startCut || o.Kind == StartEntry
		return true, nil
	case StartEnded:
		return f.startCut, nil
	case Part:
		if l != nil {
			l.cut = true
		}
		return true, nil
	case Done:
		if l != nil && (len(o.Push) > 0 || l.cut) {
			return true, f.release(o.Key.Lease, now)
		}
	}
	return false, nil
}
