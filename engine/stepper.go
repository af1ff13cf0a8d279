package engine

import (
	"context"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/scheduler"
)

// stepper calls Frontier.Step beside the loop, one call at a time.
type stepper struct {
	requests chan stepRequest
	results  chan stepResult
}

type stepRequest struct {
	progress []scheduler.Progress
	done     []scheduler.Outcome
	acks     []chan error
	want     int
}

type stepResult struct {
	grant scheduler.Grant
	acks  []chan error
	err   error
}

func newStepper() *stepper {
	return &stepper{requests: make(chan stepRequest, 1), results: make(chan stepResult, 1)}
}

// run serves requests until the channel is closed.
func (s *stepper) run(ctx context.Context, f scheduler.Frontier) {
	for q := range s.requests {
		var g scheduler.Grant
		err := crawl.Guard(func() (err error) { // a queue or a scheduler may be a user's
			g, err = f.Step(ctx, q.progress, q.done, q.want)
			return err
		})
		s.results <- stepResult{grant: g, acks: q.acks, err: err}
	}
}
