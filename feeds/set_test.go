package feeds_test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/feeds"
	"github.com/skeincrawl/skein/jobs"
)

// bench is a set with what it needs.
type bench struct {
	*feeds.Set
	stats  *crawl.Stats
	log    bytes.Buffer
	stdout bytes.Buffer
}

func newSet(t *testing.T, job bool, targets ...feeds.Target) (*bench, error) {
	t.Helper()
	b := &bench{stats: crawl.NewStats()}
	var err error
	b.Set, err = feeds.New(feeds.Options{
		Targets: targets, Stdout: &b.stdout, Job: job, Log: zerolog.New(&b.log), Stats: b.stats,
	})
	return b, err
}

func mustSet(t *testing.T, job bool, targets ...feeds.Target) *bench {
	t.Helper()
	b, err := newSet(t, job, targets...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// target parses F[:format]; overwrite is -O.
func target(t *testing.T, s string, overwrite bool) feeds.Target {
	t.Helper()
	target, err := feeds.ParseTarget(s)
	if err != nil {
		t.Fatal(err)
	}
	target.Overwrite = overwrite
	return target
}

// commit renders an item and appends it to the sinks, as a job does.
func (b *bench) commit(t *testing.T, item any) {
	t.Helper()
	bufs, err := b.Render(item, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range b.Jobs() {
		if err := f.Sink.Append(bufs[i]); err != nil {
			t.Fatal(err)
		}
		b.Add(i, 1)
	}
}

var item = map[string]int{"a": 1}

const line = "{\"a\":1}\n"

// FE-22 (file and standard output) and FE-24.
func TestSetStores(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "dir", "out.jsonl")
	b := mustSet(t, false, target(t, path, false), target(t, "-", false))
	b.commit(t, item)
	b.commit(t, item)
	if err := b.Close(true); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != line+line {
		t.Errorf("the file holds %q", got)
	}
	if got := b.stdout.String(); got != line+line {
		t.Errorf("standard output got %q", got)
	}
	want := `{"level":"info","message":"Stored jsonl feed (2 items) in: ` + path + "\"}\n" +
		`{"level":"info","message":"Stored jsonlines feed (2 items) in: stdout:"}` + "\n"
	if got := b.log.String(); got != want {
		t.Errorf("log:\n got %s\nwant %s", got, want)
	}
	stats := map[string]any{"feedexport/success_count/FileFeedStorage": int64(1), "feedexport/success_count/StdoutFeedStorage": int64(1)}
	if got := b.stats.Snapshot(); !maps.Equal(got, stats) {
		t.Errorf("stats = %v, want %v", got, stats)
	}
}

// FE-22 and FE-24: a feed that can not be stored.
func TestSetFails(t *testing.T) {
	t.Parallel()
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("there is no " + full)
	}
	b := mustSet(t, false, target(t, full+":jl", false))
	if err := b.Jobs()[0].Sink.Append([]byte(line)); err == nil {
		t.Fatal("the write succeeded")
	}
	if err := b.Close(true); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Close: %v", err)
	}
	if got := b.log.String(); !strings.Contains(got, `"level":"error"`) || !strings.Contains(got, "Error storing jl feed (0 items) in: /dev/full") {
		t.Errorf("log: %s", got)
	}
	want := map[string]any{"feedexport/failed_count/FileFeedStorage": int64(1)}
	if got := b.stats.Snapshot(); !maps.Equal(got, want) {
		t.Errorf("stats = %v, want %v", got, want)
	}
}

func TestSetOverwrites(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name             string
		job, clean       bool
		emptied, renamed bool // by whom the old items go
		want             string
	}{
		{name: "without a job, clean", clean: true, renamed: true, want: line},
		{name: "without a job, unclean", want: "old\n", renamed: true},
		{name: "under a job", job: true, clean: true, emptied: true, want: line},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "out.jl")
			write(t, path, "old\n")
			b := mustSet(t, tc.job, target(t, path, true))
			f := b.Jobs()[0]
			if _, ok := f.Sink.(*feeds.Overwriter); ok != tc.renamed || f.Overwrite != tc.emptied {
				t.Errorf("sink %T with Overwrite %v", f.Sink, f.Overwrite)
			}
			if f.Overwrite { // what the job does when a round starts
				if err := f.Sink.Truncate(0); err != nil {
					t.Fatal(err)
				}
			}
			b.commit(t, item)
			if err := b.Close(tc.clean); err != nil {
				t.Errorf("Close: %v", err)
			}
			if got := content(t, path); got != tc.want {
				t.Errorf("the file holds %q, want %q", got, tc.want)
			}
			if told := strings.Contains(b.log.String(), "Left "+path+" as it was"); told == tc.clean {
				t.Errorf("log: %s", b.log.String())
			}
		})
	}
}

