package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
)

func TestStateOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		state  jobs.State
		reason string
		owned  bool
		want   string
	}{
		{jobs.StateNew, "", true, "running"},
		{jobs.StateResumed, "", true, "running"},
		{jobs.StateResumed, "shutdown", true, "in use"},
		{jobs.StateFinished, "finished", true, "in use"},
		{jobs.StateNew, "", false, "new"},
		{jobs.StateResumed, "", false, "interrupted"},
		{jobs.StateResumed, "shutdown", false, "stopped"},
		{jobs.StateResumed, "finished", false, "reopened"},
		{jobs.StateFinished, "finished", false, "finished"},
	} {
		if got := stateOf(tc.state, tc.reason, tc.owned); got != tc.want {
			t.Errorf("stateOf(%v, %q, %v) = %s, want %s", tc.state, tc.reason, tc.owned, got, tc.want)
		}
	}
}

// manySlots has one request in slot 0, two in slot 1 and so on.
func manySlots(n int) (all []scheduler.Queued) {
	for i := range n {
		for range i + 1 {
			all = append(all, scheduler.Queued{Slot: fmt.Sprint("slot", i)})
		}
	}
	return all
}

func TestStatusText(t *testing.T) {
	t.Parallel()
	pending := manySlots(12)
	soon := time.Now().Add(time.Hour)
	pending[0].NotBefore, pending[1].NotBefore, pending[2].NotBefore = soon.Add(time.Hour), soon, time.Unix(1, 0)
	pending[3].Start = true
	s := jobStatus{Directory: "x", Spider: "shop\x1b[2J", State: jobInterrupted, Start: startText(scheduler.StartPartial), Torn: 7, Failed: 1}
	s.count(pending)
	text := s.text()
	for _, want := range []string{
		"\nspider   shop [2J\n",
		"\nstart    in the middle\n",
		"\npending  78 requests in 12 slots, 1 of them of the start, 2 delayed, the first until " + soon.UTC().Format(time.RFC3339) + "\n",
		"\nfailed   1 request\n",
		"\ntorn     7 bytes at the end of the journal\n",
		"\n\nSLOT    PENDING\nslot11  12\nslot10  11\n",
		"\nslot2   3\n... and 2 smaller slots\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	var doc struct {
		Pending jobPending
		Largest []slotCount `json:"largest_slots"`
		Slots   int
	}
	b, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(b, &doc)
	}
	if err != nil || doc.Slots != 12 || len(doc.Largest) != 10 || doc.Pending.Delayed != 2 || !doc.Pending.Until.Equal(soon) {
		t.Errorf("the document is %s, error %v", b, err)
	}
}

// TestStatusProcess checks what is said of a process that is known or not.
func TestStatusProcess(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tc := range []struct {
		status jobStatus
		want   string
	}{
		{jobStatus{State: jobRunning, Process: &jobProcess{7, "h"}, Began: &at}, "running by process 7 on host h since 2026-01-02T03:04:05Z"},
		{jobStatus{State: jobRunning, Process: &jobProcess{}}, "running by another process"},
		{jobStatus{State: jobInUse, Process: &jobProcess{7, "h"}, Began: &at}, "in use by process 7 on host h"},
	} {
		if got := tc.status.stateText(); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}

// textRow is a row of one cell.
type textRow string

func (r textRow) cells() []string { return []string{string(r), "x"} }

// TestListBlocks checks that a list of any length keeps few of its rows in
// memory, and that nothing in a row breaks the table or reaches a terminal.
func TestListBlocks(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	l := (&listFlags{all: true}).to(&b, "TEXT", "X")
	for i := range 3 * tableBlock {
		if err := l.add(textRow(fmt.Sprint("row", i))); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(b.String(), "\n"); n < 2*tableBlock {
		t.Errorf("%d rows were written before the end, want all but a block", n)
	}
	if err := l.add(textRow("a\tb\nc\x1b[31md\u009be")); err != nil {
		t.Fatal(err)
	}
	if err := l.add(textRow("")); err != nil {
		t.Fatal(err)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	if want := "a b c [31md e  x\n-              x\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("got %q, want it to end in %q", b.String()[b.Len()-60:], want)
	}
	if n := strings.Count(b.String(), "\n"); n != 3*tableBlock+3 {
		t.Errorf("%d lines, want %d", n, 3*tableBlock+3)
	}
}

// TestJobReports checks how commands tell what they have done.
func TestJobReports(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ got, want string }{
		{retried{1, 2, 3}.text(), "1 request is in the queue again\n2 others were there already\n3 others can not be read and stay where they are\n"},
		{retried{0, 1, 1}.text(), "0 requests are in the queue again\n1 other was there already\n1 other can not be read and stays where it is\n"},
		{(&verified{Segments: 1, Records: 2}).text(), "1 segment and 2 records read, 0 problems\n"},
		{(&verified{2, 1, []string{"bad\x1b"}}).text(), "bad \n2 segments and 1 record read, 1 problem\n"},
		{(&repaired{Kept: 1}).text(), "there is nothing to repair; 1 request is queued\n"},
		{(&repaired{2, []string{"one"}, "old"}).text(), "one\nrequests that are lost stay seen: JOB_WHEN_FINISHED=fresh crawls everything anew\nrepaired; 2 requests are queued; the names of the old files end in old\n"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}
