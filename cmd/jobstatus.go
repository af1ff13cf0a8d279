package cmd

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
)

func newJobStatus(sys *system) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "status DIR",
		Short: "Shows what state a job is in, also while it runs",
		Long: "Shows whose job it is, whether it runs, was stopped, died or is finished, and\n" +
			"what it holds. Pending requests are those that wait and, while a crawl goes on,\n" +
			"those in progress.",
		Example:           "  crawl job status crawls/q\n  crawl job status crawls/q --json | jq .pending.requests",
		Args:              oneDir,
		ValidArgsFunction: completeDir,
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := readStatus(args[0])
			if err != nil {
				return err
			}
			return answer(sys, asJSON, s, s.text())
		},
	}
	addJSON(c, &asJSON)
	return c
}

// A jobStatus is what is known of a job as a whole.
type jobStatus struct {
	Directory string            `json:"directory"`
	Spider    string            `json:"spider"`
	Arguments map[string]string `json:"arguments,omitempty"`
	State     string            `json:"state"`
	Process   *jobProcess       `json:"process,omitempty"`
	Reason    string            `json:"reason,omitempty"` // of the last end
	Created   time.Time         `json:"created"`
	Runs      int               `json:"runs"`
	Began     *time.Time        `json:"began,omitempty"` // the last run
	Round     uint64            `json:"round"`
	Start     string            `json:"start"`
	Pending   jobPending        `json:"pending"`
	Slots     int               `json:"slots"`
	Largest   []slotCount       `json:"largest_slots,omitempty"`
	Failed    int               `json:"failed"`
	Seen      int               `json:"seen"`
	Feeds     []jobFeed         `json:"feeds,omitempty"`
	Totals    map[string]int64  `json:"totals,omitempty"` // counters of all runs
	Files     int               `json:"files"`
	Bytes     int64             `json:"bytes"`
	Torn      int64             `json:"torn_bytes"`
}

type jobProcess struct {
	PID  int    `json:"pid"`
	Host string `json:"host"`
}

type jobPending struct {
	Requests int        `json:"requests"`
	Start    int        `json:"start"`   // of them wait among the start requests
	Delayed  int        `json:"delayed"` // of them wait for their time
	Until    *time.Time `json:"delayed_until,omitempty"`
}

type jobFeed struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// The states of a job as they are shown.
const (
	jobNew         = "new"
	jobRunning     = "running"
	jobInUse       = "in use" // by a command that changes it
	jobStopped     = "stopped"
	jobInterrupted = "interrupted" // the last run did not come to its end
	jobReopened    = "reopened"    // it was finished, and requests were put back
	jobFinished    = "finished"
)

// readStatus looks twice at a job that seems to be dead: its process may have
// ended between the look at the job and that at its lock.
func readStatus(dir string) (jobStatus, error) {
	s, err := lookStatus(dir)
	if err == nil && s.State == jobInterrupted {
		return lookStatus(dir)
	}
	return s, err
}

func lookStatus(dir string) (jobStatus, error) {
	var s jobStatus
	err := look(dir, func(view *jobs.View, c *scheduler.Contents) error {
		id, info := view.Identity(), view.Info()
		s = jobStatus{
			Directory: dir, Spider: id.Spider, Arguments: shownArgs(id.Args), Reason: info.Reason, Created: info.Created.UTC(), Runs: info.Runs,
			Began: known(c.Began), Round: view.Round(), Start: startText(c.Start), Failed: len(c.Failed), Seen: c.Seen(),
			Torn: view.Torn(),
		}
		owner := jobs.Owner(jobs.OS(), dir)
		if owner != nil {
			s.Process = &jobProcess{owner.PID, owner.Host}
		}
		s.State = stateOf(view.State(), info.Reason, owner != nil)
		s.count(c.Pending)
		for _, f := range view.Feeds() {
			s.Feeds = append(s.Feeds, jobFeed{f.Name, f.Length})
		}
		var err error
		if s.Totals, err = engine.JobTotals(c.Notes); err != nil {
			return err
		}
		s.Files, s.Bytes, err = view.Usage()
		return err
	})
	return s, err
}

// shownArgs hides what secrets became.
func shownArgs(args map[string]string) map[string]string {
	shown := maps.Clone(args)
	for name, value := range shown {
		if strings.HasPrefix(value, jobs.SecretPrefix) {
			shown[name] = "***"
		}
	}
	return shown
}

