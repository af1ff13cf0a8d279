package downloader

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
)

// localFile is a file of this machine that is there when it is whole, and else not.
type localFile struct {
	name string
	part *os.File
}

// newLocalFile begins a file beside its place.
func newLocalFile(name string) (*localFile, error) {
	part, err := os.OpenFile(name+"."+rand.Text()[:8]+".part", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // less the umask, as a file of the user
	if err != nil {
		return nil, fileError(err)
	}
	return &localFile{name, part}, nil
}

// Write writes to the file. An error is named as one of this machine, not of the
// connection that is copied from.
func (f *localFile) Write(p []byte) (int, error) {
	n, err := f.part.Write(p)
	if err != nil {
		err = fileError(err)
	}
	return n, err
}

// copy writes what r holds, and returns how much that was. If there are more than
// limit bytes, the error is [ErrTooLarge]; a limit of 0 is none.
func (f *localFile) copy(r io.Reader, limit int64) (int64, error) {
	limit = bounded(limit)
	n, err := io.Copy(f, io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = ErrTooLarge
	}
	return n, err
}

// finish puts the file in its place, or removes it if there was an error, which it
// returns.
func (f *localFile) finish(err error) error {
	if closed := f.part.Close(); err == nil && closed != nil {
		err = fileError(closed)
	}
	if err == nil {
		if err = os.Rename(f.part.Name(), f.name); err == nil {
			return nil
		}
		err = fileError(err)
	}
	if left := os.Remove(f.part.Name()); left != nil {
		return errors.Join(err, left)
	}
	return err
}
