package feeds

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// untouched reports whether the open file is as long as it was left. Writing on
// at the old place would hide that it was cut, behind a hole.
func (f *File) untouched() error {
	info, err := f.f.Stat()
	if err != nil {
		return fmt.Errorf("look at feed %s: %w", f.path, pathless(err))
	}
	if info.Size() != f.size {
		return fmt.Errorf("feed %s was changed by someone else while it was written: it has %d bytes, not %d", f.path, info.Size(), f.size)
	}
	return nil
}

// lock makes this process the only one that writes the file.
func (f *File) lock() error {
	if f.plain {
		return nil
	}
	if err := lockFile(f.f); err != nil {
		_ = f.f.Close()
		f.f = nil
		return fmt.Errorf("open feed %s: %w", f.path, err)
	}
	return nil
}

// present reports whether the path still leads to what was written, as it was
// written. Else the items since are lost, or what someone else wrote is about to
// be.
func (f *File) present() error {
	if f.f == nil || f.plain {
		return nil
	}
	info, err := f.f.Stat()
	if err != nil {
		return fmt.Errorf("look at feed %s: %w", f.path, pathless(err))
	}
	now, err := os.Stat(f.path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("look at feed %s: %w", f.path, pathless(err))
	case err != nil:
		return fmt.Errorf("feed %s was removed while it was written", f.path)
	case !os.SameFile(info, now):
		return fmt.Errorf("feed %s was replaced while it was written", f.path)
	}
	return f.untouched()
}

// Join ends the last line of a file that someone else has left without an end.
func (f *File) Join() (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.open(false); err != nil {
		return 0, err
	}
	if f.plain || f.size == 0 {
		return 0, nil
	}
	var last [1]byte
	if _, err := f.f.ReadAt(last[:], f.size-1); err != nil {
		return 0, fmt.Errorf("read feed %s: %w", f.path, pathless(err))
	}
	if last[0] == '\n' {
		return 0, nil
	}
	return 1, f.write([]byte{'\n'})
}
