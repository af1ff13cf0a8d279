package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
	"github.com/skeincrawl/skein/settings"
)

func newJob(sys *system) *cobra.Command {
	c := &cobra.Command{
		Use:   "job COMMAND DIR",
		Short: "Looks into a job directory, and changes it",
		Long: "Shows what a job directory holds, also while its crawl goes on, and changes it\n" +
			"between two runs. A directory that can not be read is exit code 3, and so is one\n" +
			"in use that is to be changed.",
		Example: "  crawl job status crawls/q\n  crawl job retry-failed crawls/q && crawl quotes -s JOBDIR=crawls/q",
		Args:    cobra.ArbitraryArgs,
		RunE:    whichJobCommand,
	}
	c.AddCommand(
		newJobStatus(sys), newJobQueue(sys), newJobSeen(sys), newJobFailed(sys),
		newJobRetryFailed(sys), newJobDrop(sys), newJobVerify(sys), newJobRepair(sys),
	)
	return c
}

func whichJobCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usageError{errors.New("crawl job does what? (crawl job --help shows all)")}
	}
	err := fmt.Errorf("crawl job %s: there is no such command", args[0])
	if near := settings.Nearest(args[0], maps.Keys(commandNames(c))); near != "" {
		err = fmt.Errorf("%w; did you mean %s?", err, near)
	}
	return usageError{err}
}

// oneDir wants a job directory and nothing else.
func oneDir(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usageError{fmt.Errorf("%s takes one job directory, got %d arguments", c.CommandPath(), len(args))}
	}
	return someDir(c, args)
}

// someDir wants a job directory; more may follow.
func someDir(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usageError{fmt.Errorf("which job directory? such as: %s crawls/x", c.CommandPath())}
	}
	return nil
}

// completeDir completes a job directory in the shell.
func completeDir(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// addJSON adds the flag that all commands have which write.
func addJSON(c *cobra.Command, to *bool) { c.Flags().BoolVar(to, "json", false, "as JSON") }

// look opens a job to read from, and hands over what is in it.
func look(dir string, use func(*jobs.View, *scheduler.Contents) error) (err error) {
	view, err := jobs.Look(jobs.OS(), dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	contents, err := scheduler.ReadContents(view.Identity(), view.Visit)
	if err != nil {
		return err
	}
	return use(view, contents)
}

// edit opens a job that nobody uses, to change it.
func edit(sys *system, dir string, change func(*scheduler.Editor) error) (err error) {
	job, err := jobs.Edit(jobs.OS(), dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, job.Close(jobs.End{})) }()
	e, err := scheduler.NewEditor(job)
	if err != nil {
		return err
	}
	for _, w := range e.Warnings {
		if _, err := fmt.Fprintln(sys.Stderr, "crawl: warning:", w); err != nil {
			return fmt.Errorf("write a warning: %w", err)
		}
	}
	return change(e)
}

// answer writes what a command has found or done.
func answer(sys *system, asJSON bool, v any, text string) error {
	out := []byte(text)
	if asJSON {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(v); err != nil {
			return fmt.Errorf("write JSON: %w", err)
		}
		out = b.Bytes()
	}
	_, err := pipe{sys.Stdout}.Write(out)
	return err
}

// requestFlags name requests that are no plain GET.
type requestFlags struct {
	method, bodyFile string
}

func (f *requestFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.method, "method", "", "of requests with this `METHOD` (GET)")
	c.Flags().StringVar(&f.bodyFile, "body", "", "and with what is in `FILE` as their body")
}

// given reports whether anything but the URL was named.
func (f *requestFlags) given() bool { return f.method != "" || f.bodyFile != "" }

func (f *requestFlags) body() ([]byte, error) {
	if f.bodyFile == "" {
		return nil, nil
	}
	b, err := os.ReadFile(f.bodyFile)
	if err != nil {
		return nil, configError{fmt.Errorf("--body: %w", err)}
	}
	return b, nil
}

// selection names requests by their URLs and the flags.
func (f *requestFlags) selection(urls []string) (*scheduler.Selection, error) {
	if !f.given() {
		s, err := scheduler.SelectURLs(urls)
		return s, asUsage(err)
	}
	body, err := f.body()
	if err != nil {
		return nil, err
	}
	s, err := scheduler.SelectRequests(f.method, body, urls)
	return s, asUsage(err)
}

func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// known returns nil for a time that is not known, and else the time in UTC.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// timeText is a time as tables show it; a dash if it is not known.
func timeText(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.Format(time.RFC3339)
}

// quantity writes a number with its noun.
func quantity(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