// FE-40, and devices, which are only written to.
func TestSetOverwritesNoStreams(t *testing.T) {
	t.Parallel()
	b := mustSet(t, false, target(t, "-", true), target(t, os.DevNull+":jl", true))
	if got := b.log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `"warn"`) || !strings.Contains(got, "can not be overwritten") {
		t.Errorf("log: %s", got)
	}
	for _, f := range b.Jobs() {
		if _, err := f.Sink.Size(); f.Overwrite || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: Overwrite %v, Size %v", f.Name, f.Overwrite, err)
		}
	}
	b.commit(t, item)
	if err := b.Close(true); err != nil || b.stdout.String() != line {
		t.Errorf("standard output got %q, Close: %v", b.stdout.String(), err)
	}
}

func TestSetRefusesTheSamePlaceTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dest := filepath.Join(dir, "real")
	if err := errors.Join(os.Mkdir(dest, 0o755), os.Symlink("real", filepath.Join(dir, "link"))); err != nil {
		t.Skip(err)
	}
	old, hard := filepath.Join(dir, "old.jl"), filepath.Join(dir, "hard.jl")
	write(t, old, "")
	if err := os.Link(old, hard); err != nil {
		t.Skip(err)
	}
	for _, tc := range []struct {
		name, first, second string
		overwrite           bool
	}{
		{"equal", "x.jl", "x.jl", false},
		{"-o and -O", "x.jl", "x.jl", true},
		{"another spelling", "x.jl", "./sub/../x.jl", false},
		{"another format", "x.jl", "x.jl:jsonl", false},
		{"through a link", filepath.Join(dest, "new.jl"), filepath.Join(dir, "link", "new.jl"), false},
		{"hard link", old, hard, false},
		{"standard output", "-", "stdout:jsonl", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := newSet(t, false, target(t, tc.first, false), target(t, tc.second, tc.overwrite))
			var te *feeds.TargetError
			if !errors.As(err, &te) || !strings.Contains(err.Error(), "it goes to the same place as feed") {
				t.Errorf("got %v, want a TargetError", err)
			}
		})
	}
	mustSet(t, false, target(t, filepath.Join(dir, "a.jl"), false), target(t, filepath.Join(dir, "b.jl"), true))
}

func TestSetReportsAllThatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := newSet(t, false, feeds.Target{URI: "one", Path: dir, Format: "jl"}, feeds.Target{URI: "two", Path: dir + "/x", Format: "xml"})
	for _, want := range []string{`feed "one": it is a directory`, `feed "two": there is no feed format "xml"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

func TestRenderIsAllOrNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := mustSet(t, true, target(t, dir+"/a.jl", false), target(t, dir+"/b.jl", false))
	dst, err := b.Render(item, [][]byte{[]byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		dst, err = b.Render([]int{1}, dst)
		if err == nil || !strings.Contains(err.Error(), "[]int") || !strings.Contains(err.Error(), "a.jl") {
			t.Errorf("a list as an item: %v", err)
		}
		if len(dst) != 2 || string(dst[0]) != "x"+line || string(dst[1]) != line {
			t.Errorf("after it the buffers hold %q", dst)
		}
	}
	if dst, err = b.Render(item, dst); err != nil || string(dst[1]) != line+line {
		t.Errorf("the next item: %q, %v", dst, err)
	}
	if mustSet(t, false).Len() != 0 || b.Len() != 2 {
		t.Errorf("Len = %d, want 2", b.Len())
	}
}

func TestSetIsSafeForManyWorkers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out.jl")
	b := mustSet(t, false, target(t, path, false))
	job := jobs.Volatile(b.Jobs())
	var wg sync.WaitGroup
	var committing sync.Mutex // a job takes one step at a time
	for range 8 {
		wg.Go(func() {
			for range 50 {
				bufs, err := b.Render(item, nil)
				if err != nil {
					t.Error(err)
				}
				committing.Lock()
				tx := job.Begin()
				tx.Feed(0, bufs[0])
				if err := tx.Commit(); err != nil {
					t.Error(err)
				}
				committing.Unlock()
				b.Add(0, 1)
			}
		})
	}
	wg.Wait()
	if err := job.Close(jobs.End{}); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(true); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != strings.Repeat(line, 400) || b.Items(0) != 400 {
		t.Errorf("%d items counted, the file has %d lines", b.Items(0), strings.Count(got, "\n"))
	}
}
