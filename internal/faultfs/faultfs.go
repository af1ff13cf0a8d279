// Package faultfs is a file system in memory that fails on demand: it can lose
// what was not synced, as a power cut does, run full, and return errors from
// chosen operations.
//
// It is stricter than most real file systems: syncing a file does not make its
// directory entry durable, and every 4-KiB block and every directory entry
// that was not synced is lost or kept on its own.
package faultfs

import (
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/skeincrawl/skein/jobs"
)

// FS is the file system. It may be used by several goroutines. The zero value
// is not usable; see New.
type FS struct {
	mu     sync.Mutex
	dirs   map[string]*dir // by clean path
	faults faults
	left   *FS // when the power was cut, nil before
}

var _ jobs.FS = (*FS)(nil)

// dir is a directory: what is seen, what is on the disk, and the changes that
// lie between them, in order.
type dir struct {
	entries map[string]*node
	durable map[string]*node
	pending []change
}

// change sets and removes entries at once; either name may be empty.
type change struct {
	set    string
	node   *node
	remove string
}

// node is a file, or stands for a directory.
type node struct {
	isDir  bool
	locked bool
	data   []byte
	disk   []byte // as of the last sync
	dirty  map[int64]bool
}

// New returns a file system that holds the root directory only.
func New() *FS {
	f := &FS{dirs: map[string]*dir{}, faults: newFaults()}
	f.dirs[string(filepath.Separator)] = newDir()
	return f
}

func newDir() *dir { return &dir{entries: map[string]*node{}, durable: map[string]*node{}} }

func (d *dir) apply(c change) {
	d.pending = append(d.pending, c)
	c.apply(d.entries)
}

func (c change) apply(entries map[string]*node) {
	if c.remove != "" {
		delete(entries, c.remove)
	}
	if c.set != "" {
		entries[c.set] = c.node
	}
}

// split returns the directory of a name, which must exist, and the last
// element. The caller holds mu.
func (f *FS) split(op, name string) (*dir, string, error) {
	name = filepath.Clean(name)
	parent := filepath.Dir(name)
	if d := f.dirs[parent]; d != nil {
		return d, filepath.Base(name), nil
	}
	for p := parent; p != filepath.Dir(p); p = filepath.Dir(p) {
		if d := f.dirs[filepath.Dir(p)]; d != nil && d.entries[filepath.Base(p)] != nil {
			return nil, "", &fs.PathError{Op: op, Path: name, Err: syscall.ENOTDIR}
		}
	}
	return nil, "", &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// OpenFile implements [jobs.Opener]. It knows os.O_CREATE, O_EXCL and O_TRUNC.
func (f *FS) OpenFile(name string, flag int, _ fs.FileMode) (jobs.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.open(name, flag)
	if err != nil {
		return nil, err
	}
	return &file{fs: f, name: name, node: n}, nil
}

func (f *FS) open(name string, flag int) (*node, error) {
	d, base, err := f.split("open", name)
	if err != nil {
		return nil, err
	}
	n := d.entries[base]
	if n == nil && flag&os.O_CREATE == 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if n != nil && flag&os.O_EXCL != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrExist}
	}
	if n != nil && n.isDir {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	}
	if n == nil {
		if err := f.faults.check(Create, name); err != nil {
			return nil, err
		}
		n = &node{dirty: map[int64]bool{}}
		d.apply(change{set: base, node: n})
		return n, nil
	}
	if err := f.faults.check(Open, name); err != nil {
		return nil, err
	}
	if flag&os.O_TRUNC != 0 {
		n.truncate(0)
	}
	return n, nil
}

// Rename implements [jobs.Mover]. A directory moves with what is in it.
func (f *FS) Rename(oldName, newName string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	oldName, newName = filepath.Clean(oldName), filepath.Clean(newName)
	from, oldBase, err := f.split("rename", oldName)
	if err != nil {
		return err
	}
	to, newBase, err := f.split("rename", newName)
	if err != nil {
		return err
	}
	n := from.entries[oldBase]
	switch {
	case n == nil:
		return &fs.PathError{Op: "rename", Path: oldName, Err: fs.ErrNotExist}
	case from != to:
		return &fs.PathError{Op: "rename", Path: oldName, Err: syscall.EXDEV}
	case to.entries[newBase] != nil && to.entries[newBase].isDir:
		return &fs.PathError{Op: "rename", Path: newName, Err: fs.ErrExist}
	}
	if err := f.faults.check(Rename, newName); err != nil {
		return err
	}
	from.apply(change{set: newBase, node: n, remove: oldBase})
	if n.isDir {
		f.dirs[newName] = f.dirs[oldName]
		delete(f.dirs, oldName)
	}
	return nil
}

// Remove implements [jobs.Mover].
func (f *FS) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, base, err := f.split("remove", name)
	if err != nil {
		return err
	}
	n := d.entries[base]
	if n == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	if n.isDir && len(f.dirs[filepath.Clean(name)].entries) > 0 {
		return &fs.PathError{Op: "remove", Path: name, Err: syscall.ENOTEMPTY}
	}
	if err := f.faults.check(Remove, name); err != nil {
		return err
	}
	d.apply(change{remove: base})
	f.faults.free(len(n.data))
	if n.isDir {
		delete(f.dirs, filepath.Clean(name))
	}
	return nil
}

// List implements [jobs.Directory].
func (f *FS) List(name string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, err := f.directory("list", name)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(d.entries)), nil
}

func (f *FS) directory(op, name string) (*dir, error) {
	if d := f.dirs[filepath.Clean(name)]; d != nil {
		return d, nil
	}
	d, base, err := f.split(op, name)
	if err != nil {
		return nil, err
	}
	if d.entries[base] != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: syscall.ENOTDIR}
	}
	return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// Mkdir implements [jobs.Directory].
func (f *FS) Mkdir(name string, _ fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, base, err := f.split("mkdir", name)
	if err != nil {
		return err
	}
	if d.entries[base] != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
	}
	if err := f.faults.check(Mkdir, name); err != nil {
		return err
	}
	d.apply(change{set: base, node: &node{isDir: true}})
	f.dirs[filepath.Clean(name)] = newDir()
	return nil
}

// SyncDir implements [jobs.Directory].
func (f *FS) SyncDir(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, err := f.directory("sync", name)
	if err != nil {
		return err
	}
	if err := f.faults.check(SyncDir, name); err != nil {
		return err
	}
	d.durable, d.pending = maps.Clone(d.entries), nil
	return nil
}

// Lock implements [jobs.Locker].
func (f *FS) Lock(name string) (jobs.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.faults.check(Lock, name); err != nil {
		return nil, err
	}
	n, err := f.open(name, os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if n.locked {
		return nil, jobs.ErrLocked
	}
	n.locked = true
	return &file{fs: f, name: name, node: n, lock: true}, nil
}

// ReadFile returns the content of a file.
func (f *FS) ReadFile(name string) ([]byte, error) {
	h, err := f.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	size, err := h.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	if _, err := h.ReadAt(b, 0); err != nil && err != io.EOF { //nolint:errorlint // as io.ReaderAt says
		return nil, err
	}
	return b, h.Close()
}

// WriteFile makes or replaces a file, not synced.
func (f *FS) WriteFile(name string, content []byte) error {
	h, err := f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := h.WriteAt(content, 0); err != nil {
		return err
	}
	return h.Close()
}
