package scheduler_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
	"github.com/skeincrawl/skein/scheduler/schedulertest"
	"github.com/skeincrawl/skein/settings"
)

// memoryStore keeps a crawl in memory only.
type memoryStore struct{}

func (memoryStore) Open(_ testing.TB, r schedulertest.Run) (scheduler.Frontier, scheduler.Resume, error) {
	return openLocal(r, jobs.Volatile(nil))
}

func openLocal(r schedulertest.Run, job *jobs.Job) (scheduler.Frontier, scheduler.Resume, error) {
	f, resume, err := scheduler.NewLocal(scheduler.Deps{
		Env: r.Env, Slots: schedulertest.NewSlots(r.Limit, r.Delay), Job: job,
	}, settings.Decode[scheduler.Config](r.Env.Settings))
	if err != nil {
		return nil, resume, err
	}
	return f, resume, nil
}

// jobStore keeps a crawl in a job directory.
type jobStore struct {
	fs      jobs.FS
	dir     string
	crashed func(t testing.TB, s *jobStore)
	opt     jobs.Options
}

func (s *jobStore) Open(t testing.TB, r schedulertest.Run) (scheduler.Frontier, scheduler.Resume, error) {
	t.Helper()
	r.Env.JobDir = s.dir
	job, err := jobs.Open(s.fs, s.dir, jobs.Identity{Spider: "test"}, s.opt)
	if err != nil {
		t.Fatalf("open the job: %v", err)
	}
	return openLocal(r, job)
}

func (s *jobStore) Crash(t testing.TB) { s.crashed(t, s) }

// onDisk is a store in a directory of the machine. A crash goes on with a copy.
func onDisk(t testing.TB) schedulertest.Store {
	t.Helper()
	root, n := t.TempDir(), 0
	return &jobStore{fs: jobs.OS(), dir: filepath.Join(root, "0"), crashed: func(t testing.TB, s *jobStore) {
		t.Helper()
		n++
		dir := filepath.Join(root, strconv.Itoa(n))
		if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
			t.Fatal(err)
		}
		s.dir = dir
	}}
}

// onFaultFS is a store in a file system that shows after a crash what a killed
// process leaves.
func onFaultFS(testing.TB) schedulertest.Store {
	return &jobStore{fs: faultfs.New(), dir: "/crawls/x", crashed: func(_ testing.TB, s *jobStore) {
		s.fs = s.fs.(*faultfs.FS).Kill()
	}}
}

// stores are the openers by name.
func stores() map[string]schedulertest.Opener {
	return map[string]schedulertest.Opener{
		"memory":  func(testing.TB) schedulertest.Store { return memoryStore{} },
		"disk":    onDisk,
		"faultfs": onFaultFS,
	}
}
