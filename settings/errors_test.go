package settings

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

// All bad values are reported at once, also those that a higher layer
// overrides, by name and then by layer, and the same every time.
func TestErrorsAllAtOnce(t *testing.T) {
	t.Parallel()
	want := []string{
		`crawl.ini: want a config file whose name ends in .yaml, .yml, .toml or .json`,
		`spider q: configure: no luck`,
		`-s JOBDIR: want NAME=VALUE`,
		`CONCURRENT_REQUESTS="many" (spider q): want a whole number such as 16`,
		`CONCURRENT_REQUESTS="0" (-s CONCURRENT_REQUESTS): want a count, at least 1`,
		`DOWNLOAD_DELAY="fast" (CRAWL_DOWNLOAD_DELAY): want seconds such as 0.25 or a duration such as 250ms`,
		`DOWNLOAD_DELYA (-s DOWNLOAD_DELYA): there is no such setting; did you mean DOWNLOAD_DELAY?`,
		`MEMDEBUG_ENABLED="True" (CRAWL_MEMDEBUG_ENABLED): there are no Python objects to count`,
		`ROBOTSTXT_OBEY="maybe" (spider q): want True or False (1, 0, yes and no work too)`,
		`SCHEDULER_DISK_QUEUE="filo" (-s SCHEDULER_DISK_QUEUE): want a name that this binary has: lifo or fifo; did you mean fifo?`,
		`USER_AGENT (spider q): a value of the type chan int cannot be a setting`,
	}
	for range 5 {
		_, _, err := NewRegistry().Builder().
			Assign("SCHEDULER_DISK_QUEUE=filo").
			Assign("CONCURRENT_REQUESTS=0").
			Assign("DOWNLOAD_DELYA=1").
			File("crawl.ini").
			Environ([]string{"HOME=/", "CRAWL_MEMDEBUG_ENABLED=True", "CRAWL_DOWNLOAD_DELAY=fast", "CRAWLER=1"}).
			Spider("q", map[string]any{"ROBOTSTXT_OBEY": "maybe", "CONCURRENT_REQUESTS": "many", "USER_AGENT": make(chan int)}).
			Configure("q", func(*Layer) error { return errors.New("no luck") }).
			Assign("JOBDIR").
			Build()
		if got := lines(err); !slices.Equal(got, want) {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestErrorFields(t *testing.T) {
	t.Parallel()
	_, _, err := NewRegistry().Builder().Environ([]string{"CRAWL_JOBDRI=x"}).Build()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is no *Error", err)
	}
	want := Error{Name: "JOBDRI", Source: Source{FromEnvironment, "CRAWL_JOBDRI"}, Reason: "there is no such setting", Nearest: "JOBDIR"}
	if *e != want {
		t.Errorf("got %+v, want %+v", *e, want)
	}
	_, _, err = NewRegistry().Builder().File("does/not/exist.yaml").Build()
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v does not wrap fs.ErrNotExist", err)
	}
}

func TestErrorShortensLongValues(t *testing.T) {
	t.Parallel()
	_, _, err := NewRegistry().Builder().Assign("RETRY_TIMES=" + strings.Repeat("9", 10000)).Build()
	if got := err.Error(); len(got) > 200 || !strings.Contains(got, "…") {
		t.Errorf("message of %d bytes: %.100s", len(got), got)
	}
}

// A secret never shows in a message, nor its length.
func TestErrorHidesSecrets(t *testing.T) {
	t.Parallel()
	_, warnings, err := NewRegistry().Builder().
		Spider("q", map[string]any{"MAIL_PASS": "hunter2"}).
		Environ([]string{"CRAWL_AWS_SECRET_ACCESS_KEY=hunter2", "CRAWL_NO_SUCH_PASSWORD=hunter2"}).
		Build()
	if err == nil || len(warnings) != 1 {
		t.Fatalf("got %v and %v, want an error and a warning", err, warnings)
	}
	all := err.Error() + warnings[0].String()
	if strings.Contains(all, "hunter2") || !strings.Contains(all, `AWS_SECRET_ACCESS_KEY="***"`) {
		t.Errorf("messages: %s", all)
	}
}

// In a file and a spider the unknown and the unsupported are warnings.
func TestWarnings(t *testing.T) {
	t.Parallel()
	s, warnings, err := NewRegistry().Builder().
		Spider("q", map[string]any{"JOBDRI": "x", "MEMDEBUG_ENABLED": true, "MY_OWN_SETTING": 1}).Build()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`JOBDRI (spider q): there is no such setting; did you mean JOBDIR?`,
		`MEMDEBUG_ENABLED="True" (spider q): there are no Python objects to count`,
		`MY_OWN_SETTING (spider q): there is no such setting`,
	}
	var got []string
	for _, w := range warnings {
		got = append(got, w.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, name := range []string{"JOBDRI", "MEMDEBUG_ENABLED"} {
		if v, ok := s.Lookup(name); ok {
			t.Errorf("Lookup(%s) = %v, want nothing", name, v)
		}
	}
}
