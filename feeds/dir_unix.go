//go:build unix

package feeds

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// mayWrite reports why this process may not write to a file, or make files in a
// directory, without opening it.
func mayWrite(path string, dir bool) error {
	mode := uint32(unix.W_OK)
	if dir {
		mode |= unix.X_OK
	}
	return unix.Access(path, mode)
}

// syncDir makes the entries of a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if closeErr := d.Close(); err == nil {
		err = closeErr
	}
	return err
}

var errInUse = errors.New("another process is writing it")

// lockFile makes this process the only one that writes a file, until it closes
// it. Where the file system has no locks it does nothing.
func lockFile(f *os.File) error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return errInUse
	}
	return nil
}
