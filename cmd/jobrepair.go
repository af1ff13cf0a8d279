package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skeincrawl/skein/jobs"
)

func newJobRepair(sys *system) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "repair DIR",
		Short: "Makes a damaged job usable again",
		Long: "Writes what is whole of a damaged job anew, tells what is lost, and keeps the\n" +
			"old files beside it. It changes nothing in a job that has no damage.",
		Example:           "  crawl job repair crawls/q",
		Args:              oneDir,
		ValidArgsFunction: completeDir,
		RunE:              func(_ *cobra.Command, args []string) error { return repair(sys, args[0], asJSON) },
	}
	addJSON(c, &asJSON)
	return c
}

// A repaired document tells what was saved.
type repaired struct {
	Kept   int      `json:"kept"`
	Lost   []string `json:"lost"`
	Backup string   `json:"backup,omitempty"`
}

func repair(sys *system, dir string, asJSON bool) error {
	done, err := jobs.Repair(jobs.OS(), dir)
	if err != nil {
		return err
	}
	v := repaired{done.Kept, append([]string{}, done.Lost...), done.Backup}
	return answer(sys, asJSON, v, v.text())
}

func (r *repaired) text() string {
	if r.Backup == "" {
		return fmt.Sprintf("there is nothing to repair; %s\n", quantity(r.Kept, "request is queued", "requests are queued"))
	}
	var b strings.Builder
	for _, l := range r.Lost {
		b.WriteString(plain(l) + "\n")
	}
	if len(r.Lost) > 0 {
		b.WriteString("requests that are lost stay seen: JOB_WHEN_FINISHED=fresh crawls everything anew\n")
	}
	fmt.Fprintf(&b, "repaired; %s; the names of the old files end in %s\n", quantity(r.Kept, "request is queued", "requests are queued"), r.Backup)
	return b.String()
}
