package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skeincrawl/skein/scheduler"
)

// dropFlags are the flags of `crawl job drop` as they were given.
type dropFlags struct {
	requestFlags
	slot         string
	failed, json bool
}

func newJobDrop(sys *system) *cobra.Command {
	var f dropFlags
	c := &cobra.Command{
		Use:   "drop DIR [URL...]",
		Short: "Takes requests out of a job",
		Long: "Forgets URLs: they leave the queue, the failed requests and the duplicate\n" +
			"filter, so that they are crawled when they are found again. A URL means every\n" +
			"request to it unless --method or --body say more; of those that are over, only\n" +
			"the GET is known by its URL. What --slot and --failed drop stays in the filter.",
		Example:           "  crawl job drop crawls/q https://example.com/page\n  crawl job drop crawls/q --slot example.com",
		Args:              someDir,
		ValidArgsFunction: completeDir,
		RunE:              func(_ *cobra.Command, args []string) error { return f.run(sys, args[0], args[1:]) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.slot, "slot", "", "all that is queued for the slot `NAME`")
	flags.BoolVar(&f.failed, "failed", false, "all requests that were given up")
	f.add(c)
	addJSON(c, &f.json)
	return c
}

// A dropped document tells what is gone.
type dropped struct {
	Queued int `json:"queued"`
	Failed int `json:"failed"`
	Seen   int `json:"seen"`
}

func (f *dropFlags) run(sys *system, dir string, urls []string) error {
	if len(urls) == 0 && f.given() {
		return usageError{errors.New("--method and --body say which requests to a URL, and none was given")}
	}
	if len(urls) == 0 && f.slot == "" && !f.failed {
		return usageError{errors.New("drop what? Give URLs, --slot NAME or --failed")}
	}
	which, err := f.selection(urls)
	if err != nil {
		return err
	}
	return edit(sys, dir, func(e *scheduler.Editor) error {
		done, err := f.drop(e, which)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("dropped %s, %d failed, and %s of the duplicate filter\n",
			quantity(done.Queued, "queued request", "queued requests"), done.Failed, quantity(done.Seen, "fingerprint", "fingerprints"))
		return answer(sys, f.json, done, text)
	})
}

func (f *dropFlags) drop(e *scheduler.Editor, which *scheduler.Selection) (all dropped, err error) {
	if !which.Empty() {
		if err := scheduler.CheckFingerprints(e.Identity()); err != nil {
			return all, jobError{err}
		}
		d, err := e.Drop(which)
		if err != nil {
			return all, err
		}
		all = dropped{d.Queued, d.Failed, d.Seen}
	}
	n := 0
	if f.slot != "" {
		if n, err = e.DropSlot(f.slot); err != nil {
			return all, err
		}
		all.Queued += n
	}
	if f.failed {
		if n, err = e.DropFailed(); err != nil {
			return all, err
		}
		all.Failed += n
	}
	return all, nil
}
