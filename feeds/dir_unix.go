//go:build unix

package feeds

import (
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
