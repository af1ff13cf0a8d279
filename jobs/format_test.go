package jobs_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
)

// list is a format like [a,b].
type list struct{}

func (list) Lead(empty bool) []byte {
	if empty {
		return []byte("[")
	}
	return []byte(",")
}

func (list) Tail(empty bool) []byte {
	if empty {
		return []byte("[]")
	}
	return []byte("]")
}

func (list) Adopt(s jobs.Sink, size int64) (int64, error) {
	b := make([]byte, size)
	if _, err := s.(io.ReaderAt).ReadAt(b, 0); err != nil {
		return 0, err
	}
	if !strings.HasSuffix(string(b), "]") {
		return 0, errors.New("no list")
	}
	return size - 1, nil
}

// listRun starts a run of a job with one feed that is a list.
func listRun(t *testing.T, fsys *faultfs.FS, overwrite bool) (*jobs.Job, jobs.Recovery, error) {
	t.Helper()
	j := mustOpen(t, fsys, manual(0))
	r, err := j.Recover([]jobs.Feed{listFeed(fsys, overwrite)}, nil)
	return j, r, err
}

func listFeed(fsys *faultfs.FS, overwrite bool) jobs.Feed {
	return jobs.Feed{Name: "items", Sink: &fileSink{fs: fsys, name: feedPath}, Format: list{}, Overwrite: overwrite}
}

func addItems(t *testing.T, j *jobs.Job, items ...string) {
	t.Helper()
	for _, item := range items {
		tx := j.Begin()
		tx.Feed(0, nil) // nothing needs no comma
		tx.Feed(0, []byte(item))
		mustCommit(t, tx)
	}
}

// TestFormat: a feed has its beginning once, its end after every clean close,
// and neither counts against it afterwards.
func TestFormat(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	for _, run := range []struct {
		name      string
		items     []string
		overwrite bool
		kill      bool
		finished  bool
		want      string
	}{
		{name: "no item", want: "[]"},
		{name: "the first items", items: []string{"a", "b"}, want: "[a,b]"},
		{name: "a resume", items: []string{"c"}, want: "[a,b,c]"},
		{name: "killed", items: []string{"d"}, kill: true, want: "[a,b,c,d"},
		{name: "after the kill, finished", items: []string{"e"}, finished: true, want: "[a,b,c,d,e]"},
		{name: "a new round", items: []string{"f"}, want: "[a,b,c,d,e,f]"},
		{name: "a resume does not overwrite", overwrite: true, finished: true, want: "[a,b,c,d,e,f]"},
		{name: "a round that overwrites", overwrite: true, items: []string{"g"}, want: "[g]"},
	} {
		j, r, err := listRun(t, fsys, run.overwrite)
		if err != nil || len(r.Warnings) > 0 {
			t.Fatalf("%s: %v, warnings %q", run.name, err, r.Warnings)
		}
		addItems(t, j, run.items...)
		if run.kill {
			if err := j.Flush(); err != nil {
				t.Fatal(err)
			}
			killed := fsys.Kill()
			abandon(t, j)
			fsys = killed
		} else {
			mustClose(t, j, jobs.End{Finished: run.finished})
		}
		if got := content(t, fsys, feedPath); got != run.want {
			t.Fatalf("%s: %q, want %q", run.name, got, run.want)
		}
	}
}

// TestFormatAdopts: the end of what the job does not know is cut off, also if
// the process dies before that.
func TestFormatAdopts(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	if err := fsys.WriteFile(feedPath, []byte("[x]")); err != nil {
		t.Fatal(err)
	}
	j := mustOpen(t, fsys, manual(0))
	fsys.FailAt(faultfs.Truncate, 1, errInjected)
	if _, err := j.Recover([]jobs.Feed{listFeed(fsys, false)}, nil); !errors.Is(err, errInjected) {
		t.Fatalf("got %v, want the injected error", err)
	}
	mustClose(t, j, jobs.End{})
	if got := content(t, fsys, feedPath); got != "[x]" {
		t.Fatalf("got %q before the cut", got)
	}
	j, r, err := listRun(t, fsys, false)
	if err != nil || len(r.Warnings) > 0 || r.Feeds[0].Length != 2 {
		t.Fatalf("got %+v, %v, want a feed of 2 bytes", r, err)
	}
	addItems(t, j, "a")
	mustClose(t, j, jobs.End{})
	if got := content(t, fsys, feedPath); got != "[x,a]" {
		t.Errorf("got %q", got)
	}
}

// TestFormatOfForeignFeed: only the end is cut off what someone else has
// written, and what is no list at all is refused and left as it is.
func TestFormatOfForeignFeed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ found, want string }{
		{"[x, y, z]", "[x, y, z,b]"},
		{"something else", ""},
		{"", "[b]"}, // shorter than it was
	} {
		fsys := faultfs.New()
		j, _, err := listRun(t, fsys, false)
		if err != nil {
			t.Fatal(err)
		}
		addItems(t, j, "a")
		mustClose(t, j, jobs.End{})
		if err := fsys.WriteFile(feedPath, []byte(c.found)); err != nil {
			t.Fatal(err)
		}
		j, r, err := listRun(t, fsys, false)
		if c.want == "" {
			if err == nil || !strings.Contains(err.Error(), "go on in feed items: no list") || content(t, fsys, feedPath) != c.found {
				t.Errorf("%q: %v, now %q", c.found, err, content(t, fsys, feedPath))
			}
			mustClose(t, j, jobs.End{})
			continue
		}
		if err != nil || len(r.Warnings) != 1 {
			t.Fatalf("%q: %v, warnings %q, want one", c.found, err, r.Warnings)
		}
		addItems(t, j, "b")
		mustClose(t, j, jobs.End{})
		if got := content(t, fsys, feedPath); got != c.want {
			t.Errorf("%q became %q, want %q", c.found, got, c.want)
		}
	}
}

// TestFormatOfPipe: what can not be cut is a feed of its own in every run.
func TestFormatOfPipe(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	p := &pipe{}
	for range 2 {
		j := mustOpen(t, fsys, manual(0))
		mustRecover(t, j, []jobs.Feed{{Name: "stdout", Sink: p, Format: list{}}}, nil)
		addItems(t, j, "a", "b")
		mustClose(t, j, jobs.End{})
	}
	if got := string(p.b); got != "[a,b][a,b]" {
		t.Errorf("got %q", got)
	}
}

// TestFormatWithoutDirectory: a feed of a volatile job is framed too.
func TestFormatWithoutDirectory(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	for _, run := range []struct {
		overwrite bool
		want      string
	}{{false, "[a,b]"}, {false, "[a,b,a,b]"}, {true, "[a,b]"}} {
		j := jobs.Volatile([]jobs.Feed{listFeed(fsys, run.overwrite)})
		addItems(t, j, "a", "b")
		mustClose(t, j, jobs.End{})
		if got := content(t, fsys, feedPath); got != run.want {
			t.Errorf("got %q, want %q", got, run.want)
		}
	}
	if err := fsys.WriteFile(feedPath, []byte("no list")); err != nil {
		t.Fatal(err)
	}
	j := jobs.Volatile([]jobs.Feed{listFeed(fsys, false)})
	if err := j.Close(jobs.End{}); err == nil || content(t, fsys, feedPath) != "no list" {
		t.Errorf("got %v and %q, want an error and the file as it was", err, content(t, fsys, feedPath))
	}
}
