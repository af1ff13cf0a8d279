package cmd

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
)

// queueFlags are the flags of `crawl job queue` as they were given.
type queueFlags struct {
	listFlags
	order, slot, callback string
	count                 bool
}

// The orders of a queue.
const (
	oldestFirst = "fifo"
	newestFirst = "lifo"
)

func newJobQueue(sys *system) *cobra.Command {
	var f queueFlags
	c := &cobra.Command{
		Use:   "queue DIR",
		Short: "Lists the pending requests of a job",
		Long: "Lists the pending requests in the order in which they came. That is not the\n" +
			"order in which they will go: this depends on their slots and priorities, and on\n" +
			"the queue that the settings of the next run name.",
		Example:           "  crawl job queue crawls/q --slot example.com --limit 100\n  crawl job queue crawls/q --json | jq -r .url",
		Args:              oneDir,
		ValidArgsFunction: completeDir,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(sys, c, args[0]) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.slot, "slot", "", "only requests of the slot `NAME`")
	flags.StringVar(&f.callback, "callback", "", "only requests for the callback `NAME`")
	flags.StringVar(&f.order, "order", oldestFirst, "`ORDER`: fifo, the oldest first, or lifo")
	flags.BoolVar(&f.count, "count", false, "only how many there are in each slot")
	f.add(c)
	completeFlag(c, "order", cobra.FixedCompletions([]cobra.Completion{oldestFirst, newestFirst}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (f *queueFlags) run(sys *system, c *cobra.Command, dir string) error {
	if err := f.check(c); err != nil {
		return err
	}
	if f.order != oldestFirst && f.order != newestFirst {
		return usageError{fmt.Errorf("--order %s: want fifo or lifo", f.order)}
	}
	return look(dir, func(view *jobs.View, c *scheduler.Contents) error {
		if f.count {
			return f.listSlots(sys, view, c.Pending)
		}
		return f.list(sys, view, c.Pending)
	})
}

// A queuedRow is a pending request.
type queuedRow struct {
	Slot      string     `json:"slot"`
	Priority  int        `json:"priority"`
	Start     bool       `json:"start,omitempty"`
	NotBefore *time.Time `json:"not_before,omitempty"`
	requestRow
}

// A requestRow is what is shown of any request.
type requestRow struct {
	Method   string `json:"method,omitempty"`
	URL      string `json:"url,omitempty"`
	Callback string `json:"callback,omitempty"`
	Errback  string `json:"errback,omitempty"`
	Depth    int    `json:"depth,omitempty"`
	Retries  int    `json:"retries,omitempty"`
	Problem  string `json:"problem,omitempty"` // why the rest is missing
}

// showRequest shows a stored request.
func showRequest(body []byte) requestRow {
	r, err := crawl.ReadStored(body)
	if err != nil {
		return requestRow{Problem: err.Error()}
	}
	return requestRow{
		Method: r.Method, URL: r.URL, Callback: cmp.Or(r.Callback, "Parse"), Errback: r.Errback,
		Depth: r.Trail.Depth, Retries: r.Trail.Retries,
	}
}

func (r *queuedRow) cells() []string {
	return []string{fmt.Sprint(r.Priority), r.Slot, timeText(r.NotBefore), r.Callback, r.Method, cmp.Or(r.URL, r.Problem)}
}

func (f *queueFlags) list(sys *system, view *jobs.View, pending []scheduler.Queued) error {
	if f.order == newestFirst {
		slices.Reverse(pending)
	}
	l := f.open(sys, "PRIORITY", "SLOT", "WAITS UNTIL", "CALLBACK", "METHOD", "URL")
	for _, q := range pending {
		if ok, err := f.matches(view, q); err != nil {
			return err
		} else if !ok {
			continue
		}
		if l.full() {
			l.skip()
			continue
		}
		r, err := readRow(view, q)
		if err != nil {
			return err
		}
		if err := l.add(r); err != nil {
			return err
		}
	}
	return l.close()
}

// matches reports whether the flags ask for a request. Its body is read only if
// they ask for a callback.
func (f *queueFlags) matches(view *jobs.View, q scheduler.Queued) (bool, error) {
	if f.slot != "" && q.Slot != f.slot {
		return false, nil
	}
	if f.callback == "" {
		return true, nil
	}
	r, err := readRow(view, q)
	return err == nil && r.Callback == f.callback, err
}

func readRow(view *jobs.View, q scheduler.Queued) (*queuedRow, error) {
	body, err := view.Read(q.Addr, nil)
	if err != nil {
		return nil, fmt.Errorf("read a request: %w", err)
	}
	return &queuedRow{q.Slot, q.Priority, q.Start, known(q.NotBefore), showRequest(body)}, nil
}

// listSlots lists how many requests there are in each slot, the largest first.
func (f *queueFlags) listSlots(sys *system, view *jobs.View, pending []scheduler.Queued) error {
	var asked []scheduler.Queued
	for _, q := range pending {
		ok, err := f.matches(view, q)
		if err != nil {
			return err
		}
		if ok {
			asked = append(asked, q)
		}
	}
	l := f.open(sys, "SLOT", "PENDING")
	for _, s := range countSlots(asked) {
		if err := l.add(s); err != nil {
			return err
		}
	}
	return l.close()
}

// A slotCount is how many requests wait in a slot.
type slotCount struct {
	Slot     string `json:"slot"`
	Requests int    `json:"requests"`
}

func (s slotCount) cells() []string { return []string{s.Slot, fmt.Sprint(s.Requests)} }

// countSlots counts requests by slot, the largest first.
func countSlots(pending []scheduler.Queued) []slotCount {
	counts := map[string]int{}
	for i := range pending {
		counts[pending[i].Slot]++
	}
	all := make([]slotCount, 0, len(counts))
	for name, n := range counts {
		all = append(all, slotCount{name, n})
	}
	slices.SortFunc(all, func(a, b slotCount) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Slot, b.Slot))
	})
	return all
}
