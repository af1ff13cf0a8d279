package jobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// View is a job directory as it is at one moment, for who only looks at it. It
// takes no lock and changes nothing, so a crawl may go on in the directory
// meanwhile; what that crawl adds later is not in the view. It is used by one
// goroutine.
type View struct {
	dir      string
	fsys     FS
	manifest manifest
	scan     *scan
	read     bool
}

// Look opens a view of a job directory. Its errors match [ErrUnusable].
func Look(fsys FS, dir string) (*View, error) {
	v := &View{dir: filepath.Clean(dir), fsys: fsys}
	if f, err := fsys.OpenFile(filepath.Join(v.dir, repairMark), os.O_RDONLY, 0); err == nil {
		return nil, errors.Join(&UnfinishedRepairError{v.dir}, f.Close())
	}
	// A crawl may replace files between the look at their names and at them.
	const tries = 10
	var err error
	for range tries {
		if err = v.look(); err == nil {
			return v, nil
		}
		if damage := new(DamageError); !isNotExist(err) && !errors.As(err, &damage) {
			break
		}
	}
	return nil, v.unusable("read the journal", err)
}

func (v *View) look() (err error) {
	if v.manifest, err = findManifest(v.fsys, v.dir); err != nil {
		return err
	}
	if v.scan, err = scanJournal(v.fsys, v.dir, os.O_RDONLY); err != nil {
		return err
	}
	err = missingJournal(v.fsys, v.dir, &v.manifest, v.State())
	if err != nil {
		err = errors.Join(err, v.scan.close())
	}
	return err
}

func (v *View) unusable(op string, err error) error {
	if errors.Is(err, ErrUnusable) {
		return err
	}
	return &AccessError{Dir: v.dir, Op: op, Err: err}
}

// Identity returns what the directory was made with.
func (v *View) Identity() Identity { return v.manifest.identity() }

// Info returns what the manifest says of the past.
func (v *View) Info() Info { return v.manifest.info() }

// State tells how the last run left the job. It is [StateResumed] while one goes
// on.
func (v *View) State() State { return v.scan.state() }

// Round returns the number of the present round, 0 if there was none.
func (v *View) Round() uint64 { return v.scan.round }

// Torn returns how many bytes at the end of the journal are no whole record. While
// a crawl goes on there may be some.
func (v *View) Torn() int64 { return v.scan.cutBytes }

// FeedLength is how long a feed is by the journal.
type FeedLength struct {
	Name   string
	Length int64 // in bytes
}

// Feeds returns the feeds of the job.
func (v *View) Feeds() []FeedLength {
	var all []FeedLength
	for _, f := range v.scan.feeds {
		if f != nil {
			all = append(all, FeedLength{f.name, f.length})
		}
	}
	return all
}

// Usage returns how many files the job directory has, and their size in bytes.
func (v *View) Usage() (files int, bytes int64, err error) {
	for _, dir := range []string{v.dir, filepath.Join(v.dir, queueDir)} {
		names, err := v.fsys.List(dir)
		if err != nil && !isNotExist(err) {
			return files, bytes, fmt.Errorf("list %s: %w", dir, err)
		}
		for _, name := range slices.DeleteFunc(names, func(n string) bool { return n == queueDir || n == oldQueue }) {
			files++
			bytes += fileSize(v.fsys, filepath.Join(dir, name))
		}
	}
	return files, bytes, nil
}

// fileSize is 0 for a file that went away.
func fileSize(fsys FS, name string) int64 {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return 0
	}
	defer f.Close() //nolint:errcheck // nothing was written
	size, _ := f.Size()
	return size
}

// Visit hands out all operations, as [Job.Recover] does. It may be called once.
func (v *View) Visit(visit func(Op) error) error {
	if v.read {
		return fmt.Errorf("read job %s: it was read already", v.dir)
	}
	v.read = true
	if err := v.scan.replay(visit); err != nil {
		return fmt.Errorf("read job %s: %w", v.dir, err)
	}
	return nil
}

// Read appends the body of a record to dst, after Visit. On an error dst is
// returned unchanged.
func (v *View) Read(a Addr, dst []byte) ([]byte, error) {
	seg, place, ok := v.scan.find(a)
	if !ok {
		return dst, fmt.Errorf("read record %v: no such record", a)
	}
	return readBody(seg, a, int64(seg.offsets[place]), dst)
}

// Close closes the view.
func (v *View) Close() error { return v.scan.close() }

// Owner returns who has the job directory open, nil if nobody has.
func Owner(fsys FS, dir string) *InUseError {
	name := filepath.Join(dir, lockFile)
	if p, ok := fsys.(Prober); ok {
		if !p.Locked(name) {
			return nil
		}
		return readOwner(fsys, dir, name)
	}
	lock, err := fsys.Lock(name)
	if errors.Is(err, ErrLocked) {
		return readOwner(fsys, dir, name)
	}
	if err == nil {
		_ = lock.Close()
	}
	return nil
}
