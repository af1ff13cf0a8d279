package jobs

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// ErrUnusable is matched (errors.Is) by every error of [Open] that says that
// the job directory cannot be used as it is.
var ErrUnusable = errors.New("job directory is unusable")

// ErrClosed is returned by operations on a closed job.
var ErrClosed = errors.New("job is closed")

// InUseError says that another process, or this one, has the job open.
type InUseError struct {
	Dir  string
	PID  int    // 0 if unknown
	Host string // empty if unknown
}

// Error names the owner as far as it is known.
func (e *InUseError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("job directory %s is in use by another process", e.Dir)
	}
	return fmt.Sprintf("job directory %s is in use by process %d on host %s", e.Dir, e.PID, e.Host)
}

// Is matches [ErrUnusable].
func (e *InUseError) Is(target error) bool { return target == ErrUnusable }

// MismatchError says that the directory belongs to another crawl.
type MismatchError struct {
	Dir  string
	What string // such as "spider" or "argument category"
	Have string // the value that the directory was made with
	Want string // the value asked for
}

// SecretPrefix begins the value of an argument that is the hash of a secret.
const SecretPrefix = "secret:"

// notGiven is the value of an argument that was not given.
const notGiven = "(not given)"

// Error names both values, but for those of secrets.
func (e *MismatchError) Error() string {
	secret := strings.Contains(e.Have+e.Want, SecretPrefix)
	switch {
	case e.Want == notGiven:
		return fmt.Sprintf("job directory %s was made with %s, which is missing now: use another directory or the same value", e.Dir, e.What)
	case e.Have == notGiven:
		return fmt.Sprintf("job directory %s was made without %s: use another directory, or leave it out", e.Dir, e.What)
	case secret:
		return fmt.Sprintf("job directory %s was made with another value of %s: use another directory or the same value", e.Dir, e.What)
	}
	return fmt.Sprintf("job directory %s was made with %s %s, not %s: use another directory or the same value",
		e.Dir, e.What, e.Have, e.Want)
}

// Is matches [ErrUnusable].
func (e *MismatchError) Is(target error) bool { return target == ErrUnusable }

// VersionError says that another version of the program wrote the directory.
type VersionError struct {
	File string
	What string // such as "format version 9"
	Old  bool   // an earlier one did
}

func versionError(file string, version uint32) *VersionError {
	return &VersionError{File: file, What: fmt.Sprintf("format version %d", version), Old: version < formatVersion}
}

// Error says what does not fit.
func (e *VersionError) Error() string {
	if e.Old {
		return fmt.Sprintf("%s has %s, of an earlier program (this one knows format version %d): finish the job with that one, or begin in another directory",
			e.File, e.What, formatVersion)
	}
	return fmt.Sprintf("%s has %s, which this program does not know (it knows format version %d): use a newer one",
		e.File, e.What, formatVersion)
}

// Is matches [ErrUnusable].
func (e *VersionError) Is(target error) bool { return target == ErrUnusable }

// DamageError says that bytes which were once safely on the disk are not
// readable any more.
type DamageError struct {
	File   string
	Offset int64 // in bytes
	Reason string
}

// Error names the place.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%s is damaged at offset %d: %s", e.File, e.Offset, e.Reason)
}

// Is matches [ErrUnusable].
func (e *DamageError) Is(target error) bool { return target == ErrUnusable }

// ForeignError says that the directory holds something that is not a job.
type ForeignError struct {
	Dir   string
	Entry string // a name found there
	Owner string // what it looks like
}

// Error names what was found.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("directory %s is not a job directory: it holds %s (%s): use a new or an empty directory",
		e.Dir, e.Entry, e.Owner)
}

// Is matches [ErrUnusable].
func (e *ForeignError) Is(target error) bool { return target == ErrUnusable }

// UnfinishedRepairError says that a repair was interrupted while it put its files in
// their place.
type UnfinishedRepairError struct{ Dir string }

// Error says how to go on.
func (e *UnfinishedRepairError) Error() string {
	return fmt.Sprintf("a repair of job directory %s was interrupted: `crawl job repair %[1]s` ends it", e.Dir)
}

// Is matches [ErrUnusable].
func (e *UnfinishedRepairError) Is(target error) bool { return target == ErrUnusable }

// NoJobError says that there is no job in a directory.
type NoJobError struct{ Dir string }

// Error says what is missing.
func (e *NoJobError) Error() string {
	return fmt.Sprintf("there is no job in %s: it has no %s", e.Dir, manifestFile)
}

// Is matches [ErrUnusable].
func (e *NoJobError) Is(target error) bool { return target == ErrUnusable }

// AccessError says that the directory cannot be made, read or written.
type AccessError struct {
	Dir string
	Op  string
	Err error
}

// Error says what was attempted.
func (e *AccessError) Error() string {
	return fmt.Sprintf("job directory %s cannot be used: %s: %v", e.Dir, e.Op, e.Err)
}

// Is matches [ErrUnusable].
func (e *AccessError) Is(target error) bool { return target == ErrUnusable }

// Unwrap returns the cause.
func (e *AccessError) Unwrap() error { return e.Err }

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func isExist(err error) bool { return errors.Is(err, fs.ErrExist) }
