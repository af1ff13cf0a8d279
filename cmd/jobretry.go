package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skeincrawl/skein/scheduler"
)

// retryFlags are the flags of `crawl job retry-failed` as they were given.
type retryFlags struct {
	requestFlags
	json bool
}

func newJobRetryFailed(sys *system) *cobra.Command {
	var f retryFlags
	c := &cobra.Command{
		Use:   "retry-failed DIR [URL...]",
		Short: "Puts requests that were given up back into the queue",
		Long: "Puts the requests that were given up back into the queue, all or those to the\n" +
			"URLs, as if they had never been tried. The job is then unfinished: the same\n" +
			"crawl command goes on with them. A URL means every request to it unless --method\n" +
			"or --body say more.",
		Example:           "  crawl job retry-failed crawls/q\n  crawl job retry-failed crawls/q https://example.com/page",
		Args:              someDir,
		ValidArgsFunction: completeDir,
		RunE:              func(_ *cobra.Command, args []string) error { return f.run(sys, args[0], args[1:]) },
	}
	f.add(c)
	addJSON(c, &f.json)
	return c
}

// A retried document tells what was put back.
type retried struct {
	Queued     int `json:"queued"`
	Pending    int `json:"pending"`    // already, by another way
	Unreadable int `json:"unreadable"` // and left as they are
}

func (f *retryFlags) run(sys *system, dir string, urls []string) error {
	which, err := f.which(urls)
	if err != nil {
		return err
	}
	return edit(sys, dir, func(e *scheduler.Editor) error {
		done, err := e.Requeue(which)
		if err != nil {
			return err
		}
		v := retried{done.Queued, done.Pending, done.Unreadable}
		return answer(sys, f.json, v, v.text())
	})
}

// which returns nil for all.
func (f *retryFlags) which(urls []string) (*scheduler.Selection, error) {
	switch {
	case len(urls) > 0:
		return f.selection(urls)
	case f.given():
		return nil, usageError{fmt.Errorf("--method and --body say which requests to a URL, and none was given")}
	}
	return nil, nil
}

func (r retried) text() string {
	text := quantity(r.Queued, "request is", "requests are") + " in the queue again\n"
	if r.Pending > 0 {
		text += quantity(r.Pending, "other was", "others were") + " there already\n"
	}
	if r.Unreadable > 0 {
		text += quantity(r.Unreadable, "other can not be read and stays where it is\n", "others can not be read and stay where they are\n")
	}
	return text
}
