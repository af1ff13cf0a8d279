package feeds_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/feeds"
	"github.com/skeincrawl/skein/jobs"
)

// crawlWith writes items through a job without a directory, as a run does.
func crawlWith(t *testing.T, o feeds.Options, items ...any) (*bench, error) {
	t.Helper()
	b := &bench{stats: crawl.NewStats()}
	o.Stdout, o.Log, o.Stats = &b.stdout, zerolog.New(&b.log), b.stats
	var err error
	if b.Set, err = feeds.New(o); err != nil {
		return b, err
	}
	job := jobs.Volatile(b.Jobs())
	if err := b.Begin(); err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		bufs, err := b.Render(item, nil)
		if err != nil {
			t.Fatal(err)
		}
		tx := job.Begin()
		for i, buf := range bufs {
			tx.Feed(i, buf)
			b.Add(i, 1)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if err := job.Close(jobs.End{}); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(true); err != nil {
		t.Fatal(err)
	}
	return b, nil
}

// -o goes on in what there is: inside the array, under the header.
func TestAppendToWhatThereIs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, before, want, err string }{
		{"new.json", "", "[\n{\"a\":1},\n{\"a\":1}\n]\n", ""},
		{"lines.json", "[\n{\"b\":2}\n]\n", "[\n{\"b\":2},\n{\"a\":1},\n{\"a\":1}\n]\n", ""},
		{"compact.json", `[{"b":2}]`, "[{\"b\":2},\n{\"a\":1},\n{\"a\":1}\n]\n", ""},
		{"empty.json", "[ ]\n", "[\n{\"a\":1},\n{\"a\":1}\n]\n", ""},
		{"torn.json", "[\n{\"b\":2}", "", "it does not hold a whole JSON array"},
		{"other.json", "{\"b\":2}", "", "it does not hold a whole JSON array"},
		{"new.csv", "", "a\r\n1\r\n1\r\n", ""},
		{"old.csv", "b,a\r\n2,2\r\n", "b,a\r\n2,2\r\n,1\r\n,1\r\n", ""},
		{"torn.csv", "b,a\r\n2,2", "", "its last line has no end"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), tc.name)
			if tc.before != "" {
				write(t, path, tc.before)
			}
			_, err := crawlWith(t, feeds.Options{Targets: []feeds.Target{target(t, path, false)}}, item, item)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || content(t, path) != tc.before {
					t.Errorf("got %v and %q, want %q and the file as it was", err, content(t, path), tc.err)
				}
				return
			}
			if got := content(t, path); err != nil || got != tc.want {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
			// Another run without items leaves it whole, and as it is.
			if _, err := crawlWith(t, feeds.Options{Targets: []feeds.Target{target(t, path, false)}}); err != nil || content(t, path) != tc.want {
				t.Errorf("after a run without items: %q, %v", content(t, path), err)
			}
			if _, err := crawlWith(t, feeds.Options{Targets: []feeds.Target{target(t, path, true)}}, item); err != nil {
				t.Error(err)
			}
			if got, want := content(t, path), map[bool]string{true: "[\n{\"a\":1}\n]\n", false: "a\r\n1\r\n"}[filepath.Ext(path) == ".json"]; got != want {
				t.Errorf("after -O: %q, want %q", got, want)
			}
		})
	}
}

// FE-08 and FE-09: a feed without items.
func TestStoreEmpty(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		file   string
		form   feeds.Form
		before string
		over   bool
		want   string
		there  bool
	}{
		{file: "store.json", form: feeds.Form{Indent: feeds.Compact}, want: "[]", there: true},
		{file: "store.jsonl", there: true},
		{file: "store.csv", form: feeds.Form{Fields: []feeds.Field{{Name: "a", Title: "a"}}}, there: true},
		{file: "over.json", before: "[{}]", over: true, want: "[\n\n]\n", there: true},
		{file: "skip.json", form: feeds.Form{SkipEmpty: true}},
		{file: "skip.jsonl", form: feeds.Form{SkipEmpty: true}},
		{file: "skip.csv", form: feeds.Form{SkipEmpty: true}},
		{file: "kept.json", form: feeds.Form{SkipEmpty: true}, before: "[{}]", over: true, want: "[{}]", there: true},
		{file: "more.json", form: feeds.Form{SkipEmpty: true}, before: "[{}]", want: "[{}\n]\n", there: true},
	} {
		t.Run(tc.file, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), tc.file)
			if tc.before != "" {
				write(t, path, tc.before)
			}
			b, err := crawlWith(t, feeds.Options{Targets: []feeds.Target{target(t, path, tc.over)}, Form: tc.form})
			if err != nil {
				t.Fatal(err)
			}
			_, err = os.Stat(path)
			if got := content(t, path); got != tc.want || (err == nil) != tc.there {
				t.Errorf("the file holds %q (there: %v), want %q (%v)", got, err, tc.want, tc.there)
			}
			if left := names(t, filepath.Dir(path)); len(left) > 1 {
				t.Errorf("left behind: %q", left)
			}
			stored := b.stats.Count("feedexport/success_count/FileFeedStorage")
			if (stored == 1) != (tc.there && (!tc.over || !tc.form.SkipEmpty)) {
				t.Errorf("counted as stored %d times", stored)
			}
		})
	}
}

