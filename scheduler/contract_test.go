package scheduler_test

import (
	"testing"

	"github.com/skeincrawl/skein/scheduler/schedulertest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	for name, open := range stores() {
		for _, queue := range []string{"downloader-aware", "priority"} {
			t.Run(name+"/"+queue, func(t *testing.T) {
				t.Parallel()
				schedulertest.Contract(t, open, "SCHEDULER_PRIORITY_QUEUE="+queue)
			})
		}
	}
}
