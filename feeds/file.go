package feeds

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/skeincrawl/skein/jobs"
)

// A File is a sink on a local path. Nothing is created before the first Append,
// which makes the missing directories too. An Append that fails leaves nothing
// behind, if the disk lets it.
//
// A path that is no regular file (a device, a named pipe) can be written and
// nothing else: Size and Truncate answer errors.ErrUnsupported.
//
// It is safe for concurrent use. It must be the only writer of the file while
// it is in use.
type File struct {
	path string
	excl bool        // the file must be new
	perm fs.FileMode // of a new file, before umask

	skipEmpty bool // a clean end leaves no file without items

	mu      sync.Mutex
	f       *os.File // nil until it is needed
	plain   bool     // f is no regular file
	size    int64    // of a regular file
	pending []string // directories whose new entries are not durable
	emptied bool     // by Truncate
	failed  error    // of the last Append
	closed  bool
}

var (
	_ jobs.Sink   = (*File)(nil)
	_ io.ReaderAt = (*File)(nil)
	_ Closer      = (*File)(nil)
	_ jobs.Joiner = (*File)(nil)
)

// NewFile returns the sink of a path, without touching it.
func NewFile(path string) *File { return &File{path: path, perm: 0o666} }

// Append writes b at the end of the file.
func (f *File) Append(b []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed = f.open(true); f.failed == nil {
		f.failed = f.write(b)
	}
	return f.failed
}

func (f *File) write(b []byte) error {
	if f.plain {
		n, err := f.f.Write(b)
		return f.writeError(n, len(b), err)
	}
	if err := f.untouched(); err != nil {
		return err
	}
	n, err := f.f.WriteAt(b, f.size)
	if err != nil {
		return f.takeBack(len(b), err)
	}
	f.size += int64(n)
	return nil
}

// takeBack removes what a failed write has left, which os.File does not count.
func (f *File) takeBack(of int, err error) error {
	n := int64(0)
	if info, err := f.f.Stat(); err == nil {
		n = info.Size() - f.size
	}
	err = f.writeError(int(n), of, err)
	if n > 0 {
		err = errors.Join(err, f.f.Truncate(f.size))
	}
	return err
}

func (f *File) writeError(n, of int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write feed %s (%d of %d bytes): %w", f.path, n, of, pathless(err))
}

// pathless takes the path from an error whose message names it already.
func pathless(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// open opens the file, and makes it if create is set. It does nothing when it is
// open.
func (f *File) open(create bool) error {
	if f.f != nil {
		return nil
	}
	if f.closed {
		return fmt.Errorf("open feed %s: %w", f.path, fs.ErrClosed)
	}
	info, err := os.Stat(f.path)
	missing := errors.Is(err, fs.ErrNotExist)
	flags := os.O_RDWR
	switch {
	case err == nil && !info.Mode().IsRegular():
		flags, f.plain = os.O_WRONLY, true
	case missing && create:
		flags |= os.O_CREATE
		if err := f.makeParents(); err != nil {
			return err
		}
		if f.excl {
			flags |= os.O_EXCL
		}
	}
	if f.f, err = os.OpenFile(f.path, flags, f.perm); err != nil {
		f.f = nil
		return fmt.Errorf("open feed %s: %w", f.path, pathless(err))
	}
	if err := f.lock(); err != nil {
		return err
	}
	if missing {
		f.pending = append(f.pending, filepath.Dir(f.path))
	}
	return f.measure()
}

func (f *File) measure() error {
	if f.plain {
		return nil
	}
	info, err := f.f.Stat()
	if err != nil {
		return fmt.Errorf("measure feed %s: %w", f.path, pathless(err))
	}
	f.size = info.Size()
	return nil
}

// makeParents makes the missing directories and notes where they were entered.
func (f *File) makeParents() error {
	dir := filepath.Dir(f.path)
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil || d == filepath.Dir(d) {
			break
		}
		f.pending = append(f.pending, filepath.Dir(d))
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("make directory of feed %s: %w", f.path, err)
	}
	return nil
}

// Sync makes the file durable, and its name if it is new. It does nothing for a
// file that was never opened, and for a device or pipe.
func (f *File) Sync() error {
	f.mu.Lock()
	file, dirs, err := f.f, f.pending, f.present()
	if f.plain {
		file = nil
	}
	f.mu.Unlock()
	if file == nil || err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("sync feed %s: %w", f.path, pathless(err))
	}
	for _, d := range dirs {
		if err := syncDir(d); err != nil {
			return fmt.Errorf("sync directory of feed %s: %w", f.path, err)
		}
	}
	f.mu.Lock()
	f.pending = nil // it grows only before the file is open
	f.mu.Unlock()
	return nil
}

// Size returns the length of the file.
func (f *File) Size() (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.f != nil {
		return f.size, f.unmeasurable()
	}
	info, err := os.Stat(f.path)
	if err != nil {
		return 0, fmt.Errorf("measure feed %s: %w", f.path, pathless(err))
	}
	f.plain = !info.Mode().IsRegular()
	return info.Size(), f.unmeasurable()
}

func (f *File) unmeasurable() error {
	if !f.plain {
		return nil
	}
	return fmt.Errorf("feed %s is no regular file: %w", f.path, errors.ErrUnsupported)
}

// Truncate cuts the file to n bytes. It never makes it longer.
func (f *File) Truncate(n int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.open(false)
	if err == nil {
		err = f.unmeasurable()
	}
	if err != nil {
		return err
	}
	if n < 0 || n > f.size {
		return fmt.Errorf("cut feed %s to %d bytes: it has %d", f.path, n, f.size)
	}
	if err := f.f.Truncate(n); err != nil {
		return fmt.Errorf("cut feed %s to %d bytes: %w", f.path, n, pathless(err))
	}
	f.size, f.emptied = n, f.emptied || n == 0
	return nil
}

// ReadAt reads what was written (see [io.ReaderAt]).
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	err := f.open(false)
	if err == nil {
		err = f.unmeasurable()
	}
	file := f.f
	f.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return file.ReadAt(p, off)
}

// Close closes the file. A clean end leaves a file even if there was no item,
// unless FEED_STORE_EMPTY is off: then a file that was emptied goes. It returns
// the error of the last Append, if that failed; a second Close does nothing.
func (f *File) Close(clean bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	err := f.failed
	if clean && err == nil && !f.skipEmpty && !isThere(f.path) {
		err = f.open(true)
	}
	if err == nil {
		err = f.present()
	}
	f.closed = true
	if f.f == nil {
		return err
	}
	closeErr := f.f.Close()
	f.f = nil
	if closeErr != nil {
		closeErr = fmt.Errorf("close feed %s: %w", f.path, pathless(closeErr))
	}
	err = errors.Join(err, closeErr)
	if err == nil && clean && f.skipEmpty && f.emptied && f.size == 0 && !f.plain {
		err = os.Remove(f.path)
	}
	return err
}