// Under a job a file that a round has emptied goes too.
func TestSkipEmptyUnderAJob(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out.json")
	write(t, path, "[{}]")
	s, err := feeds.New(feeds.Options{Targets: []feeds.Target{target(t, path, true)}, Form: feeds.Form{SkipEmpty: true}, Job: true, Stats: crawl.NewStats()})
	if err != nil {
		t.Fatal(err)
	}
	job, err := jobs.Open(jobs.OS(), filepath.Join(t.TempDir(), "job"), jobs.Identity{}, jobs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := job.Recover(s.Jobs(), nil); err != nil {
		t.Fatal(err)
	}
	if err := job.Close(jobs.End{Finished: true}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file holds %q, %v, want none", content(t, path), err)
	}
}

// FE-04: one warning a feed, and a count.
func TestDroppedFieldsAreTold(t *testing.T) {
	t.Parallel()
	b, err := crawlWith(t, feeds.Options{Targets: []feeds.Target{target(t, "-:csv", false)}},
		map[string]int{"foo": 1}, map[string]int{"bar": 1, "baz": 1}, map[string]int{"bar": 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.stats.Count("feedexport/dropped_field_count"); got != 3 {
		t.Errorf("%d fields counted as dropped, want 3", got)
	}
	if got := b.log.String(); strings.Count(got, "dropped") != 1 || !strings.Contains(got, "CSVExporter dropped fields bar, baz: ") {
		t.Errorf("log: %s", got)
	}
	if got := b.stdout.String(); got != "foo\r\n1\r\n\"\"\r\n\"\"\r\n" {
		t.Errorf("standard output got %q", got)
	}
}

// FE-20 and FE-21: what is filled in, and what stays as it is.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := crawlWith(t, feeds.Options{
		Targets: []feeds.Target{target(t, dir+"/100%/out %(name)s ünïcode.jl", false), target(t, "file://"+filepath.ToSlash(dir)+"/a%20b/%(time)s.jl", false)},
		Spider:  "books",
	}, item)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, filepath.Join(dir, "100%", "out books ünïcode.jl")); got != line {
		t.Errorf("got %q", got)
	}
	got := names(t, filepath.Join(dir, "a b"))
	if len(got) != 1 || !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.jl$`).MatchString(got[0]) {
		t.Errorf("files %q", got)
	}
}

// The command line wins over FEEDS for the same place; two of FEEDS may not
// share one.
func TestConfiguredFeeds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b.csv")
	configured := []feeds.Target{target(t, dir+"/./a:csv", true), target(t, b, false)}
	set, err := crawlWith(t, feeds.Options{Targets: []feeds.Target{target(t, a+":json", false)}, Configured: configured}, item)
	if err != nil {
		t.Fatal(err)
	}
	if content(t, a) != "[\n{\"a\":1}\n]\n" || content(t, b) != "a\r\n1\r\n" || set.Len() != 2 {
		t.Errorf("%d feeds: %q and %q", set.Len(), content(t, a), content(t, b))
	}
	configured[1] = target(t, a+":jl", false)
	_, err = crawlWith(t, feeds.Options{Configured: configured}, item)
	if err == nil || !strings.Contains(err.Error(), "it goes to the same place as feed") {
		t.Errorf("two of FEEDS for one place: %v", err)
	}
}

// Feeds of one crawl are independent of each other (FE-16), and a step of many
// items is framed as well as many steps.
func TestManyItemsInAStep(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s, err := feeds.New(feeds.Options{Targets: []feeds.Target{target(t, "-:json", false)}, Stdout: &out, Stats: crawl.NewStats()})
	if err != nil {
		t.Fatal(err)
	}
	job := jobs.Volatile(s.Jobs())
	for range 2 {
		var bufs [][]byte
		for range 2 {
			if bufs, err = s.Render(item, bufs); err != nil {
				t.Fatal(err)
			}
			if bufs, err = s.Render(5, bufs); err == nil {
				t.Fatal("a number is no item")
			}
		}
		tx := job.Begin()
		tx.Feed(0, bufs[0])
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if err := job.Close(jobs.End{}); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "[\n"+strings.Repeat("{\"a\":1},\n", 3)+"{\"a\":1}\n]\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FE-23: a feed whose every item fails is begun and ended all the same.
func TestNothingButBadItems(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s, err := feeds.New(feeds.Options{Targets: []feeds.Target{target(t, "-:json", false)}, Stdout: &out, Stats: crawl.NewStats()})
	if err != nil {
		t.Fatal(err)
	}
	job := jobs.Volatile(s.Jobs())
	for range 3 {
		if _, err := s.Render(5, nil); err == nil {
			t.Fatal("a number is no item")
		}
	}
	if err := errors.Join(job.Close(jobs.End{}), s.Close(true)); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "[\n\n]\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
