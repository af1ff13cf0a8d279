package cmd

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
)

func newJobFailed(sys *system) *cobra.Command {
	var f listFlags
	c := &cobra.Command{
		Use:   "failed DIR",
		Short: "Lists the requests that a job has given up",
		Long: "Lists the requests that were given up after their retries, oldest first. A job\n" +
			"keeps them until they are put back or dropped.",
		Example:           "  crawl job failed crawls/q\n  crawl job failed crawls/q --json | jq -r .url",
		Args:              oneDir,
		ValidArgsFunction: completeDir,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			return look(args[0], func(view *jobs.View, c *scheduler.Contents) error { return listFailed(sys, &f, view, c.Failed) })
		},
	}
	f.add(c)
	return c
}

// A failedRow is a request that was given up.
type failedRow struct {
	Time     *time.Time `json:"time,omitempty"`
	Slot     string     `json:"slot"`
	Priority int        `json:"priority"`
	Error    string     `json:"error,omitempty"`
	requestRow
}

func (r *failedRow) cells() []string {
	return []string{timeText(r.Time), fmt.Sprint(r.Retries), r.Callback, r.Method, cmp.Or(r.URL, r.Problem), r.Error}
}

func listFailed(sys *system, f *listFlags, view *jobs.View, failed []scheduler.Queued) error {
	l := f.open(sys, "TIME", "RETRIES", "CALLBACK", "METHOD", "URL", "ERROR")
	for _, q := range failed {
		if l.full() {
			l.skip()
			continue
		}
		body, err := view.Read(q.Addr, nil)
		if err != nil {
			return fmt.Errorf("read a request that was given up: %w", err)
		}
		rec, err := scheduler.ReadFailed(body)
		if err != nil {
			return err
		}
		if err := l.add(&failedRow{known(rec.Time), q.Slot, q.Priority, rec.Error, showRequest(rec.Request)}); err != nil {
			return err
		}
	}
	return l.close()
}
