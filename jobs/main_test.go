package jobs_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/skeincrawl/skein/jobs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const jobDir = "/crawls/x"

var errInjected = errors.New("injected")

// manual leaves all writing to Flush and Barrier.
func manual(segment int64) jobs.Options {
	return jobs.Options{SegmentSize: segment, FlushInterval: 1 << 60, Reserve: -1}
}

func identity() jobs.Identity {
	return jobs.Identity{
		Spider: "books", Args: map[string]string{"category": "poetry"},
		Fingerprinter: "default", Filter: "memory", QueueClass: "slots",
	}
}

// fileSink is a feed in a file.
type fileSink struct {
	fs     jobs.FS
	name   string
	f      jobs.File
	onSync func()
}

func (s *fileSink) open(flag int) error {
	if s.f != nil {
		return nil
	}
	f, err := s.fs.OpenFile(s.name, os.O_RDWR|flag, 0o600)
	if err == nil {
		s.f = f
	}
	return err
}

func (s *fileSink) Append(b []byte) error {
	if err := s.open(os.O_CREATE); err != nil {
		return err
	}
	size, err := s.f.Size()
	if err != nil {
		return err
	}
	_, err = s.f.WriteAt(b, size)
	return err
}

func (s *fileSink) Sync() error {
	if s.onSync != nil {
		s.onSync()
	}
	if err := s.open(0); err != nil {
		return err
	}
	if err := s.f.Sync(); err != nil {
		return err
	}
	return s.fs.SyncDir(filepath.Dir(s.name))
}

func (s *fileSink) Size() (int64, error) {
	if err := s.open(0); err != nil {
		return 0, err
	}
	return s.f.Size()
}

func (s *fileSink) Truncate(n int64) error {
	if err := s.open(0); err != nil {
		return err
	}
	return s.f.Truncate(n)
}

func (s *fileSink) ReadAt(b []byte, off int64) (int, error) {
	if err := s.open(0); err != nil {
		return 0, err
	}
	return s.f.ReadAt(b, off)
}

// pipe is a sink without a length.
type pipe struct {
	b   []byte
	err error
}

func (p *pipe) Append(b []byte) error {
	if p.err != nil {
		return p.err
	}
	p.b = append(p.b, b...)
	return nil
}
func (p *pipe) Sync() error          { return errors.New("a pipe cannot be synced") }
func (p *pipe) Size() (int64, error) { return 0, errors.ErrUnsupported }
func (p *pipe) Truncate(int64) error { return errors.ErrUnsupported }

func mustOpen(t testing.TB, fsys jobs.FS, opt jobs.Options) *jobs.Job {
	t.Helper()
	j, err := jobs.Open(fsys, jobDir, identity(), opt)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return j
}

func mustRecover(t testing.TB, j *jobs.Job, feeds []jobs.Feed, visit func(jobs.Op) error) jobs.Recovery {
	t.Helper()
	r, err := j.Recover(feeds, visit)
	if err != nil {
		t.Fatalf("Recover: %v", err)
	}
	return r
}

func mustCommit(t testing.TB, tx *jobs.Tx) {
	t.Helper()
	if err := tx.Commit(); err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

func mustClose(t testing.TB, j *jobs.Job, end jobs.End) {
	t.Helper()
	if err := j.Close(end); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

// abandon releases a job as a crash would, but for what the old file system
// sees of it.
func abandon(t testing.TB, j *jobs.Job) {
	t.Helper()
	if err := j.Close(jobs.End{}); err != nil && !errors.Is(err, errInjected) && !errors.Is(err, fs.ErrClosed) {
		t.Logf("closing the old job: %v", err)
	}
}

func content(t testing.TB, fsys jobs.FS, name string) string {
	t.Helper()
	s := fileSink{fs: fsys, name: name}
	n, err := s.Size()
	if errors.Is(err, errInjected) {
		n, err = s.Size()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, n)
	_, err = s.ReadAt(b, 0)
	if errors.Is(err, errInjected) { // comes once
		_, err = s.ReadAt(b, 0)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return string(b)
}
