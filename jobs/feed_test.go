package jobs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
)

const feedPath = "/items.jl"

// feedRun runs a life that adds items to the feed, with a barrier behind the
// first of them.
func feedRun(t *testing.T, fsys jobs.FS, overwrite bool, items ...string) (*jobs.Job, *fileSink, jobs.Recovery) {
	t.Helper()
	j := mustOpen(t, fsys, manual(0))
	sink := &fileSink{fs: fsys, name: feedPath}
	r := mustRecover(t, j, []jobs.Feed{{Name: "items", Sink: sink, Overwrite: overwrite}}, nil)
	for i, item := range items {
		tx := j.Begin()
		tx.Feed(0, []byte(item))
		mustCommit(t, tx)
		if i == 0 {
			if err := j.Barrier(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := j.Flush(); err != nil {
		t.Fatal(err)
	}
	return j, sink, r
}

// TestFeedAtRecovery shows each rule of the feeds: what is in the file when the
// next run starts, and what it does about it.
func TestFeedAtRecovery(t *testing.T) {
	t.Parallel()
	const one, two = "{\"n\":1}\n", "{\"n\":2}\n"
	resume, finished := &jobs.End{Reason: "shutdown"}, &jobs.End{Reason: "finished", Finished: true}
	for name, c := range map[string]struct {
		end       *jobs.End // nil: killed
		tail      string    // written by the feed itself before the close
		change    string    // what is put in its place afterwards; "-" removes it, "" leaves it
		overwrite bool
		want      string // in the file after the next run has added "new"
		foreign   bool
		warning   string
	}{
		"killed":                    {want: one + two + "new"},
		"killed, uncommitted bytes": {change: one + two + "{\"n\":", want: one + two + "new"},
		"killed, bytes lost":        {change: one + "{\"n", want: one + "new", warning: "has lost bytes behind byte 8"},
		"killed, bytes changed":     {change: one + "{\"n\":\x00\x00\n", want: one + "new", warning: "has lost bytes"},
		"killed, missing":           {change: "-", want: "new", foreign: true, warning: "is missing"},
		"killed, shorter":           {change: one[:3], want: one[:3] + "new", foreign: true, warning: "has 3 bytes, fewer than the 8"},
		"killed, other":             {change: "{\"m\":1}\n" + two + "x", want: "{\"m\":1}\n" + two + "xnew", foreign: true, warning: "differs"},
		"killed, overwrite":         {overwrite: true, want: one + two + "new"},
		"closed":                    {end: resume, want: one + two + "new"},
		"closed, tail":              {end: resume, tail: "]\n", want: one + two + "new"},
		"closed, tail gone":         {end: resume, tail: "]\n", change: one + two, want: one + two + "new"},
		"closed, continued":         {end: resume, change: one + two + "mine\n", want: one + two + "mine\nnew", foreign: true, warning: "was continued by someone else"},
		"closed, shorter":           {end: resume, change: one, want: one + "new", foreign: true, warning: "has 8 bytes, fewer than the 16"},
		"finished":                  {end: finished, want: one + two + "new"},
		"finished, tail":            {end: finished, tail: "]\n", want: one + two + "new"},
		"finished, overwrite":       {end: finished, overwrite: true, want: "new"},
		"finished, overwrite other": {end: finished, change: "other", overwrite: true, want: "new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := faultfs.New()
			j, sink, _ := feedRun(t, fsys, false, one, two)
			if c.end == nil {
				killed := fsys.Kill()
				abandon(t, j)
				fsys = killed
			} else {
				if err := sink.Append([]byte(c.tail)); err != nil {
					t.Fatal(err)
				}
				mustClose(t, j, *c.end)
			}
			var err error
			switch c.change {
			case "":
			case "-":
				err = fsys.Remove(feedPath)
			default:
				err = fsys.WriteFile(feedPath, []byte(c.change))
			}
			if err != nil {
				t.Fatal(err)
			}
			j, _, r := feedRun(t, fsys, c.overwrite, "new")
			if got := content(t, fsys, feedPath); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if r.Feeds[0].Foreign != c.foreign || r.Feeds[0].Length != int64(len(c.want)-3) {
				t.Errorf("got %+v, want foreign %v, length %d", r.Feeds[0], c.foreign, len(c.want)-3)
			}
			if got := strings.Join(r.Warnings, "; "); !strings.Contains(got, c.warning) || c.warning == "" && got != "" {
				t.Errorf("got warnings %q, want %q", got, c.warning)
			}
			mustClose(t, j, jobs.End{})
			j, _, r = feedRun(t, fsys, false)
			if len(r.Warnings) > 0 || content(t, fsys, feedPath) != c.want {
				t.Errorf("third run: got %q, %v, want %q", content(t, fsys, feedPath), r.Warnings, c.want)
			}
			mustClose(t, j, jobs.End{})
		})
	}
}

// TestNewFeed: a feed that the job does not know gets new items only, at its
// present end, and is not emptied on a resume.
func TestNewFeed(t *testing.T) {
	t.Parallel()
	for _, overwrite := range []bool{false, true} {
		fsys := faultfs.New()
		j := mustOpen(t, fsys, manual(0))
		mustRecover(t, j, nil, nil)
		mustClose(t, j, jobs.End{})
		if err := fsys.WriteFile(feedPath, []byte("no newline")); err != nil {
			t.Fatal(err)
		}
		j, _, r := feedRun(t, fsys, overwrite, "new")
		if got, want := content(t, fsys, feedPath), "no newlinenew"; got != want || r.Feeds[0].Length != 10 || len(r.Warnings) > 0 {
			t.Errorf("overwrite %v: got %q, %+v, want %q", overwrite, got, r, want)
		}
		mustClose(t, j, jobs.End{})
	}
}

// TestFeedAway: a run without the feed does not make the job forget it, and a
// later loss in it does not undo that run.
func TestFeedAway(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	j, _, _ := feedRun(t, fsys, false, "one\n", "two\n")
	killed := fsys.Kill()
	abandon(t, j)
	fsys = killed
	j = mustOpen(t, fsys, manual(0))
	mustRecover(t, j, nil, nil)
	numbered(t, j, 1, 3)
	mustClose(t, j, jobs.End{})
	if err := fsys.WriteFile(feedPath, []byte("one\n")); err != nil {
		t.Fatal(err)
	}
	j, _, r := feedRun(t, fsys, false, "new\n")
	if got, want := content(t, fsys, feedPath), "one\nnew\n"; got != want || !r.Feeds[0].Foreign || r.CutBytes != 0 {
		t.Errorf("got %q, %+v, want %q and a foreign feed", got, r, want)
	}
	mustClose(t, j, jobs.End{})
}

func TestPipe(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	p := &pipe{}
	for range 2 {
		j := mustOpen(t, fsys, manual(0))
		r := mustRecover(t, j, []jobs.Feed{{Name: "stdout", Sink: p, Overwrite: true}}, nil)
		if len(r.Warnings) > 0 {
			t.Errorf("got %v, want no warnings", r.Warnings)
		}
		tx := j.Begin()
		tx.Feed(0, []byte("item\n"))
		mustCommit(t, tx)
		if err := j.Barrier(); err != nil {
			t.Fatal(err)
		}
		mustClose(t, j, jobs.End{Finished: true})
	}
	if got, want := string(p.b), "item\nitem\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPipeBeforeJournal: what a pipe gets may be repeated by the next run, but
// is never missing: its bytes are written before the step counts.
func TestPipeBeforeJournal(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	p := &pipe{}
	j := mustOpen(t, fsys, manual(0))
	mustRecover(t, j, []jobs.Feed{{Name: "stdout", Sink: p}}, nil)
	tx := j.Begin()
	tx.Set("k", nil)
	tx.Feed(0, []byte("item\n"))
	mustCommit(t, tx)
	fsys.FailAt(faultfs.Write, 1, errInjected)
	if err := j.Flush(); !errors.Is(err, errInjected) || string(p.b) != "item\n" {
		t.Errorf("got %q, %v, want the item in the pipe although the journal failed", p.b, err)
	}
	abandon(t, j)
}

// TestClosedPipe: the error names the feed, matches EPIPE and is final.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	p := &pipe{err: &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}}
	j := mustOpen(t, fsys, manual(0))
	mustRecover(t, j, []jobs.Feed{{Name: "stdout", Sink: p}}, nil)
	tx := j.Begin()
	tx.Feed(0, []byte("item\n"))
	mustCommit(t, tx)
	for name, err := range map[string]error{"Flush": j.Flush(), "Commit": j.Begin().Commit(), "Barrier": j.Barrier(), "Close": j.Close(jobs.End{})} {
		if !errors.Is(err, syscall.EPIPE) || !strings.Contains(err.Error(), "feed stdout") {
			t.Errorf("%s: got %v, want EPIPE of feed stdout", name, err)
		}
	}
}

func TestFullDevice(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	j := jobs.Volatile([]jobs.Feed{{Name: "full", Sink: &fileSink{fs: jobs.OS(), name: filepath.Clean("/dev/full")}}})
	tx := j.Begin()
	tx.Feed(0, []byte("item\n"))
	mustCommit(t, tx)
	if err := j.Close(jobs.End{}); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "feed full") {
		t.Errorf("got %v, want ENOSPC of feed full", err)
	}
}

// TestKilledBeforeEmptying: a round that overwrites the feed was begun, but the
// process died before the file was emptied. The resume does it.
func TestKilledBeforeEmptying(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	j, _, _ := feedRun(t, fsys, false, "old\n")
	mustClose(t, j, jobs.End{Finished: true})
	j = mustOpen(t, fsys, manual(0))
	fsys.FailAt(faultfs.Truncate, 1, errInjected)
	sink := &fileSink{fs: fsys, name: feedPath}
	if _, err := j.Recover([]jobs.Feed{{Name: "items", Sink: sink, Overwrite: true}}, nil); !errors.Is(err, errInjected) {
		t.Fatalf("got %v, want the injected error", err)
	}
	mustClose(t, j, jobs.End{})
	j, _, r := feedRun(t, fsys, true, "new\n")
	if got := content(t, fsys, feedPath); got != "new\n" || r.NewRound || len(r.Warnings) > 0 {
		t.Errorf("got %q, %+v, want %q on a resume", got, r, "new\n")
	}
	mustClose(t, j, jobs.End{})
}

// TestUnreadableSink: of a sink that cannot be read back only the length is
// compared.
func TestUnreadableSink(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change, want, warning string
	}{
		"kept":    {"one\ntwo\n", "one\ntwo\nnew\n", ""},
		"changed": {"ONE\nTWO\n", "ONE\nTWO\nnew\n", ""},
		"longer":  {"one\ntwo\nth", "one\ntwo\nnew\n", ""},
		"lost":    {"one\ntw", "one\nnew\n", "has lost bytes"},
		"shorter": {"on", "onnew\n", "fewer than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := faultfs.New()
			run := func(items ...string) (*jobs.Job, jobs.Recovery) {
				j := mustOpen(t, fsys, manual(0))
				sink := struct{ jobs.Sink }{&fileSink{fs: fsys, name: feedPath}} // hides ReadAt
				r := mustRecover(t, j, []jobs.Feed{{Name: "items", Sink: sink}}, nil)
				for _, item := range items {
					tx := j.Begin()
					tx.Feed(0, []byte(item))
					mustCommit(t, tx)
					if item != "two\n" {
						if err := j.Barrier(); err != nil {
							t.Fatal(err)
						}
					}
				}
				if err := j.Flush(); err != nil {
					t.Fatal(err)
				}
				return j, r
			}
			j, _ := run("one\n", "two\n")
			killed := fsys.Kill()
			abandon(t, j)
			fsys = killed
			if err := fsys.WriteFile(feedPath, []byte(c.change)); err != nil {
				t.Fatal(err)
			}
			j, r := run("new\n")
			if got := content(t, fsys, feedPath); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := strings.Join(r.Warnings, "; "); !strings.Contains(got, c.warning) || c.warning == "" && got != "" {
				t.Errorf("got warnings %q, want %q", got, c.warning)
			}
			mustClose(t, j, jobs.End{})
		})
	}
}

func TestFeedGivenTwice(t *testing.T) {
	t.Parallel()
	j := mustOpen(t, faultfs.New(), manual(0))
	if _, err := j.Recover([]jobs.Feed{{Name: "a", Sink: &pipe{}}, {Name: "a", Sink: &pipe{}}}, nil); err == nil {
		t.Error("got no error")
	}
	mustClose(t, j, jobs.End{})
	v := jobs.Volatile([]jobs.Feed{{Name: "a", Sink: &pipe{}}, {Name: "a", Sink: &pipe{}}})
	tx := v.Begin()
	tx.Feed(1, []byte("x"))
	if err := tx.Commit(); err == nil {
		t.Error("volatile: got no error")
	}
	if err := v.Close(jobs.End{}); err == nil {
		t.Error("volatile: got no error from Close")
	}
}
