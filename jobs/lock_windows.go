package jobs

import (
	"errors"
	"os"
	"syscall"
)

const errorSharingViolation = syscall.Errno(32)

// openLocked opens the file without sharing it for writing, which the kernel
// upholds until the handle is closed or the process ends.
func openLocked(name string) (*os.File, error) {
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(path, syscall.GENERIC_READ|syscall.GENERIC_WRITE,
		syscall.FILE_SHARE_READ, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errorSharingViolation) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// openLockedDir locks nothing: an open file can not be removed there.
func openLockedDir(string) (*os.File, error) { return nil, nil }
