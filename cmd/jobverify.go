package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skeincrawl/skein/jobs"
)

func newJobVerify(sys *system) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "verify DIR",
		Short: "Reads all of a job and checks it, also while it runs",
		Long: "Reads every record of a job and checks it. The exit code is 3 if there are\n" +
			"problems, each of which is shown with its file and offset.",
		Example:           "  crawl job verify crawls/q",
		Args:              oneDir,
		ValidArgsFunction: completeDir,
		RunE:              func(_ *cobra.Command, args []string) error { return verify(sys, args[0], asJSON) },
	}
	addJSON(c, &asJSON)
	return c
}

// A verified document tells what was checked.
type verified struct {
	Segments int      `json:"segments"`
	Records  int      `json:"records"`
	Problems []string `json:"problems"`
}

func verify(sys *system, dir string, asJSON bool) error {
	found, err := jobs.Verify(jobs.OS(), dir)
	if err != nil {
		return err
	}
	v := verified{Segments: found.Segments, Records: found.Records, Problems: []string{}}
	for _, p := range found.Problems {
		v.Problems = append(v.Problems, p.Error())
	}
	if err := answer(sys, asJSON, v, v.text()); err != nil {
		return err
	}
	n := len(v.Problems)
	if n == 1 && strings.Contains(v.Problems[0], "job.json") {
		return jobError{fmt.Errorf("job directory %s can only be repaired by hand: see docs/job-directory.md", dir)}
	}
	if n > 0 {
		return jobError{fmt.Errorf("job directory %s has %s: crawl job repair %[1]s keeps what is whole", dir, quantity(n, "problem", "problems"))}
	}
	return nil
}

func (v *verified) text() string {
	var b strings.Builder
	for _, p := range v.Problems {
		b.WriteString(plain(p) + "\n")
	}
	fmt.Fprintf(&b, "%s and %s read, %s\n",
		quantity(v.Segments, "segment", "segments"), quantity(v.Records, "record", "records"), quantity(len(v.Problems), "problem", "problems"))
	return b.String()
}
