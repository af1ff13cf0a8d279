package jobs

import (
	"errors"
	"io"
	"io/fs"
)

// ErrLocked is returned by a [Locker] if another owner holds the lock.
var ErrLocked = errors.New("file is locked")

// FS is the file system that a job lives on. Names are paths as package
// path/filepath writes them. All methods may be called at once from several
// goroutines. Errors match fs.ErrNotExist, fs.ErrExist and the syscall errors
// as those of package os do.
type FS interface {
	Opener
	Mover
	Directory
	Locker
}

// Opener opens files.
type Opener interface {
	// OpenFile opens a file with the flags of package os. The caller closes it.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
}

// Mover changes directory entries. The changes are durable only after
// [Directory.SyncDir] of the directory.
type Mover interface {
	// Rename moves a file or directory, replacing a file that is there.
	Rename(oldName, newName string) error
	// Remove removes a file or an empty directory.
	Remove(name string) error
}

// Directory reads, makes and syncs directories.
type Directory interface {
	// List returns the names in a directory, sorted.
	List(dir string) ([]string, error)
	// Mkdir makes one directory whose parent exists.
	Mkdir(dir string, perm fs.FileMode) error
	// SyncDir makes the entries of a directory durable. It blocks for the disk.
	SyncDir(dir string) error
}

// Locker locks files against other processes and against this one.
type Locker interface {
	// Lock opens the file, creating it with mode 0600, and takes an exclusive
	// lock on it, or returns ErrLocked at once. Closing the file, or the end of
	// the process, releases the lock.
	Lock(name string) (File, error)
}

// Prober is a [Locker] that can tell whether a file is locked without keeping others
// who ask from their answer.
type Prober interface {
	// Locked reports whether somebody holds the lock. A file that is not there, or
	// can not be read, is not locked.
	Locked(name string) bool
}

// File is an open file. Reads may run beside one writer.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Syncer
	Sizer
}

// Syncer is the part of a [File] that makes its content and length durable.
type Syncer interface {
	// Sync blocks until the disk has it. After an error nothing is known about
	// what is on the disk: the caller must not go on writing.
	Sync() error
}

// Sizer is the part of a [File] that knows and changes its length.
type Sizer interface {
	// Size returns the length in bytes.
	Size() (int64, error)
	// Truncate sets the length in bytes.
	Truncate(size int64) error
}
