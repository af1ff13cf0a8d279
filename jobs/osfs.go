package jobs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// OS returns the file system of the machine.
func OS() FS { return osFS{} }

type osFS struct{}

type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Rename(oldName, newName string) error { return os.Rename(oldName, newName) }

func (osFS) Remove(name string) error { return os.Remove(name) }

func (osFS) Mkdir(dir string, perm fs.FileMode) error { return os.Mkdir(dir, perm) }

func (osFS) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

func (osFS) SyncDir(dir string) error {
	if runtime.GOOS == "windows" { // cannot sync directories, and does not need it
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		_ = d.Close()
		return err
	}
	return d.Close()
}

// Lock locks the file and its directory: a lock file may be removed by someone
// who takes it for stale.
func (osFS) Lock(name string) (File, error) {
	f, err := openLocked(name)
	if err != nil {
		return nil, err
	}
	dir, err := openLockedDir(filepath.Dir(name))
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return lockedFile{osFile{f}, dir}, nil
}

// lockedFile is a lock file with its directory, nil if that is not locked.
type lockedFile struct {
	osFile
	dir *os.File
}

func (f lockedFile) Close() error {
	err := f.osFile.Close()
	if f.dir != nil {
		err = errors.Join(err, f.dir.Close())
	}
	return err
}

// mkdirAll makes the directory and its parents, each durably.
func mkdirAll(fsys FS, dir string, perm fs.FileMode) error {
	err := mkdir(fsys, dir, perm)
	parent := filepath.Dir(dir)
	if !isNotExist(err) || parent == dir {
		return err
	}
	if err := mkdirAll(fsys, parent, 0o755); err != nil {
		return err
	}
	return mkdir(fsys, dir, perm) // once: below a dangling link it fails again
}

func mkdir(fsys FS, dir string, perm fs.FileMode) error {
	err := fsys.Mkdir(dir, perm)
	switch {
	case err == nil:
		return fsys.SyncDir(filepath.Dir(dir))
	case isExist(err): // perhaps made by a process that was killed before the sync
		if err := fsys.SyncDir(filepath.Dir(dir)); !errors.Is(err, fs.ErrPermission) {
			return err
		}
		return nil
	}
	return err
}

func readFile(fsys FS, name string) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	n, err := f.ReadAt(b, 0)
	if n == len(b) {
		return b, nil
	}
	return nil, fmt.Errorf("read %s: %w", name, err)
}

// writeFileAtomic replaces a file so that a crash leaves the old or the new
// content, and returns when the new one is durable.
func writeFileAtomic(fsys FS, name string, content []byte) error {
	tmp := name + ".tmp"
	f, err := fsys.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(content, 0)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = fsys.Rename(tmp, name)
	}
	if err == nil {
		err = fsys.SyncDir(filepath.Dir(name))
	}
	return err
}

// removeIfThere removes a file that may be missing.
func removeIfThere(fsys FS, name string) error {
	if err := fsys.Remove(name); err != nil && !isNotExist(err) {
		return err
	}
	return nil
}
