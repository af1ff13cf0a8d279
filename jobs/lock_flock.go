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
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrLocked
	}
	return nil, fmt.Errorf("flock %s: %w", name, err)
}
