//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package jobs

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

func openLocked(name string) (*os.File, error) {
	return nil, fmt.Errorf("lock %s on %s: %w", name, runtime.GOOS, errors.ErrUnsupported)
}

func openLockedDir(string) (*os.File, error) { return nil, nil }
