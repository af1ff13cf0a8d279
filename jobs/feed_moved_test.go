package jobs_test

import (
	"strings"
	"testing"

	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
)

// A killed job that was moved with its feed goes on with it: the torn bytes are
// cut, nothing is there twice.
func TestFeedMoved(t *testing.T) {
	t.Parallel()
	fsys := faultfs.New()
	j, _, _ := feedRun(t, fsys, false, "one\n", "two\n")
	killed := fsys.Kill()
	mustClose(t, j, jobs.End{})
	sink := &fileSink{fs: killed, name: feedPath}
	if err := sink.Append([]byte("to")); err != nil {
		t.Fatal(err)
	}
	for run := range 2 {
		next := mustOpen(t, killed, manual(0))
		r := mustRecover(t, next, []jobs.Feed{{Name: "/elsewhere/items", Sink: sink}}, nil)
		if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "goes on as what was items") {
			t.Errorf("run %d: warnings %q", run, r.Warnings)
		}
		tx := next.Begin()
		tx.Feed(0, []byte("more\n"))
		mustCommit(t, tx)
		mustClose(t, next, jobs.End{Reason: "shutdown"})
	}
	if got := content(t, killed, feedPath); got != "one\ntwo\nmore\nmore\n" {
		t.Errorf("the feed holds %q", got)
	}
}
