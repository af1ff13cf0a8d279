package feeds

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/skeincrawl/skein/jobs"
)

// An Overwriter is a sink that replaces a file as a whole: it writes a temporary
// file beside it, which a clean Close renames. Until then, and after any other
// end, the old file is as it was; the temporary one is then left for the user,
// see [Overwriter.TempPath].
//
// It has no job that goes on with it: under a job directory use [File].
type Overwriter struct {
	File
	path string // to be replaced
}

var (
	_ jobs.Sink = (*Overwriter)(nil)
	_ Closer    = (*Overwriter)(nil)
)

// NewOverwriter returns the sink that replaces the file at a path, or the one
// that a symbolic link there leads to. The new file gets the permissions of the
// old one.
func NewOverwriter(path string) *Overwriter {
	path = resolve(path)
	temp := fmt.Sprintf(".%s.%016x.tmp", filepath.Base(path), rand.Uint64())
	return &Overwriter{path: path, File: File{path: filepath.Join(filepath.Dir(path), temp), excl: true, perm: 0o666}}
}

// TempPath returns the path of the temporary file.
func (o *Overwriter) TempPath() string { return o.File.path }

// Close puts the new file in place of the old one if clean is set. Without an
// item it does not do so if FEED_STORE_EMPTY is off.
func (o *Overwriter) Close(clean bool) error {
	o.mu.Lock()
	closed, failed := o.closed, o.failed != nil
	o.mu.Unlock()
	if closed {
		return nil
	}
	clean = clean && !failed
	if clean && o.skipEmpty && !isThere(o.File.path) {
		return o.File.Close(false) // no item, no file: the old one stays
	}
	var err error
	if clean {
		err = o.prepare()
	}
	if err = errors.Join(err, o.File.Close(false)); err != nil || !clean {
		return err
	}
	if err := os.Rename(o.File.path, o.path); err != nil {
		return fmt.Errorf("replace feed %s by %s: %w", o.path, o.File.path, err)
	}
	if err := syncDir(filepath.Dir(o.path)); err != nil {
		return fmt.Errorf("sync directory of feed %s: %w", o.path, err)
	}
	return nil
}

// prepare makes the new file complete and durable before it takes the place of
// the old one. A feed without items is an empty file.
func (o *Overwriter) prepare() error {
	o.mu.Lock()
	err := o.open(true)
	o.mu.Unlock()
	if err != nil {
		return err
	}
	if info, err := os.Stat(o.path); err == nil {
		if err := os.Chmod(o.File.path, info.Mode().Perm()); err != nil {
			return fmt.Errorf("set permissions of feed %s: %w", o.path, err)
		}
	}
	return o.Sync()
}