func stateOf(state jobs.State, reason string, owned bool) string {
	switch {
	case owned && reason == "":
		return jobRunning
	case owned:
		return jobInUse
	case state == jobs.StateFinished:
		return jobFinished
	case state == jobs.StateNew:
		return jobNew
	case reason == "":
		return jobInterrupted
	case reason == "finished":
		return jobReopened
	}
	return jobStopped
}

func startText(s scheduler.StartState) string {
	switch s {
	case scheduler.StartPartial:
		return "in the middle"
	case scheduler.StartDone:
		return "ended"
	}
	return "not begun"
}

// maxSlots is how many slots are shown.
const maxSlots = 10

func (s *jobStatus) count(pending []scheduler.Queued) {
	now := time.Now()
	s.Pending.Requests = len(pending)
	for i := range pending {
		q := &pending[i]
		if q.Start {
			s.Pending.Start++
		}
		if !q.NotBefore.After(now) {
			continue
		}
		s.Pending.Delayed++
		if s.Pending.Until == nil || q.NotBefore.Before(*s.Pending.Until) {
			s.Pending.Until = known(q.NotBefore)
		}
	}
	slots := countSlots(pending)
	s.Slots = len(slots)
	s.Largest = slots[:min(len(slots), maxSlots)]
}

// text is the status for people.
func (s *jobStatus) text() string {
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(t, "%s\t%s\n", name, plain(fmt.Sprintf(format, args...))) // to memory
	}
	line("job", "%s", s.Directory)
	line("spider", "%s", s.Spider)
	for _, name := range slices.Sorted(maps.Keys(s.Arguments)) {
		line("argument", "%s=%s", name, s.Arguments[name])
	}
	line("state", "%s", s.stateText())
	line("created", "%s", timeText(&s.Created))
	line("runs", "%s", s.runsText())
	line("round", "%d", s.Round)
	line("start", "%s", s.Start)
	line("pending", "%s", s.pendingText())
	line("failed", "%s", quantity(s.Failed, "request", "requests"))
	line("seen", "%s", quantity(s.Seen, "fingerprint", "fingerprints"))
	line("crawled", "%s, %s", quantity(int(s.Totals["response_received_count"]), "page", "pages"),
		quantity(int(s.Totals["item_scraped_count"]), "item", "items"))
	for _, f := range s.Feeds {
		line("feed", "%s, %d bytes", f.Name, f.Bytes)
	}
	line("files", "%d, %d bytes", s.Files, s.Bytes)
	if s.Torn > 0 {
		line("torn", "%d bytes at the end of the journal", s.Torn)
	}
	_ = t.Flush() // to memory
	s.writeSlots(&b)
	return b.String()
}

func (s *jobStatus) stateText() string {
	by := "by another process"
	if s.Process != nil && s.Process.PID != 0 {
		by = fmt.Sprintf("by process %d on host %s", s.Process.PID, s.Process.Host)
	}
	switch s.State {
	case jobRunning:
		if s.Began != nil {
			by += " since " + timeText(s.Began)
		}
		return s.State + " " + by
	case jobInUse:
		return s.State + " " + by
	case jobStopped:
		return fmt.Sprintf("%s (%s)", s.State, s.Reason)
	case jobInterrupted:
		return s.State + ": the last run ended without closing the job"
	case jobReopened:
		return s.State + ": the last run finished, and requests were put back"
	}
	return s.State
}

func (s *jobStatus) runsText() string {
	if s.Began == nil {
		return fmt.Sprint(s.Runs)
	}
	return fmt.Sprintf("%d, the last began %s", s.Runs, timeText(s.Began))
}

func (s *jobStatus) pendingText() string {
	text := fmt.Sprintf("%s in %s", quantity(s.Pending.Requests, "request", "requests"), quantity(s.Slots, "slot", "slots"))
	if s.Pending.Start > 0 {
		text += fmt.Sprintf(", %d of them of the start", s.Pending.Start)
	}
	if s.Pending.Delayed > 0 {
		text += fmt.Sprintf(", %d delayed, the first until %s", s.Pending.Delayed, timeText(s.Pending.Until))
	}
	return text
}

func (s *jobStatus) writeSlots(b *bytes.Buffer) {
	if s.Slots == 0 {
		return
	}
	b.WriteString("\n")
	l := (&listFlags{all: true}).to(b, "SLOT", "PENDING")
	for _, slot := range s.Largest {
		_ = l.add(slot) // to memory
	}
	_ = l.close()
	if more := s.Slots - len(s.Largest); more > 0 {
		fmt.Fprintf(b, "... and %s\n", quantity(more, "smaller slot", "smaller slots"))
	}
}
