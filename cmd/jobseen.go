package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
)

// seenFlags are the flags of `crawl job seen` as they were given.
type seenFlags struct {
	requestFlags
	json bool
}

func newJobSeen(sys *system) *cobra.Command {
	var f seenFlags
	c := &cobra.Command{
		Use:   "seen DIR [URL...]",
		Short: "Tells whether the duplicate filter of a job knows URLs",
		Long: "Tells for each URL whether a request to it would be taken for a duplicate;\n" +
			"without URLs, how many fingerprints there are. The exit code is 0 if all URLs\n" +
			"are known and 1 if one is not.",
		Example:           "  crawl job seen crawls/q https://example.com/page\n  crawl job seen crawls/q --method POST --body form https://example.com/search",
		Args:              someDir,
		ValidArgsFunction: completeDir,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return f.countSeen(sys, args[0])
			}
			return f.run(sys, args[0], args[1:])
		},
	}
	f.add(c)
	c.Flags().BoolVar(&f.json, "json", false, "as lines of JSON")
	return c
}

func (f *seenFlags) countSeen(sys *system, dir string) error {
	if f.given() {
		return usageError{fmt.Errorf("--method and --body say what to ask for at a URL, and none was given")}
	}
	return look(dir, func(_ *jobs.View, c *scheduler.Contents) error {
		v := struct {
			Seen int `json:"seen"`
		}{c.Seen()}
		return answer(sys, f.json, v, fmt.Sprintln(v.Seen))
	})
}

// A seenRow is what the filter knows of one request.
type seenRow struct {
	Seen        bool   `json:"seen"`
	Method      string `json:"method"`
	URL         string `json:"url"`
	Fingerprint string `json:"fingerprint"`
}

func (r *seenRow) cells() []string {
	seen := "no"
	if r.Seen {
		seen = "yes"
	}
	return []string{seen, r.Method, r.URL}
}

func (f *seenFlags) run(sys *system, dir string, urls []string) error {
	rows, fingerprints, err := f.fingerprints(urls)
	if err != nil {
		return err
	}
	all := true
	err = look(dir, func(view *jobs.View, c *scheduler.Contents) error {
		if err := scheduler.CheckFingerprints(view.Identity()); err != nil {
			return jobError{err}
		}
		l := (&listFlags{json: f.json, all: true}).open(sys, "SEEN", "METHOD", "URL")
		for i := range rows {
			rows[i].Seen = c.Has(fingerprints[i])
			all = all && rows[i].Seen
			if err := l.add(&rows[i]); err != nil {
				return err
			}
		}
		return l.close()
	})
	if err == nil && !all {
		return noError{}
	}
	return err
}

// fingerprints returns the rows without their answers.
func (f *seenFlags) fingerprints(urls []string) ([]seenRow, []scheduler.Fingerprint, error) {
	body, err := f.body()
	if err != nil {
		return nil, nil, err
	}
	method := strings.ToUpper(f.method)
	if method == "" {
		method = "GET"
	}
	var rows []seenRow
	var all []scheduler.Fingerprint
	for _, url := range urls {
		fp, err := scheduler.FingerprintURL(method, url, body)
		if err != nil {
			return nil, nil, usageError{err}
		}
		rows, all = append(rows, seenRow{Method: method, URL: url, Fingerprint: fp.String()}), append(all, fp)
	}
	return rows, all, nil
}
