//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package jobs

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// openLocked uses flock: it belongs to the open file, so it also refuses a
// second open by this process, and the kernel drops it when the owner dies.
func openLocked(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return f, flock(f)
}

// openLockedDir locks a directory itself, whatever becomes of the files in it.
// It returns nil where the file system has no such lock.
func openLockedDir(dir string) (*os.File, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := flock(d); errors.Is(err, ErrLocked) {
		return nil, err
	} else if err != nil {
		return nil, nil //nolint:nilerr,nilnil // the lock of the file has to do.
	}
	return d, nil
}

// Locked implements [Prober] with a lock that others may share.
func (osFS) Locked(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // nothing was written
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// flock locks a file, and closes it if that fails.
func flock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
			continue
		}
		name := f.Name()
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return ErrLocked
		}
		return fmt.Errorf("flock %s: %w", name, err)
	}
}
