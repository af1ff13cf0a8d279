package feeds

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Check tells whether a feed can be written, as far as that can be told without
// making or changing anything: a missing directory is made by the first write,
// and that the disk is full only a write tells. The error is a [TargetError].
func Check(t Target) error { return check(t, t.Overwrite) }

// check looks at the directory too if the feed is to be a new file in place of
// an old one.
func check(t Target, replace bool) error {
	if t.Path == "" {
		return nil
	}
	path := resolve(t.Path)
	err := checkFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && replace && replaceable(path) {
		err = checkParent(path)
	}
	if err != nil {
		return &TargetError{Target: t.URI, Err: err}
	}
	return nil
}

func checkFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil && isNotDir(path):
		return fs.ErrNotExist // a parent is a file, which checkParent tells
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a directory")
	case info.Mode()&fs.ModeSocket != 0:
		return errors.New("it is a socket")
	case !info.Mode().IsRegular(): // opening a pipe would wait for its reader
		return cannot("write to it", mayWrite(path, false))
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return cannot("write to it", pathless(err))
	}
	return errors.Join(cannot("write to it", lockFile(f)), f.Close())
}

// checkParent finds the directory in which the first write will make something.
func checkParent(path string) error {
	dir := existingParent(path)
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is a file, not a directory", dir)
	}
	return cannot("make files in "+dir, mayWrite(dir, true))
}

func cannot(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot %s: %w", what, err)
}

// existingParent returns the nearest directory above path that exists, or the
// file that is in its place.
func existingParent(path string) string {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
	}
}

// isNotDir reports whether something on the way to path is a file.
func isNotDir(path string) bool {
	info, err := os.Stat(existingParent(path))
	return err == nil && !info.IsDir()
}

// resolve returns the absolute path of what a path leads to, with the symbolic
// links of all that exists followed.
func resolve(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	for range 40 { // as many links as Linux follows
		if followed, err := filepath.EvalSymlinks(abs); err == nil {
			return followed
		}
		to, err := os.Readlink(abs)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) { // a link to what does not exist yet
			to = filepath.Join(filepath.Dir(abs), to)
		}
		abs = to
	}
	parent := existingParent(abs)
	followed, err := filepath.EvalSymlinks(parent)
	if err != nil {
		return abs
	}
	rest, err := filepath.Rel(parent, abs)
	if err != nil {
		return abs
	}
	return filepath.Join(followed, rest)
}
