package scheduler_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
	"github.com/skeincrawl/skein/scheduler/schedulertest"
)

// memorable are slots that get what an earlier run kept: one of them is held.
type memorable struct {
	*schedulertest.Slots
	held  string
	asked bool // whether a slot is ready
	late  bool // Restore came after that
	err   error
}

func (m *memorable) Ready(slot string, now time.Time) (bool, time.Time) {
	m.asked = true
	if slot == m.held {
		return false, now.Add(time.Hour)
	}
	return m.Slots.Ready(slot, now)
}

func (m *memorable) Restore(notes map[string][]byte, _ time.Time) error {
	m.held, m.late = string(notes["slots"]), m.asked
	return m.err
}

// openKept opens a frontier on a job and returns what it resumes with.
func openKept(t *testing.T, fs jobs.FS, slots scheduler.Slots, log *bytes.Buffer) (scheduler.Frontier, scheduler.Resume) {
	t.Helper()
	env := newEnv(t)
	env.JobDir, env.Log = "/x", zerolog.New(log)
	job, err := jobs.Open(fs, "/x", jobs.Identity{}, jobs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	construct, err := scheduler.Frontiers.Lookup("default")
	if err != nil {
		t.Fatal(err)
	}
	open, err := construct(env)
	if err != nil {
		t.Fatal(err)
	}
	f, resume, err := open(t.Context(), scheduler.Deps{Env: env, Slots: slots, Job: job})
	if err != nil {
		t.Fatal(err)
	}
	return f, resume
}

// The slots get what the job kept before the frontier asks them anything: a slot
// that a server wants to rest must not count as ready.
func TestSlotsAreRestoredFirst(t *testing.T) {
	t.Parallel()
	fs := faultfs.New()
	f := openOn(t, fs, jobs.Options{})
	outcomes := []scheduler.Outcome{
		startOutcome(1, "held", &crawl.Request{URL: "1"}), startOutcome(2, "free", &crawl.Request{URL: "2"}),
		{Kind: scheduler.Notes, Notes: []crawl.Note{{Key: "slots", Value: []byte("held")}}},
	}
	if _, err := f.Step(t.Context(), nil, outcomes, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(t.Context(), "shutdown"); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{nil, errors.New("of another version")} {
		var log bytes.Buffer
		slots := &memorable{Slots: schedulertest.NewSlots(8, 0), err: err}
		f, _ := openKept(t, fs, slots, &log)
		g, serr := f.Step(t.Context(), nil, nil, 9)
		if serr != nil || len(g.Leases) != 1 || g.Leases[0].Slot != "free" || slots.late {
			t.Errorf("%+v, %v, restored late: %v; want the request of the free slot", g, serr, slots.late)
		}
		if got := bytes.Contains(log.Bytes(), []byte("of another version")); got != (err != nil) {
			t.Errorf("log %s", log.String())
		}
		if err := f.Close(t.Context(), "shutdown"); err != nil {
			t.Fatal(err)
		}
	}
}

// The cookies that a run resumes with are those that are left, not all that ever
// were.
func TestResumedCookiesAreFolded(t *testing.T) {
	t.Parallel()
	const n = 20_000 // more than a megabyte of changes
	fs := faultfs.New()
	f := openOn(t, fs, jobs.Options{})
	line := func(i int) []byte {
		return fmt.Appendf(nil, `{"name":"session","value":"%060d","domain":"a.test","path":"/"}`+"\n", i)
	}
	var outcomes []scheduler.Outcome
	for i := range n {
		outcomes = append(outcomes, scheduler.Outcome{Key: scheduler.Key{Ordinal: uint64(i + 1)}, Kind: scheduler.StartEntry, Cookies: line(i)})
	}
	expired := []byte(`{"name":"old","value":"1","domain":"a.test","path":"/","expires":1}` + "\n")
	outcomes = append(outcomes, scheduler.Outcome{Key: scheduler.Key{Ordinal: n + 1}, Kind: scheduler.StartEntry, Cookies: expired})
	if _, err := f.Step(t.Context(), nil, outcomes, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(t.Context(), "shutdown"); err != nil {
		t.Fatal(err)
	}
	f, resume := openKept(t, fs, schedulertest.NewSlots(1, 0), new(bytes.Buffer))
	if want := line(n - 1); !bytes.Equal(resume.Cookies, want) {
		t.Errorf("resumed with %d bytes of cookies, want %s", len(resume.Cookies), want)
	}
	if err := f.Close(t.Context(), "shutdown"); err != nil {
		t.Fatal(err)
	}
}
